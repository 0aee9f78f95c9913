"""What all sets come to: alarm, counts, promise and downloads, for X-rays, tables and data sets alike."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.widgets.text import as_text, offer_download
from ppsets_core.diagnose.exports import as_table, csv_of, json_of, parquet_of
from ppsets_core.diagnose.novelty import OUTSIDE, Alarm
from ppsets_core.diagnose.review import Marks
from ppsets_core.diagnose.set_table import SetCounts, SetRow, SetTable
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.reports.sets import sets_report
from ppsets_core.reports.structured import WHO_IS_NAMED, has_structured_report, structured_reports, zipped
from ppsets_core.wording import scope

if TYPE_CHECKING:
    import pyarrow as pa

METRICS = {
    "one": ("One diagnosis", "The others that the model knows are not likely enough."),
    "several": ("Several", "Cannot be told apart at this coverage: a queue for review."),
    "none": ("None", "No diagnosis reaches the cutoff."),
}
WITH_NAMES = "With every name and a small copy of every picture: hand it only to those who may see them."
FILTERS = {name.title(): name for name in ("one", "several", "none", "unfamiliar", "flagged", "missed")}


def show_alarm(alarm: Alarm) -> None:
    """In red where more records are unfamiliar than chance explains."""
    if alarm.is_on:
        st.error(as_text(alarm.words), icon=":material/notification_important:")
    else:
        st.caption(as_text(alarm.words))


def show_counts(counts: SetCounts, calibration: BaseCalibration, model: str | None) -> None:
    """Of a table: the alarm, how many sets there are of each kind, what is promised."""
    show_alarm(counts.alarm(calibration, model))
    with st.container(horizontal=True, gap="medium"):
        st.metric("Rows", f"{len(counts):,}", width="content")
        for reading, (label, meaning) in METRICS.items():
            st.metric(label, f"{counts.readings[reading]:,}", help=meaning, width="content")
    st.caption(as_text(scope(calibration)))
    if calibration.is_for(model) is None:
        st.caption("Calibration and table do not both name their model; the two must belong together.")


def show_cautions(row: SetRow, *, fully: bool = False) -> None:
    """What may not be overlooked on a card or in the viewer: a picture unlike the model's, a diagnosis missed.

    fully: also say unlike whose X-rays it is."""
    if row.is_unfamiliar:
        st.warning(as_text(row.caution) if fully else f"**{OUTSIDE}**", icon=":material/warning:")
    if row.is_missed:
        st.badge(as_text(f"Missed · true: {row.label}"), icon=":material/close:", color="red")
    elif row.label is not None:
        st.caption(as_text(f"True: {row.label}"))


def shown_table(sets: SetTable, rows: Sequence[int], marks: Marks | None = None) -> "pa.Table":
    """The export's columns for a screen, where a cell is narrow: whether the set missed, and not to rely on it."""
    import pyarrow.compute as pc

    table = as_table(sets, rows, marks)
    for name, words in {"covered": ("in the set", "Missed"), "caution": ("Do not rely on this set", None)}.items():
        if name in table.column_names:
            said = table[name] if name == "covered" else table[name].is_valid()
            table = table.set_column(table.column_names.index(name), name, pc.if_else(said, *words))
    return table


def choose_reading(sets: SetTable, key: str) -> str | None:
    """Filter by what a set holds, or why not to rely on it; kinds that there are none of are left out."""
    totals = {"All": len(sets)} | {name: len(sets.rows(kind)) for name, kind in FILTERS.items()}
    chosen = st.segmented_control(
        "Filter",
        [name for name, number in totals.items() if number],
        default="All",
        required=True,
        format_func=lambda name: f"{name} {totals[name]:,}",
        key=key,
        wrap=True,
        label_visibility="collapsed",
    )
    return FILTERS.get(chosen)


def show_downloads(sets: SetTable, *, marks: Marks | None = None, synthetic: bool = False) -> None:
    """Every export, made only when it is asked for."""
    made: dict[str, Callable[[], str | bytes]] = {
        "CSV": lambda: csv_of(sets, marks),
        "Parquet": lambda: parquet_of(sets, marks),
        "JSON": lambda: json_of(sets, marks=marks),
    }
    referable = 0 if sets.xrays is None else sum(has_structured_report(sets[row]) for row in range(len(sets)))
    with st.popover("Download", icon=":material/download:"):
        for kind, make in made.items():
            ending = kind.lower()
            offer_download(f"All sets ({kind})", make, f"prediction_sets.{ending}", f"sets_{ending}")
        report, name = partial(sets_report, sets, synthetic=synthetic, marks=marks), "prediction-sets-report.html"
        offer_download("Report to print (HTML)", report, name, "sets_report", WITH_NAMES)
        if referable:
            name = "structured-reports.zip"
            offer_download("DICOM structured reports (zip)", lambda: zipped(structured_reports(sets)), name, "sets_sr")
            st.caption(as_text(f"Structured reports for {referable:,} of {len(sets):,} X-rays. {WHO_IS_NAMED}"))
