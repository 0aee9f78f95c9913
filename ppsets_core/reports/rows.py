"""A table of new patients as a document: every row with its set, and whether the promise held where labels tell."""

from ppsets_core.diagnose.new_patients import PatientSets
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.reports.check import check_section
from ppsets_core.reports.html import element, numbers, page, table
from ppsets_core.reports.model import model_section
from ppsets_core.reports.sections import alarm_paragraph, heading, promise_section, provenance_section, warnings

KINDS = {"one": "one diagnosis", "several": "several", "none": "none"}


def table_report(sets: PatientSets, origin: Provenance) -> str:
    """HTML, for screen and A4. It names the rows as the file does; a check is the curator's own view, and says so."""
    patients = sets.patients
    names = list(patients.identifiers)
    whose = zip(*(patients.identifiers[name].tolist() for name in names), strict=True)
    rows = [(*map(str, who), members) for who, members in zip(whose, _sets(sets), strict=True)]
    return page(
        "Report of prediction sets",
        heading("Prediction sets", f"{len(patients):,} rows, each with the diagnoses that remain, likeliest first."),
        warnings(origin.calibration),
        numbers({KINDS[kind]: f"{count:,}" for kind, count in sets.counts().items()}),
        alarm_paragraph(sets.alarm),
        promise_section(origin.calibration),
        check_section(sets.check),
        element("h2", "Each row"),
        table(rows, [*names, "set, likeliest first"]),
        model_section(origin.model, patients.classes),
        provenance_section(origin),
    )


def _sets(sets: PatientSets) -> list[str]:
    """Each set, and beside it whether its patient is unlike the others."""
    column = {name: number for number, name in enumerate(sets.patients.classes)}
    words = [
        ", ".join(f"{name} {shares[column[name]]:.3f}" for name in members) or "no diagnosis"
        for members, shares in zip(sets.ranked, sets.probabilities, strict=True)
    ]
    marks = map(sets.watch.mark, sets.familiar)
    return [f"{said} ({mark.lower()})" if mark else said for said, mark in zip(words, marks, strict=True)]
