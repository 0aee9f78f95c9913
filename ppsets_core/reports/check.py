"""Whether the promise held on the patients of a report, where their true diagnoses are known."""

from ppsets_core.method.check import OWN_VIEW, Check, Line
from ppsets_core.reports.html import Html, element, table


def check_section(check: Check | None) -> list[Html]:
    """The verdict; what was covered overall, by diagnosis, group and set size. The curator's own view, and says so."""
    if check is None:
        return []
    parts = {
        "": (check.overall,),
        "diagnosis": check.by_diagnosis,
        "group": check.by_group,
        "diagnoses in the set": check.by_size,
    }
    rows = [
        (part, line.name, f"{line.covered:,} of {line.records:,}", _interval(line), line.verdict)
        for part, lines in parts.items()
        for line in lines
        if line.records
    ]
    return [
        element("h2", "Did the promise hold here?"),
        element("p", OWN_VIEW, class_="warn"),
        element("p", check.words),
        table(rows, ["by", "whose", element("span", "covered", class_="whole"), "share, 95% interval", "verdict"]),
    ]


def _interval(line: Line) -> str:
    low, high = line.interval
    return f"{100 * line.coverage:.1f}% ({100 * low:.1f}% to {100 * high:.1f}%)"
