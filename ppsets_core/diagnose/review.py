"""A person's review of the sets, exported with them."""

from dataclasses import dataclass

from ppsets_core.diagnose.set_table import SetRow
from ppsets_core.wording import class_names

VERDICTS = {"seen": "Seen", "agree": "Agree", "another": "Another diagnosis"}


@dataclass(frozen=True)
class Mark:
    """One X-ray's review: a verdict of VERDICTS or '', the reader's own diagnosis where it is another, and a note."""

    verdict: str = ""
    diagnosis: str = ""
    note: str = ""

    @property
    def words(self) -> str:
        """In a few words; '' where nothing is said."""
        named = f": {class_names([self.diagnosis])[0]}" if self.verdict == "another" and self.diagnosis else ""
        return VERDICTS[self.verdict] + named if self.verdict else "Note" if self.note else ""


class Marks:
    """The marks of one batch. A mark is of an X-ray and its set: where another calibration gives another set, it does
    not stand for that one, and stands again when the set does."""

    def __init__(self) -> None:
        self._given: dict[tuple[int, bytes], Mark] = {}

    def of(self, row: SetRow) -> Mark:
        return self._given.get(_key(row), Mark())

    def put(self, row: SetRow, mark: Mark) -> None:
        self._given[_key(row)] = mark

    def columns(self, row: SetRow) -> dict[str, object]:
        """The mark as the columns that every export adds to a row."""
        mark = self.of(row)
        named = mark.diagnosis if mark.verdict == "another" else ""
        return {"review": VERDICTS.get(mark.verdict, ""), "reviewer's diagnosis": named, "reviewer's note": mark.note}


def _key(row: SetRow) -> tuple[int, bytes]:
    return row.number, row.table.members[row.number].tobytes()
