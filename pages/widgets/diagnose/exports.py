"""What a batch leaves behind: its table, a report to print, reports for an archive; made only when asked for."""

import streamlit as st

from pages.widgets.diagnose.marks import marks_of
from pages.widgets.diagnose.source import Examined
from pages.widgets.downloads import offer_download
from ppsets_core.diagnose import Answer
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.diagnose.table import csv_of
from ppsets_core.reports.batch import batch_report
from ppsets_core.reports.structured import WHO_IS_NAMED, has_structured_report, structured_reports, zipped


def show_exports(answers: list[Answer], examined: Examined, origin: Provenance) -> None:
    marks = marks_of(examined.id)
    with st.container(horizontal=True):
        offer_download(
            "Download all results (CSV)",
            lambda: csv_of(answers, origin, marks),
            "prediction_sets.csv",
            key="diagnose_csv",
        )
        offer_download(
            "Report to print (HTML)",
            lambda: batch_report(answers, origin, examined.findings.refused, synthetic=examined.synthetic, marks=marks),
            "prediction-sets-report.html",
            key="diagnose_report",
            help="With every picture's name and a small copy of it: hand it only to those who may see them.",
        )
        referable = sum(map(has_structured_report, answers))
        if referable:
            offer_download(
                "DICOM structured reports (zip)",
                lambda: zipped(structured_reports(answers, origin)),
                "structured-reports.zip",
                key="diagnose_sr",
            )
    if referable:
        st.caption(f"Structured reports for {referable:,} of {len(answers):,} X-rays (DICOM). {WHO_IS_NAMED}")
