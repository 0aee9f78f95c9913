"""Prediction sets as a document: every X-ray or row with its set, under which promise, by which model."""

from collections.abc import Sequence

from ppsets_core.diagnose.review import Marks
from ppsets_core.diagnose.set_table import MISSES_FIRST, SetRow, SetTable
from ppsets_core.files import Refused
from ppsets_core.reports.html import Html, element, jpeg, numbers, table
from ppsets_core.reports.sections import check_section, promise_section, report_page

MOST_CARDS, MOST_REFUSED, MOST_BELOW = 200, 100, 3
READINGS = {"one": "one diagnosis", "several": "several", "none": "none", "flagged": "flagged"}
STYLE = """
.cards { display: grid; grid-template-columns: repeat(3, 1fr); gap: 3mm; }
.card { border: .75pt solid #bbb; border-radius: 2mm; padding: 2mm; break-inside: avoid; font-size: 9pt; }
.card img { display: block; width: 100%; height: 31mm; object-fit: contain; background: #000; margin-bottom: 1.5mm; }
.card h3 { font-size: 9pt; }
.card p { margin: 0 0 1mm; }
.card table { font-size: 8pt; margin: 0; }
.card td, .card th { padding: .4mm .8mm; }
.card td + td { white-space: nowrap; width: 1%; }
.out { color: #666; }
.missed { color: #b00020; font-weight: bold; }
@media screen and (max-width: 700px) { .cards { grid-template-columns: 1fr; } .card img { height: auto; } }
"""


def sets_report(sets: SetTable, *, synthetic: bool = False, marks: Marks | None = None) -> str:
    """HTML, for screen and A4: cards where there are pictures and not too many, else a table.

    It has the names of files or rows as they were given, and pictures: hand it only to those who may see them.
    """
    xrays, marks, shown = sets.xrays, marks or Marks(), sets.shown()
    what, each = ("rows", "Each row") if xrays is None else ("X-rays", "Each X-ray")
    counts = {name: sets.counts.readings[kind] for kind, name in READINGS.items() if xrays or kind != "flagged"}
    if sets.unfamiliar is not None:
        counts["unfamiliar"] = int(sets.unfamiliar.sum())
    if (sets.labels >= 0).any():
        counts["missed"] = int(sets.missed.sum())
    with_pictures = xrays is not None and len(sets) <= MOST_CARDS and all(xrays.thumbnails)
    return report_page(
        "Report of prediction sets",
        "Prediction sets",
        f"{len(sets):,} {what}, each with the diagnoses that remain, likeliest first.",
        [element("p", "These X-rays are computer-generated, not real patients.", class_="warn")] if synthetic else None,
        numbers({name: f"{count:,}" for name, count in counts.items()}),
        element("p", sets.alarm.words, **({"class_": "warn"} if sets.alarm.is_on else {})),
        promise_section(sets.calibration),
        check_section(shown.check),
        [element("p", sets.not_checked)] if sets.not_checked else None,
        element("h2", each),
        _cards(shown, marks) if with_pictures else _table(shown, marks),
        [] if xrays is None else _left_out(xrays.refused),
        origin=sets.provenance(),
        model=sets.records.model,
        classes=sets.classes,
        style=STYLE,
    )


def _cards(sets: SetTable, marks: Marks) -> Html:
    rows = (sets[number] for number in sets.rows(order=MISSES_FIRST))
    return element("div", [_card(row, _review(row, marks)) for row in rows], class_="cards")


def _card(row: SetRow, review: str) -> Html:
    shown = [jpeg(row.thumbnail, f"X-ray {row.number + 1}"), element("h3", row.name)]
    if row.is_missed:
        shown.append(element("p", f"Missed · true: {row.label}", class_="missed"))
    reviewed = [element("p", f"Review: {review}")] if review else []
    if row.doubt:
        return element("div", shown, element("p", f"Flagged. {row.doubt}"), reviewed, class_="card")
    words = element("p", row.caution, class_="warn") if row.caution else element("p", row.words)
    return element("div", shown, words, _probabilities(row), reviewed, class_="card")


def _review(row: SetRow, marks: Marks) -> str:
    mark = marks.of(row)
    return ". ".join(filter(None, (mark.words, mark.note)))


def _probabilities(row: SetRow) -> Html:
    """Those in the set and the next few; each with what it needed."""
    inside, shares, cutoffs = row.members, row.probabilities, row.cutoffs
    below, is_simple = [name for name in shares if name not in inside], row.table.calibration.has_cutoffs
    lines = [
        element(
            "tr",
            element("td", name),
            element("td", f"{shares[name]:.3f}"),
            element("td", f"{'≥' if name in inside else '<'} {cutoffs[name]:.3g}" if is_simple else ""),
            **({} if name in inside else {"class_": "out"}),
        )
        for name in [*inside, *below[:MOST_BELOW]]
    ]
    return element("table", element("tbody", lines))


def _table(sets: SetTable, marks: Marks) -> Html:
    identifiers = [values.tolist() for values in sets.records.identifiers.values()]
    rows = (sets[number] for number in range(len(sets)))
    lines = [
        (*whose, _reading(row), row.doubt or row.set_with_probabilities or "no diagnosis", _review(row, marks))
        for row, *whose in zip(rows, *identifiers, strict=True)
    ]
    names = [*sets.records.identifiers, "reading", "set, likeliest first", "review"]
    if not any(line[-1] for line in lines):
        lines, names = [line[:-1] for line in lines], names[:-1]
    return table(lines, names)


def _reading(row: SetRow) -> str:
    missed = f"Missed · true: {row.label}" if row.is_missed else ""
    return "; ".join(filter(None, (READINGS[row.reading], missed, row.caution)))


def _left_out(refused: Sequence[Refused]) -> list[Html]:
    if not refused:
        return []
    more = len(refused) - MOST_REFUSED
    return [
        element("h2", f"Not readable: {len(refused):,}"),
        table([(item.name, item.reason) for item in refused[:MOST_REFUSED]], ["file", "why"]),
        *([element("p", f"And {more:,} more.")] if more > 0 else []),
    ]
