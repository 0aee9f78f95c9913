"""One private draw of each target's threshold, and nothing else, from counts; and the exact law it is drawn from.

A release is drawn by OpenDP, a simulation by a NumPy generator. The two never meet.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.method.bins import Runs, runs_of, runs_of_counts
from ppsets_core.method.calibration import PUBLIC, Calibration, Simulation, check_binding, now
from ppsets_core.method.counts import Countable, Counts, check_number
from ppsets_core.method.plan import Plan
from ppsets_core.method.rules.mechanism import Mechanism, run_probabilities
from ppsets_core.validation import check_scores


def draw_release(mechanism: Mechanism, runs: Runs, n: int) -> int:
    """A bin for a release: Gumbel noisy max in exact arithmetic from a cryptographic source, over all m bins.

    Gumbel noise makes noisy max the exponential mechanism, whose loss is at most (range of score changes)/scale.
    """
    from opendp.domains import atom_domain, vector_domain  # `opendp.prelude` would load scikit-learn
    from opendp.measurements import make_noisy_max
    from opendp.measures import zero_concentrated_divergence
    from opendp.metrics import linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    scores, scale = mechanism.exact_scores(runs, n)
    space = vector_domain(atom_domain(T="i64")), linf_distance(T="i64")
    noisy_max = make_noisy_max(*space, zero_concentrated_divergence(), scale=scale)
    return int(noisy_max(np.repeat(scores, runs.bins))) + 1


def draw_simulation(mechanism: Mechanism, runs: Runs, n: int, rng: np.random.Generator) -> int:
    """A bin for a simulation: fast, repeatable by seed, and for that very reason never a release."""
    cumulative = np.cumsum(run_probabilities(mechanism, runs, n))
    run = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    return int(rng.integers(runs.first[run], runs.last[run] + 1))


Draw = Callable[[Mechanism, Runs, int], int]


def release(counts: Counts, *, dataset: str | None = None) -> Calibration:
    """Draw as planned, by OpenDP. Nobody counts it here: `Ledger.release` charges first and then calls this."""
    check_binding(counts.unit, counts.model, dataset)
    return Calibration(**_drawn(counts, draw_release), unit=counts.unit, dataset=dataset, date=now())


def draw_trial(counts: Counts, rng: np.random.Generator) -> Simulation:
    """Draw as planned with a seedable generator: a trial on public records, of another type than a release."""
    if not isinstance(rng, np.random.Generator):
        raise InputError("rng must be a numpy.random.Generator, such as numpy.random.default_rng(0).")
    return Simulation(**_drawn(counts, partial(draw_simulation, rng=rng)))


def untouched(records: Countable, plan: Plan) -> Counts:
    """Counts for a trivial plan, which needs none: the data is not used."""
    nothing = tuple(np.zeros(0, dtype=np.int64) for _ in plan.targets)
    facts = (records.source, records.classes, records.model, records.unit)
    return Counts(*facts, plan.n, plan.n, plan, nothing, score=records.score)


def _drawn(counts: Counts, draw: Draw) -> dict[str, Any]:
    """The fields that a release and a simulation share. What is not drawn is 1, which leaves nothing out."""
    counts = counts.prepared()
    assert counts.mechanisms is not None
    drawn = tuple(
        1.0 if mechanism is None else draw(mechanism, runs_of_counts(bins), int(bins.sum())) / target.m
        for target, bins, mechanism in zip(counts.plan.targets, counts.bins, counts.mechanisms, strict=True)
    )
    facts = {name: getattr(counts, name) for name in ("classes", "model", "score", "half_precision")}
    return {"drawn": drawn} | facts | {name: getattr(counts.plan, name) for name in PUBLIC}


@dataclass(frozen=True)
class ReleaseDistribution:
    """The exact law of ŝ, one entry per run of equal bins. Computed from the scores: private, for audits only."""

    upper: np.ndarray  # the run's largest edge
    bins: np.ndarray  # how many edges it has
    probability: np.ndarray  # of the whole run


def release_distribution(scores: np.ndarray, chosen: Plan) -> ReleaseDistribution:
    """P(ŝ ∈ run) for each run of bins; ŝ is uniform over the edges within one. Private: for audits.

    Parameters
    ----------
    scores : conformity scores in [0, 1]
    chosen : a plan for as many records, for all patients together
    """
    scores = check_scores(scores)
    check_number(len(scores), chosen)
    if chosen.is_trivial:
        return ReleaseDistribution(np.array([1.0]), np.array([1]), np.array([1.0]))
    runs = runs_of(scores, chosen.m)
    return ReleaseDistribution(runs.last / chosen.m, runs.bins, run_probabilities(chosen.mechanism, runs, chosen.n))
