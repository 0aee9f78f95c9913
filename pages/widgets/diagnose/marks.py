"""Review marks on the screen: kept for the browser session, in memory only."""

from dataclasses import replace

import streamlit as st

from ppsets_core.diagnose import Answer
from ppsets_core.diagnose.review import VERDICTS, Marks

OTHER = "something else"
MOST_LETTERS = 1000
_MARKS = "diagnose_marks"


def marks_of(batch: str) -> Marks:
    """The session's marks of one batch; those of an earlier batch go when another is looked at."""
    kept: tuple[str, Marks] | None = st.session_state.get(_MARKS)
    if kept is None or kept[0] != batch:
        kept = st.session_state[_MARKS] = (batch, Marks())
    return kept[1]


def choose_mark(answer: Answer, batch: str) -> None:
    """Seen, agree or another diagnosis, and a note. Every change is kept at once."""
    marks = marks_of(batch)
    mark = marks.of(answer)
    key = f"{batch}-{answer.number}-{len(answer.members)}"
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
        names = [*answer.classes, OTHER]
        place = names.index(mark.diagnosis) if mark.diagnosis in names else None
        chosen = st.selectbox("Which", names, place, key=f"diagnosis-{key}", placeholder="Choose a diagnosis")
        mark = replace(mark, diagnosis=chosen or "")
    note = st.text_area("Note", mark.note, max_chars=MOST_LETTERS, height=80, key=f"note-{key}")
    marks.put(answer, replace(mark, note=note or ""))
