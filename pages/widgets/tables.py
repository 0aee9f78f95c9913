"""Tables that fit the screen."""

from collections.abc import Collection, Mapping, Sequence


def columns_told(rows: Sequence[Mapping[str, object]], besides: Collection[str] = ()) -> list[str]:
    """The columns to show: those in which some row says something, without those that only a download needs.

    >>> columns_told([{"file": "a", "note": "", "m": 1}, {"file": "b", "note": "", "m": 2}], besides=["m"])
    ['file']
    """
    names = list(rows[0]) if rows else []
    return [name for name in names if name not in besides and any(row[name] not in ("", None) for row in rows)]
