"""What all sets come to: alarm, counts, promise and downloads, for X-rays, tables and data sets alike."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.widgets.text import as_text, offer_download
from ppsets_core.diagnose.exports import csv_of, json_of, parquet_of
from ppsets_core.diagnose.review import Marks
from ppsets_core.diagnose.set_table import SetCounts, SetRow, SetTable
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.reports.sets import sets_report
from ppsets_core.reports.structured import WHO_IS_NAMED, has_structured_report, structured_reports, zipped
from ppsets_core.wording import scope

METRICS = {
    "one": ("One diagnosis", "The others that the model knows are not likely enough."),
    "several": ("Several", "Cannot be told apart at this coverage: a queue for review."),
    "none": ("None", "No diagnosis reaches the cutoff."),
    "flagged": ("Flagged", "No upright frontal chest X-ray, by its look or its DICOM header: not in the other counts."),
}
OUTSIDE = "Outside what this model was built for. Do not rely on this set."
WITH_NAMES = "With every name and a small copy of every picture: hand it only to those who may see them."
FILTERS = {"All": None, "One": "one", "Several": "several", "None": "none", "Flagged": "flagged"}


def show_counts(counts: SetCounts, calibration: BaseCalibration, model: str | None, *, xrays: bool) -> None:
    """The alarm, in red where it is on; how many sets there are of each kind; what is promised."""
    alarm = counts.alarm(calibration, model)
    if alarm.is_on:
        st.error(as_text(alarm.words), icon=":material/notification_important:")
    else:
        st.caption(as_text(alarm.words))
    with st.container(horizontal=True, gap="medium"):
        if not xrays:
            st.metric("Patients", f"{len(counts):,}", width="content")
        for reading, (label, meaning) in METRICS.items():
            if xrays or reading != "flagged":
                st.metric(label, f"{counts.readings[reading]:,}", help=meaning, width="content")
    st.markdown(f":small[{as_text(scope(calibration))}]")
    if not xrays and calibration.is_for(model) is None:
        st.caption("Calibration and table do not both name their model; the two must belong together.")


def show_cautions(row: SetRow) -> None:
    """What may not be overlooked on a card or in the viewer: a picture unlike the model's, a diagnosis missed."""
    if row.is_unfamiliar:
        st.warning(
            f"**{OUTSIDE}** Unlike the X-rays of {row.table.novelty_threshold.compared_with}.",
            icon=":material/warning:",
        )
    if row.is_missed:
        st.badge(as_text(f"Missed · true: {row.label}"), icon=":material/close:", color="red")
    elif row.label is not None:
        st.caption(as_text(f"True: {row.label}"))


def choose_reading(sets: SetTable, label: str, key: str, *, missed: bool = False) -> str | None:
    """Filter by what a set holds; `missed` offers those whose true diagnosis is not in the set, and starts there."""
    filters = {name: kind for name, kind in FILTERS.items() if sets.xrays is not None or kind != "flagged"}
    totals = {name: len(sets) if kind is None else sets.counts.readings[kind] for name, kind in filters.items()}
    if missed and (number := int(sets.missed.sum())):
        filters["Missed"], totals["Missed"] = "missed", number
    chosen = st.segmented_control(
        label,
        list(filters),
        default="Missed" if "Missed" in filters else "All",
        required=True,
        format_func=lambda name: f"{name} ({totals[name]:,})",
        key=key,
        wrap=True,
    )
    return filters[chosen]


def show_downloads(sets: SetTable, *, marks: Marks | None = None, synthetic: bool = False) -> None:
    """Every export, made only when it is asked for."""
    made: dict[str, Callable[[], str | bytes]] = {
        "CSV": lambda: csv_of(sets, marks),
        "Parquet": lambda: parquet_of(sets, marks),
        "JSON": lambda: json_of(sets, marks=marks),
    }
    referable = 0 if sets.xrays is None else sum(has_structured_report(sets[row]) for row in range(len(sets)))
    with st.container(horizontal=True):
        for kind, make in made.items():
            ending = kind.lower()
            offer_download(f"Download all sets ({kind})", make, f"prediction_sets.{ending}", f"sets_{ending}")
        report, name = partial(sets_report, sets, synthetic=synthetic, marks=marks), "prediction-sets-report.html"
        offer_download("Report to print (HTML)", report, name, "sets_report", WITH_NAMES)
        if referable:
            name = "structured-reports.zip"
            offer_download("DICOM structured reports (zip)", lambda: zipped(structured_reports(sets)), name, "sets_sr")
    if referable:
        st.caption(as_text(f"Structured reports for {referable:,} of {len(sets):,} X-rays (DICOM). {WHO_IS_NAMED}"))
