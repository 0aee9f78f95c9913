"""The viewer: the queue of cards at full resolution, one X-ray after the other, with the review beside it."""

import json
from dataclasses import replace
from pathlib import Path
from struct import pack

import numpy as np
import streamlit as st

from pages.widgets.diagnose.source import Examined
from pages.widgets.diagnose.summary import show_cautions
from pages.widgets.guard import guarded
from pages.widgets.set_bars import LEGEND, STYLE, set_bars
from pages.widgets.text import as_text
from ppsets_core import FileError
from ppsets_core.diagnose.review import VERDICTS
from ppsets_core.diagnose.set_table import SetRow, SetTable
from ppsets_core.wording import scope
from ppsets_core.xrays import read_picture
from ppsets_core.xrays.shades import Shades, read_shades

OTHER = "something else"
MOST_LETTERS = 1000
_LOOKING = "diagnose_looking_at"
_HERE = Path(__file__).parent
# On a narrow window the set comes before the picture, what is chosen for it after.
NARROW = """<style>@media (max-width: 640px) {
[role=dialog] [data-testid=stColumn]:has(.st-key-viewer_set),
[role=dialog] [data-testid=stColumn]:has(.st-key-viewer_set) > [data-testid=stVerticalBlock] { display: contents }
[role=dialog] :has(> .st-key-viewer_set) { order: -1 }
}</style>"""


def look_at(batch: str, number: int) -> None:
    """Open the viewer on this X-ray, in the run after this one."""
    st.session_state[_LOOKING] = (batch, number)


def show_viewer(sets: SetTable, queue: list[int], examined: Examined) -> None:
    """The viewer, if one of these X-rays is being looked at."""
    batch, number = st.session_state.get(_LOOKING, (None, None))
    if batch == examined.id and number in queue:
        _dialog(sets, queue, examined)


def _close() -> None:
    st.session_state.pop(_LOOKING, None)


@st.dialog("Viewer", width="large", icon=":material/zoom_in:", on_dismiss=_close)
@guarded()
def _dialog(sets: SetTable, queue: list[int], examined: Examined) -> None:
    _, number = st.session_state[_LOOKING]
    place, row = queue.index(number), sets[number]
    left, right = st.columns([7, 3])
    with right:
        with st.container(key="viewer_set", gap="xsmall"):
            _show_set(row)
        heat = _choose_heat(row, examined)
        _choose_mark(row, examined)
    with left:
        shades, sentence = _shades(row, examined)
        asked = _draw(shades, heat, name=f"{examined.id}-{number}", place=place, total=len(queue))
        if sentence:
            st.caption(sentence)
    if asked is not None:
        look_at(examined.id, queue[asked])
        st.rerun(scope="fragment")


def _show_set(row: SetRow) -> None:
    """What the card says, and what that means."""
    st.markdown(f"**{as_text(row.name)}**")
    show_cautions(row, fully=True)
    if row.doubt:
        st.warning(as_text(row.doubt))
    bars = set_bars(row.classes, row.shares, list(row.cutoffs.values()), muted=bool(row.is_unfamiliar))
    st.html(STYLE + NARROW + bars)
    promise = "" if row.is_unfamiliar or row.doubt else f" {row.words} {scope(row.table.calibration)}"
    st.caption(as_text(LEGEND + promise))


def _choose_heat(row: SetRow, examined: Examined) -> np.ndarray | None:
    """Where the network looked for a class, on the small picture; None where that is not asked for."""
    number = st.pills(
        "Where the model looked",
        range(-1, len(row.classes)),
        default=-1,
        required=True,
        key=f"heat-{examined.id}",
        wrap=True,
        format_func=lambda place: "Off" if place < 0 else as_text(row.classes[place]),
    )
    if number < 0:
        return None
    from ppsets_core.model.prediction import heat_map

    heat = heat_map(examined.model, read_picture(row.thumbnail, row.name), number)
    if not heat.any():
        st.caption("Nothing here speaks for this class.")
        return None
    st.caption("Red speaks most for the class. It shows what the network used, not where disease is.")
    return heat


def _shades(row: SetRow, examined: Examined) -> tuple[Shades, str]:
    """At full resolution where the file is at hand; else the small picture, and why."""
    why = examined.why_small
    if examined.folder is not None:
        try:
            return read_shades(examined.folder.original(row.name), row.name), ""
        except FileError:
            why = "The file cannot be read again, so this is the small picture that was kept of it."
    return read_shades(row.thumbnail, row.name), why


def _choose_mark(row: SetRow, examined: Examined) -> None:
    """Seen, agree or another diagnosis, and a note. Every change is kept at once."""
    mark = examined.marks.of(row)
    key = f"{examined.id}-{row.number}-{len(row.members)}"
    verdict = st.segmented_control(
        "Your review",
        list(VERDICTS),
        default=mark.verdict or None,
        format_func=VERDICTS.__getitem__,
        key=f"verdict-{key}",
        wrap=True,
    )
    mark = replace(mark, verdict=verdict or "")
    if verdict == "another":
        classes = examined.xrays.records.classes  # as exports write them
        names, shown = [*classes, OTHER], dict(zip(classes, row.classes, strict=True)) | {OTHER: OTHER}
        place = names.index(mark.diagnosis) if mark.diagnosis in names else None
        chosen = st.selectbox(
            "Which", names, place, shown.__getitem__, key=f"diagnosis-{key}", placeholder="Choose a diagnosis"
        )
        mark = replace(mark, diagnosis=chosen or "")
    note = st.text_area("Note", mark.note, max_chars=MOST_LETTERS, height=80, key=f"note-{key}")
    examined.marks.put(row, replace(mark, note=note or ""))


def _draw(shades: Shades, heat: np.ndarray | None, *, name: str, place: int, total: int) -> int | None:
    """Show one X-ray of a queue. Says which place of the queue is asked for, None where none is."""
    html, css, js = (_HERE.joinpath(f"viewer.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    mount = st.components.v2.component("ppsets_viewer", html=html, css=css, js=js)
    asked = mount(key="xray_viewer", data=_packed(shades, heat, name, place, total), on_place_change=lambda: None).place
    return asked if isinstance(asked, int) and 0 <= asked < total and asked != place else None


def _packed(shades: Shades, heat: np.ndarray | None, name: str, place: int, total: int) -> bytes:
    """As viewer.js unpacks it: the length of a JSON text, that text, the values, the heat in 256 steps."""
    rows, columns = shades.values.shape
    ends = [shades.first, shades.first + shades.step * float(shades.values.max())]
    told = {
        "id": name,
        "place": place,
        "total": total,
        "rows": rows,
        "columns": columns,
        "bytes": shades.values.itemsize,
        "low": min(ends),
        "high": max(ends),
        "framed": list(shades.framed),
        **{field: getattr(shades, field) for field in ("first", "step", "centre", "width", "inverted", "windowed")},
    }
    if heat is not None:
        told |= {"heat_rows": heat.shape[0], "heat_columns": heat.shape[1]}
    text = json.dumps(told).encode("ascii")
    warm = b"" if heat is None else np.rint(heat * 255).astype(np.uint8).tobytes()
    values = np.ascontiguousarray(shades.values).astype(shades.values.dtype.newbyteorder("<"))
    return pack("<I", len(text)) + text + values.tobytes() + warm
