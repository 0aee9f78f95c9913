"""Answers as rows, and as a CSV that a spreadsheet shows and never runs."""

import csv
import io
from collections.abc import Sequence

from ppsets_core.diagnose.answers import Answer
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.diagnose.review import Marks
from ppsets_core.files.names import plain_cell


def rows_of(answers: Sequence[Answer], marks: Marks | None = None) -> list[dict[str, object]]:
    """One row per X-ray, with its review if marks are given; text that a spreadsheet would take for a formula quoted.

    A flagged picture has no set, so that no one counts it.
    """
    return [_safe(_row(answer) | (marks.columns(answer) if marks else {})) for answer in answers]


def _row(answer: Answer) -> dict[str, object]:
    shares = zip(answer.classes, answer.finding.probabilities, strict=True)
    flagged = bool(answer.finding.doubt)
    return {
        "file": answer.finding.name,
        "reading": answer.kind,
        "diagnoses": None if flagged else len(answer.members),
        "set": "" if flagged else "; ".join(answer.members),
        **{f"p({name})": float(share) for name, share in shares},
        "not a chest X-ray because": answer.finding.doubt,
        "true diagnosis": answer.finding.label or "",
        f"like {answer.watch.whose}": {True: "yes", False: "no", None: ""}[answer.familiar],
    }


def csv_of(answers: Sequence[Answer], provenance: Provenance, marks: Marks | None = None) -> str:
    """The rows as CSV, each with the cutoffs that it was held against and where they come from."""
    if not answers:
        return ""
    names = answers[0].classes
    needed = {f"cutoff({name})": cutoff for name, cutoff in zip(names, provenance.cutoffs(len(names)), strict=True)}
    origin = _safe(provenance.columns())
    rows = [_short(row | needed) | origin for row in rows_of(answers, marks)]
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    csv.writer(out).writerow(map(plain_cell, rows[0]))
    writer.writerows(rows)
    return out.getvalue()


def _short(row: dict[str, object]) -> dict[str, object]:
    return {name: f"{value:.6f}" if isinstance(value, float) else value for name, value in row.items()}


def _safe(row: dict[str, object]) -> dict[str, object]:
    return {name: plain_cell(value) if isinstance(value, str) else value for name, value in row.items()}
