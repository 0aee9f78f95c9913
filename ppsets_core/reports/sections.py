"""What reports share: the page, the promise, the coverage check, the model, where it all comes from."""

import re

from ppsets_core import wording
from ppsets_core.diagnose.set_table import Provenance
from ppsets_core.errors import PpsetsError
from ppsets_core.method.calibration import BaseCalibration, Calibration, Simulation
from ppsets_core.method.check import OWN_VIEW, Check, Line
from ppsets_core.method.rules import rule_named
from ppsets_core.model.report import bundled_report
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.places import MODELS
from ppsets_core.reports.html import Content, Html, bullets, element, facts, page, table
from ppsets_core.version import __version__

PAPER = (
    'A. N. Angelopoulos, S. Bates, T. Zrnic, M. I. Jordan, "Private Prediction Sets", '
    "Harvard Data Science Review 4(2), 2022."
)
UNKNOWN = "not recorded"
NOT_IN_PAPER = " of ppsets, which is not in the paper (docs/method.md)"
CARD = MODELS / "README.md"
OTHER = "ppsets has not measured how good this model is and does not know what it was trained on: ask who made it."


def report_page(
    name: str,
    title: str,
    lead: str,
    *content: Content,
    origin: Provenance,
    model: str | None,
    classes: tuple[str, ...],
    style: str = "",
) -> str:
    """A report: what a reader must know before the numbers, the content, the model and the provenance."""
    drawn = origin.calibration
    told = [
        wording.NOT_A_DEVICE,
        *([wording.SIMULATED] if isinstance(drawn, Simulation) else []),
        *([wording.meaning(drawn)] * drawn.is_full),
    ]
    return page(
        name,
        element("h1", title),
        element("p", lead, class_="lead"),
        [element("p", sentence, class_="warn") for sentence in told],
        *content,
        _model_section(model, classes),
        _provenance_section(origin),
        style=style,
    )


def asked(drawn: BaseCalibration) -> dict[str, str]:
    """What someone chose."""
    whom = "all patients together" if drawn.per is None else f"each {drawn.per}"
    return {
        "Coverage": f"at least {100 * (1 - drawn.alpha):g}% (α = {drawn.alpha:g}), for {whom}",
        "Privacy": f"ε = {drawn.epsilon:g}, pure differential privacy (δ = 0)",
        "Rule": f"the {rule_named(drawn.method).label}",
        "Calibrated on": f"{wording.counted(drawn.n, wording.unit_of(drawn))}; their number counts as public",
    }


def promise_section(drawn: BaseCalibration) -> list[Html]:
    """What a set of this calibration means, what it promises and to whom, and what was asked for."""
    said = [
        *([] if drawn.is_full else [wording.meaning(drawn)]),
        *([wording.guarantee(drawn)] if isinstance(drawn, Calibration) else []),
        wording.scope(drawn),
    ]
    return [element("h2", "What the sets promise"), *(element("p", words) for words in said), facts(asked(drawn))]


def _provenance_section(origin: Provenance) -> list[Html]:
    """Enough to find the calibration again, and to tell another from it."""
    drawn = origin.calibration
    release = drawn if isinstance(drawn, Calibration) else None
    rule = f"The {rule_named(drawn.method).label}{NOT_IN_PAPER if drawn.method != 'paper' else ''}."
    settings = f"α = {drawn.alpha!r}, ε = {drawn.epsilon!r}, rule {drawn.method}, n = {drawn.n}, m = {drawn.m}"
    return [
        element("h2", "Provenance"),
        facts(
            {
                "Calibration": "a private release" if release else "a simulation, no release",
                "Data set": (release.dataset or UNKNOWN) if release else None,
                "Drawn": (release.date or UNKNOWN) if release else None,
                "Model calibrated": drawn.model or UNKNOWN,
                "Model used": origin.model,
                "Group": origin.group,
                "Settings": settings,
                "Report": f"ppsets {__version__}, {origin.exported}",
                "Method": f"{PAPER} {rule}",
            }
        ),
    ]


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


def _model_section(model: str | None, classes: tuple[str, ...]) -> list[Html]:
    """For the bundled weights the measured numbers and the limits of their card; of others that they are others."""
    parts = [element("h2", "The model and its limits")]
    if classes:
        parts.append(
            element("p", f"It tells {', '.join(wording.class_names(classes))} apart and looks for nothing else.")
        )
    if model is None:
        return [*parts, element("p", f"Which model gave the probabilities is not recorded. {OTHER}")]
    which = element("p", "Its fingerprint, of weights and class names: ", element("code", model), ".")
    if model != bundled_fingerprint():
        return [*parts, which, element("p", f"It is not the model that comes with ppsets. {OTHER}")]
    limits = [bullets(limits_of_the_card())] if CARD.is_file() else []
    return [*parts, which, *_measured(), *limits]


def _measured() -> list[Html]:
    try:
        measured, classes = bundled_report()
    except PpsetsError:
        return []
    recalls = ", ".join(
        f"{name} {100 * share:.0f}%" for name, share in zip(wording.class_names(classes), measured.recalls, strict=True)
    )
    sentence = (
        f"The ResNet-18 that comes with ppsets. On {measured.n:,} public CoronaHack X-rays that it was not trained on, "
        f"its likeliest diagnosis is right in {100 * measured.accuracy:.0f}%; recognised are {recalls}."
    )
    return [element("p", sentence)]


def limits_of_the_card() -> list[str]:
    """The list under "Limits" in models/README.md, as plain sentences."""
    _, _, after = CARD.read_text(encoding="utf-8").partition("\n## Limits\n")
    limits = after.partition("\n## ")[0]
    return [
        " ".join(item.split()).replace("`", "").replace("**", "") for item in re.split(r"^- ", limits, flags=re.M)[1:]
    ]
