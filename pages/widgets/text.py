"""What screens hand out: text of strangers letter for letter, tables that fit the screen, downloads."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePath

import streamlit as st

from ppsets_core.files import Refused
from ppsets_core.files.names import visible

_INVISIBLE = "\u2060"  # word joiner: breaks what Markdown would read into a word, and is not seen
_TYPES = {".csv": "text/csv", ".html": "text/html", ".json": "application/json", ".zip": "application/zip"}
_ICONS = {".html": ":material/description:", ".zip": ":material/folder_zip:"}


def as_text(text: str) -> str:
    """Escaped so that nothing in it becomes markup, a link, an emoji, a colour or a formula.

    >>> as_text("*x* <b>")
    '\\\\*x\\\\* \\\\<b\\\\>'
    """
    plain = visible(" ".join(text.split()))
    apart = re.sub(r"[-<>=!~](?=[-<>=])", lambda match: match.group() + _INVISIBLE, plain)  # -> would become an arrow
    escaped = re.sub(r"([\\`*_{}\[\]()<>#+.!|~$&^=-])", r"\\\1", apart)
    return re.sub(r":(?=\S)|(?<=www)(?=\\\.)|(?=@)", lambda match: match.group() + _INVISIBLE, escaped)


def columns_with_values(rows: Sequence[Mapping[str, object]], besides: Collection[str] = ()) -> list[str]:
    """The columns to show: those in which some row says something, without those that only a download needs.

    >>> columns_with_values([{"file": "a", "note": "", "m": 1}, {"file": "b", "note": "", "m": 2}], besides=["m"])
    ['file']
    """
    names = list(rows[0]) if rows else []
    return [name for name in names if name not in besides and any(row[name] not in ("", None) for row in rows)]


def show_refused(refused: tuple[Refused, ...]) -> None:
    """Every file that was left out, with its reason; names as text."""
    if refused:
        count = "1 file was" if len(refused) == 1 else f"{len(refused):,} files were"
        with st.expander(f"{count} left out, and why"):
            rows = [{"file": one.name, "reason": one.reason} for one in refused]
            st.dataframe(rows, hide_index=True, alt="Files left out, with the reason for each")


def offer_download(
    label: str, data: str | bytes | Callable[[], str | bytes], name: str, key: str, help: str | None = None
) -> None:
    """A button that hands out a file and leaves the screen as it is; a callable is called only when it is pressed."""
    ending = PurePath(name).suffix
    st.download_button(
        label,
        data,
        name,
        _TYPES.get(ending, "application/octet-stream"),
        key=key,
        help=help,
        on_click="ignore",
        icon=_ICONS.get(ending, ":material/download:"),
    )
