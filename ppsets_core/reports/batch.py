"""A diagnosed batch as a document: every X-ray with its set, under which promise, by which model; whether the promise
held where true diagnoses came with the X-rays."""

from collections.abc import Sequence

from ppsets_core.diagnose import Answer, alarm_of, counts
from ppsets_core.diagnose.checking import not_checked, records_of_answers
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.diagnose.review import Mark, Marks
from ppsets_core.files import Refused
from ppsets_core.method.calibration import OTHER_MODEL
from ppsets_core.method.check import check_records
from ppsets_core.reports.check import check_section
from ppsets_core.reports.html import Html, element, jpeg, numbers, page, table
from ppsets_core.reports.model import model_section
from ppsets_core.reports.sections import alarm_paragraph, heading, promise_section, provenance_section, warnings

MOST_CARDS, MOST_REFUSED, MOST_BELOW = 200, 100, 3
KINDS = {"one": "one diagnosis", "several": "several", "none": "none", "flagged": "flagged"}
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
@media screen and (max-width: 700px) { .cards { grid-template-columns: 1fr; } .card img { height: auto; } }
"""


def batch_report(
    answers: Sequence[Answer],
    origin: Provenance,
    refused: Sequence[Refused] = (),
    *,
    synthetic: bool = False,
    marks: Marks | None = None,
) -> str:
    """HTML, for screen and A4: cards where there are pictures and not too many, else a table.

    It names the files as they were given. Whoever hands it on hands on their names and pictures.
    """
    drawn, classes = origin.calibration, answers[0].classes
    tally = counts(answers)
    marks = marks or Marks()
    labelled = records_of_answers(answers, drawn, origin.model, "X-rays", origin.group)
    with_pictures = len(answers) <= MOST_CARDS and all(answer.finding.thumbnail for answer in answers)
    return page(
        "Report of prediction sets",
        heading("Prediction sets", f"{len(answers):,} X-rays, each with the diagnoses that remain, likeliest first."),
        warnings(drawn),
        [element("p", OTHER_MODEL, class_="warn")] if drawn.is_for(origin.model) is False else None,
        [element("p", "These X-rays are synthetic: drawn by a program, of no patient.", class_="warn")]
        if synthetic
        else None,
        numbers({name: f"{tally[kind]:,}" for kind, name in KINDS.items()}),
        alarm_paragraph(alarm_of(answers)),
        promise_section(drawn),
        check_section(None if labelled is None else check_records(labelled, drawn)),
        [element("p", words)] if (words := not_checked(answers, origin.model)) else None,
        element("h2", "Each X-ray"),
        _cards(answers, origin, marks) if with_pictures else _table(answers, marks),
        _left_out(refused),
        model_section(origin.model, classes),
        provenance_section(origin),
        style=STYLE,
    )


def _cards(answers: Sequence[Answer], origin: Provenance, marks: Marks) -> Html:
    cutoffs = dict(zip(answers[0].classes, origin.cutoffs(len(answers[0].classes)), strict=True))
    return element("div", [_card(answer, cutoffs, _review(marks.of(answer))) for answer in answers], class_="cards")


def _card(answer: Answer, cutoffs: dict[str, float], review: str) -> Html:
    found = answer.finding
    shown = [jpeg(found.thumbnail, f"X-ray {answer.number + 1}"), element("h3", found.name)]
    reviewed = [element("p", f"Review: {review}")] if review else []
    if answer.is_missed:
        reviewed.insert(0, element("p", element("b", _missed(answer))))
    if found.doubt:
        return element("div", shown, element("p", f"Flagged. {found.doubt}"), reviewed, class_="card")
    unlike = [element("p", answer.unlike)] if answer.unlike else []
    words, shares = element("p", answer.words), _probabilities(answer, cutoffs)
    return element("div", shown, unlike, words, shares, reviewed, class_="card")


def _review(mark: Mark) -> str:
    return ". ".join(filter(None, (mark.words, mark.note)))


def _probabilities(answer: Answer, cutoffs: dict[str, float]) -> Html:
    """Those in the set and the next few; each with what it needed."""
    below = [name for name in answer.probabilities if name not in answer.members]
    rows = [
        element(
            "tr",
            element("td", name),
            element("td", f"{answer.probabilities[name]:.3f}"),
            element("td", f"≥ {cutoffs[name]:.3g}" if name in answer.members else f"< {cutoffs[name]:.3g}"),
            **({} if name in answer.members else {"class_": "out"}),
        )
        for name in [*answer.members, *below[:MOST_BELOW]]
    ]
    return element("table", element("tbody", rows))


def _table(answers: Sequence[Answer], marks: Marks) -> Html:
    rows = [
        (answer.finding.name, _reading(answer), answer.finding.doubt or _set(answer) or "no diagnosis", _review(mark))
        for answer, mark in ((answer, marks.of(answer)) for answer in answers)
    ]
    return table(rows, ["file", "reading", "set, likeliest first", "review"])


def _reading(answer: Answer) -> str:
    missed = _missed(answer) if answer.is_missed else ""
    return "; ".join(filter(None, (KINDS[answer.kind], answer.unlike.lower(), missed)))


def _missed(answer: Answer) -> str:
    return f"missed: {answer.finding.label}"


def _set(answer: Answer) -> str:
    return ", ".join(f"{name} {answer.probabilities[name]:.3f}" for name in answer.members)


def _left_out(refused: Sequence[Refused]) -> list[Html]:
    if not refused:
        return []
    more = len(refused) - MOST_REFUSED
    return [
        element("h2", f"Not readable: {len(refused):,}"),
        table([(item.name, item.reason) for item in refused[:MOST_REFUSED]], ["file", "why"]),
        *([element("p", f"And {more:,} more.")] if more > 0 else []),
    ]
