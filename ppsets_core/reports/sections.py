"""What both reports say of a calibration: asked, promised, released, spent, where it is from, and what it is not."""

from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.method.calibration import Calibration, Drawn, Simulation
from ppsets_core.method.rules import rule_named
from ppsets_core.novelty import Alarm
from ppsets_core.reports.html import Html, element, facts
from ppsets_core.version import __version__
from ppsets_core.wording import NOT_A_DEVICE, SIMULATED, TRIVIAL, guarantee, meaning, rule_in_words, scope

PAPER = (
    'A. N. Angelopoulos, S. Bates, T. Zrnic, M. I. Jordan, "Private Prediction Sets", '
    "Harvard Data Science Review 4(2), 2022."
)
UNKNOWN = "not recorded"


def heading(title: str, *lead: str) -> list[Html]:
    return [
        element("h1", title),
        *(element("p", sentence, class_="lead") for sentence in lead),
        element("p", NOT_A_DEVICE, class_="warn"),
    ]


def warnings(drawn: Drawn) -> list[Html]:
    """What a reader must know before the numbers."""
    told = [SIMULATED] if isinstance(drawn, Simulation) else []
    told += [TRIVIAL] if drawn.is_trivial else []
    return [element("p", sentence, class_="warn") for sentence in told]


def alarm_paragraph(alarm: Alarm) -> Html:
    return element("p", alarm.words, **({"class_": "warn"} if alarm.is_on else {}))


def asked(drawn: Drawn) -> dict[str, str]:
    """What someone chose."""
    whom = "all patients together" if drawn.per is None else f"each {drawn.per}"
    return {
        "Coverage": f"at least {100 * (1 - drawn.alpha):g}% (α = {drawn.alpha:g}), for {whom}",
        "Privacy": f"ε = {drawn.epsilon:g}, pure differential privacy (δ = 0)",
        "Rule": f"the {rule_named(drawn.method).label}",
        "Records": f"{drawn.n:,}; their number counts as public",
    }


def promise_section(drawn: Drawn) -> list[Html]:
    """What a set of this calibration means, what it promises and to whom, and what was asked for."""
    unit = drawn.unit if isinstance(drawn, Calibration) else "record"
    said = [meaning(drawn), *([guarantee(drawn, unit)] if isinstance(drawn, Calibration) else []), scope(drawn)]
    return [element("h2", "What the sets promise"), *(element("p", words) for words in said), facts(asked(drawn))]


def provenance_section(origin: Provenance) -> list[Html]:
    """Enough to find the calibration again, and to tell another from it."""
    drawn = origin.calibration
    release = drawn if isinstance(drawn, Calibration) else None
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
                "Method": f"{PAPER} {rule_in_words(drawn.method)}",
            }
        ),
    ]
