"""All answers: counts, filter, order, cards in pages, and a table to take away."""

from math import ceil

import streamlit as st

from pages.widgets.diagnose.card import show_card
from pages.widgets.diagnose.check import show_check
from pages.widgets.diagnose.exports import show_exports
from pages.widgets.diagnose.familiar import show_alarm
from pages.widgets.diagnose.marks import marks_of
from pages.widgets.diagnose.source import Examined
from pages.widgets.diagnose.viewer.dialog import show_viewer
from pages.widgets.guard import guarded
from pages.widgets.text import columns_with_values, show_refused
from ppsets_core.diagnose import Answer, alarm_of, answers_of, counts, select
from ppsets_core.diagnose.answers import ORDERS
from ppsets_core.diagnose.checking import not_checked, records_of_answers
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.diagnose.table import rows_of
from ppsets_core.method.calibration import Drawn
from ppsets_core.method.check import check_records
from ppsets_core.wording import scope

A_PAGE, A_ROW = 12, 3
UNKNOWN = "another one"
STYLE = "<style>img.xray { display: block; width: 100%; height: 15rem; object-fit: contain; background: #000; }</style>"
FILTERS = {"All": None, "One": "one", "Several": "several", "None": "none", "Flagged": "flagged"}


def show_results(examined: Examined, calibration: Drawn) -> None:
    group = _choose_group(calibration)
    if calibration.group_names and group is None:
        return
    answers = answers_of(examined.findings, calibration, group)
    show_refused(examined.findings.refused)
    if not answers:
        st.error("None of these files could be read as an X-ray. The list above says why.")
        return
    tally = counts(answers)
    show_alarm(alarm_of(answers))
    _numbers(tally)
    st.markdown(f":small[{scope(calibration)}]")
    if examined.synthetic:
        st.info("These X-rays are **synthetic**: drawn by a program, of no patient.", icon=":material/science:")
    show_exports(answers, examined, Provenance(calibration, examined.model.fingerprint, group))
    _check(answers, examined, calibration, group)
    cards, table = st.tabs(["Cards", "Table"])
    with cards:
        _cards(answers, tally, examined, calibration, group)
    with table:
        rows = rows_of(answers, marks_of(examined.id))
        in_download = ["diagnoses", *(f"p({name})" for name in answers[0].classes)]
        st.dataframe(
            rows,
            hide_index=True,
            column_order=columns_with_values(rows, besides=in_download),
            column_config={name: st.column_config.Column(width="medium") for name in ("file", "set")},
            alt="Every X-ray with its set and review",
        )
        st.caption("The probabilities of every diagnosis are on the cards and in the download.")


def _check(answers: list[Answer], examined: Examined, calibration: Drawn, group: str | None) -> None:
    """Where true diagnoses came with the X-rays (folders, a CSV), whether the sets hold them."""
    records = records_of_answers(answers, calibration, examined.model.fingerprint, "X-rays", group)
    if words := not_checked(answers, examined.model.fingerprint):
        st.caption(words)
    if records is not None:
        of = f"{examined.id}-{group}"
        show_check(check_records(records, calibration), records, calibration, of, "checked X-rays")


def _choose_group(calibration: Drawn) -> str | None:
    """Where each group has a threshold of its own, the one that all these X-rays are of."""
    if not calibration.group_names:
        return None
    chosen = st.selectbox(
        f"These X-rays are of the {calibration.per}",
        [*calibration.group_names, UNKNOWN],
        index=None,
        key="diagnose_group",
        persist_state="session",
        placeholder=f"Say which {calibration.per}: each has a threshold of its own",
    )
    if chosen == UNKNOWN:
        st.info("Nothing is calibrated for another one, so every set holds every diagnosis.")
    return chosen


def _numbers(tally: dict[str, int]) -> None:
    helps = {
        "one": ("One diagnosis", "The others that the model knows are not likely enough."),
        "several": ("Several", "Cannot be told apart at this coverage: a queue for review."),
        "none": ("None", "No diagnosis reaches the cutoff."),
        "flagged": (
            "Flagged",
            "No upright frontal chest X-ray, by its look or its DICOM header: not in the other counts. The check below "
            "counts those with a known diagnosis.",
        ),
    }
    with st.container(horizontal=True, gap="medium"):
        for kind, (label, meaning) in helps.items():
            st.metric(label, tally[kind], help=meaning, width="content")


@st.fragment
@guarded()
def _cards(
    answers: list[Answer], tally: dict[str, int], examined: Examined, calibration: Drawn, group: str | None
) -> None:
    """A fragment, so that turning a page draws that page's cards anew and nothing else, however many there are."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    totals = {"All": len(answers), **{name: tally[kind] for name, kind in FILTERS.items() if kind}}
    chosen = left.segmented_control(
        "Diagnoses in the set",
        list(FILTERS),
        default="All",
        required=True,
        format_func=lambda name: f"{name} ({totals[name]:,})",
        key=f"diagnose_filter_{examined.id}",
        wrap=True,
    )
    order = right.selectbox("Order", list(ORDERS), key="diagnose_order", persist_state="session")
    picked = select(answers, FILTERS[chosen], order)
    if not picked:
        st.info("No X-ray is of this kind.")
        return
    number = 1
    if (pages := ceil(len(picked) / A_PAGE)) > 1:
        number = st.pagination(pages, key=f"diagnose_page_{examined.id}_{chosen}_{order}")
    shown = picked[(number - 1) * A_PAGE : number * A_PAGE]
    show_viewer(picked, examined)
    st.html(STYLE)
    own = None if group is None else [group]
    thresholds = calibration.class_thresholds(1, len(examined.findings.classes), own)[0].tolist()
    for start in range(0, len(shown), A_ROW):
        for column, answer in zip(st.columns(A_ROW), shown[start : start + A_ROW], strict=False):
            with column.container(border=True, height="stretch", key=f"card-{examined.id}-{answer.number}"):
                show_card(answer, thresholds, examined)
