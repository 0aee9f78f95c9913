"""`coronahack`: 1,000 random splits of the held-out X-rays, 1,000 to calibrate and 500 to evaluate, as in the paper."""

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.experiments.findings import Findings, joined, sweep_numbers, sweep_table, with_rule
from ppsets_core.explore import label_of, sweeps
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.rules.paper import Paper
from ppsets_core.progress import Progress

ALPHA, N = 0.1, 1000
PAPERS_EPSILON, PAPERS_MEDIAN = 10.0, 0.904
EPSILONS = (0.1, 0.2, 0.5, 1.0, 3.0, PAPERS_EPSILON)


def run(*, seed: int = 0, splits: int = 1000, progress: Progress | None = None) -> sweeps.Sweep:
    """Splits are by X-ray, as in the paper, so one patient's X-rays may fall on both sides."""
    records, rng = Labelled.of(bundled_scores()), np.random.default_rng(seed)
    return sweeps.sweep(records, "epsilon", EPSILONS, splits, rng, alpha=ALPHA, n=N, progress=progress)


def findings(swept: sweeps.Sweep) -> Findings:
    """Median coverage and mean set size at every ε."""
    outcomes = sweeps.outcomes_of(swept.at(PAPERS_EPSILON))
    medians = [f"{np.median(outcome.coverage):.3f} {with_rule(series)}" for series, outcome in outcomes.items()]
    return Findings(
        "CoronaHack: coverage and set size over random splits",
        {"alpha": ALPHA, "n": N, "splits": len(next(iter(outcomes.values())).coverage)},
        (sweep_table("Median coverage and mean set size", swept, "ε", np.median),),
        (
            f"At ε = {PAPERS_EPSILON:g} the median coverage is {joined(medians)}; the paper reports {PAPERS_MEDIAN}.",
            *(_against_the_papers(swept, rule) for rule in swept.results if rule != Paper.name),
        ),
        sweep_numbers(swept),
    )


def _against_the_papers(swept: sweeps.Sweep, rule: str) -> str:
    below = [swept.at(epsilon) for epsilon in swept.values if epsilon < PAPERS_EPSILON]
    smaller = [at[rule].private.mean_size.mean() < at[Paper.name].private.mean_size.mean() for at in below]
    return (
        f"With the {label_of(rule)} sets are smaller on average than with the {Paper.label} in {sum(smaller)} of "
        f"the {len(smaller)} rows below ε = {PAPERS_EPSILON:g}."
    )


def figures(swept: sweeps.Sweep) -> dict[str, go.Figure]:
    """Histograms at the paper's ε, and coverage and set size along ε."""
    at = swept.at(PAPERS_EPSILON)
    return {
        f"Coverage of each split, ε = {PAPERS_EPSILON:g}": sweeps.histogram_figure(
            sweeps.outcomes_of(at), "coverage", ALPHA
        ),
        f"Sizes of the sets, ε = {PAPERS_EPSILON:g}": sweeps.size_figure(at),
        "Coverage against ε": sweeps.sweep_figure(swept, "coverage"),
        "Mean set size against ε": sweeps.sweep_figure(swept, "mean_size"),
    }
