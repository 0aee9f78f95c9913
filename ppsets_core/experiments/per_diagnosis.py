"""`per-diagnosis`: coverage of each diagnosis, where the promise holds for all together and where it holds for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.experiments.findings import Findings, Table
from ppsets_core.explore import style
from ppsets_core.explore.expected_sets import ExpectedSets, by_diagnosis_figure
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.style import BLUE, GREY, ORANGE, VERMILLION, Look
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.simulate import Outcome, Setting, SplitResult, random_splits
from ppsets_core.progress import Progress

ALPHA, N = 0.1, 1000
EPSILONS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SHOWN_EPSILON = 1.0
TOGETHER, EACH = "together", "each diagnosis"
TOGETHER_EXACT, EACH_EXACT = "together, without privacy", "each diagnosis, without privacy"
LOOKS = {
    TOGETHER: Look(TOGETHER, VERMILLION, "dot", "diamond"),
    EACH: Look(EACH, BLUE, "solid", "circle"),
    TOGETHER_EXACT: Look(TOGETHER_EXACT, GREY, "dash", "x"),
    EACH_EXACT: Look(EACH_EXACT, ORANGE, "longdash", "square"),
}


@dataclass(frozen=True, eq=False)
class PerDiagnosis:
    """For each ε the promise for all together and the promise for each diagnosis, all on the same splits."""

    classes: tuple[str, ...]
    epsilons: tuple[float, ...]
    together: tuple[SplitResult, ...]
    each: tuple[SplitResult, ...]

    def at(self, epsilon: float) -> dict[str, Outcome]:
        """All four ways; those without privacy are the same at every ε."""
        place = self.epsilons.index(epsilon)
        together, each = self.together[place], self.each[place]
        return dict(zip(LOOKS, (together.private, each.private, together.nonprivate, each.nonprivate), strict=True))


def run(
    *, seed: int = 0, splits: int = 1000, progress: Progress | None = None, epsilons: Sequence[float] = EPSILONS
) -> PerDiagnosis:
    """Splits are by X-ray, as in `coronahack`."""
    records = bundled_scores()
    settings = [Setting(ALPHA, epsilon, per=per) for per in (None, DIAGNOSIS) for epsilon in epsilons]
    data, rng = Labelled.of(records), np.random.default_rng(seed)
    results = tuple(random_splits(data.probabilities, data.labels, N, settings, splits, rng, progress=progress))
    together, each = results[: len(epsilons)], results[len(epsilons) :]
    return PerDiagnosis(records.classes, tuple(epsilons), together, each)


def class_means(outcome: Outcome) -> np.ndarray:
    """Mean coverage of each class over the splits."""
    return np.nanmean(outcome.coverage_by_class, axis=0)


def class_errors(outcome: Outcome) -> np.ndarray:
    """Their standard errors."""
    seen = np.isfinite(outcome.coverage_by_class).sum(axis=0)
    return np.nanstd(outcome.coverage_by_class, axis=0, ddof=1) / np.sqrt(seen)


def findings(found: PerDiagnosis) -> Findings:
    """Coverage of each class and mean size, at every ε and without privacy."""
    first = found.at(found.epsilons[0])
    rows = [_row(epsilon, way, found.at(epsilon)[way]) for epsilon in found.epsilons for way in (TOGETHER, EACH)]
    rows += [_row("∞", way, first[way]) for way in (TOGETHER_EXACT, EACH_EXACT)]
    columns = ("ε", "the promise holds for", *found.classes, "all", "mean size")
    return Findings(
        "CoronaHack: a promise for all together, and for each diagnosis",
        {"alpha": ALPHA, "n": N, "splits": len(first[TOGETHER].coverage)},
        (Table("Mean coverage of each diagnosis and of all, and mean set size", columns, tuple(rows)),),
        (_least_sentence(found, TOGETHER), _least_sentence(found, EACH)),
        {
            "over": "epsilon",
            "values": list(found.epsilons),
            TOGETHER: [{"plan": r.plan.document(), **_numbers(found, r.private)} for r in found.together],
            EACH: [{"plan": r.plan.document(), **_numbers(found, r.private)} for r in found.each],
            TOGETHER_EXACT: _numbers(found, first[TOGETHER_EXACT]),
            EACH_EXACT: _numbers(found, first[EACH_EXACT]),
        },
    )


def _row(epsilon: str | float, way: str, outcome: Outcome) -> tuple[str | float, ...]:
    by_class = (round(float(mean), 4) for mean in class_means(outcome))
    return (epsilon, way, *by_class, round(float(outcome.coverage.mean()), 4), round(_size(outcome), 3))


def _least_sentence(found: PerDiagnosis, way: str) -> str:
    """Which class is covered least, where, and at how many ε every class is covered as asked for."""
    means = np.array([class_means(found.at(epsilon)[way]) for epsilon in found.epsilons])
    place, number = np.unravel_index(np.argmin(means), means.shape)
    error = class_errors(found.at(found.epsilons[place])[way])[number]
    whom = "all together" if way == TOGETHER else way
    kept = int((means.min(axis=1) >= 1 - ALPHA).sum())
    return (
        f"With the promise for {whom} every diagnosis has a mean coverage of at least {1 - ALPHA:g} at {kept} of "
        f"the {len(means)} ε; the least is {means[place, number]:.4f} ± {error:.4f}, of {found.classes[number]} at "
        f"ε = {found.epsilons[place]:g}."
    )


def _size(outcome: Outcome) -> float:
    return float(outcome.mean_size.mean())


def _numbers(found: PerDiagnosis, outcome: Outcome) -> dict[str, Any]:
    """Means over the splits."""
    return {
        "coverage": float(outcome.coverage.mean()),
        "coverage_by_class": dict(zip(found.classes, class_means(outcome).tolist(), strict=True)),
        "standard_error_by_class": dict(zip(found.classes, class_errors(outcome).tolist(), strict=True)),
        "mean_size": _size(outcome),
    }


def figures(found: PerDiagnosis) -> dict[str, go.Figure]:
    """Every class at one ε, and along ε coverage of each class and mean size."""
    shown = SHOWN_EPSILON if SHOWN_EPSILON in found.epsilons else found.epsilons[0]
    sets = {
        way: ExpectedSets(_size(outcome), 0.0, float(outcome.coverage.mean()), class_means(outcome))
        for way, outcome in found.at(shown).items()
    }
    coverage, size = (style.figure(style.AXES["epsilon"], y) for y in ("coverage", "mean set size"))
    _draw_coverage(coverage, found)
    for way, look in LOOKS.items():
        style.add_line(size, found.epsilons, np.array([_size(found.at(e)[way]) for e in found.epsilons]), look)
    for fig in (coverage, size):
        style.log_ticks(fig, found.epsilons)
    return {
        f"Coverage of each diagnosis, ε = {shown:g}": by_diagnosis_figure(found.classes, sets, 1 - ALPHA),
        "Coverage of each diagnosis against ε": coverage,
        "Mean set size against ε": size,
    }


def _draw_coverage(fig: go.Figure, found: PerDiagnosis) -> None:
    """A colour for each diagnosis; dotted where the promise is for all together, solid where it is for each."""
    colours = [colour for colour in style.SEQUENCE if colour != style.GREEN]
    for way in (TOGETHER, EACH):
        means = np.array([class_means(found.at(epsilon)[way]) for epsilon in found.epsilons])
        for number, name in enumerate(found.classes):
            named, colour = f"{style.as_text(name)}, {way}", colours[number % len(colours)]
            look = Look(named, colour, LOOKS[way].dash, LOOKS[way].symbol)
            style.add_line(fig, found.epsilons, means[:, number], look)
    style.add_goal(fig, found.epsilons, 1 - ALPHA)
