"""One private draw of ŝ, and nothing but ŝ, from the scores; and the exact law it is drawn from."""

from dataclasses import dataclass, fields

import numpy as np

from ppsets_core.bins import runs_of
from ppsets_core.calibration import Calibration, check_binding
from ppsets_core.errors import InputError
from ppsets_core.mechanism import run_probabilities
from ppsets_core.planning import Plan, plan
from ppsets_core.sampling import draw_release, draw_simulation
from ppsets_core.validation import check_scores


def calibrate(
    scores: np.ndarray,
    alpha: float,
    epsilon: float,
    *,
    method: str = "paper",
    m: int | None = None,
    gamma: float | None = None,
    rng: np.random.Generator | None = None,
    unit: str = "record",
    model: str | None = None,
) -> Calibration:
    """Draw ŝ with ε-differential privacy for each record, so that P(Y ∈ C(X)) ≥ 1 − α. With `rng`, a simulation.

    Each call is a release that costs ε and no one counts; `Ledger.calibrate` counts. Say `unit="patient"` if each
    score is another patient's, and as `model` the fingerprint of the model behind the scores: both are kept with ŝ.

    >>> calibrate([0.1] * 50, 0.1, 0.1).threshold  # too few records for this ε: every label, nothing spent
    1.0
    """
    scores = check_scores(scores)
    chosen = plan(len(scores), alpha, epsilon, method=method, m=m, gamma=gamma)
    return calibrate_as_planned(scores, chosen, rng, unit=unit, model=model)


def calibrate_as_planned(
    scores: np.ndarray,
    chosen: Plan,
    rng: np.random.Generator | None = None,
    *,
    unit: str = "record",
    model: str | None = None,
) -> Calibration:
    """`calibrate` with a plan already made for as many records."""
    check_binding(unit, model)
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise InputError("rng must be a numpy.random.Generator for a simulation, or left out for a release.")
    _check_count(scores, chosen)
    threshold = 1.0
    if not chosen.is_trivial:
        runs = runs_of(scores, chosen.m)
        if rng is None:
            threshold = draw_release(chosen.mechanism, runs, chosen.n) / chosen.m
        else:
            threshold = draw_simulation(chosen.mechanism, runs, chosen.n, rng) / chosen.m
    public = {field.name: getattr(chosen, field.name) for field in fields(Plan)}
    return Calibration(threshold=threshold, simulated=rng is not None, unit=unit, model=model, **public)


@dataclass(frozen=True)
class ReleaseDistribution:
    """The exact law of ŝ, one entry a run of equal bins. Computed from the scores: private, for audits only."""

    upper: np.ndarray  # the run's largest edge
    bins: np.ndarray  # how many edges it has
    probability: np.ndarray  # of the whole run


def release_distribution(scores: np.ndarray, chosen: Plan) -> ReleaseDistribution:
    """P(ŝ ∈ run) for each run of bins; ŝ is uniform over the edges within one."""
    scores = check_scores(scores)
    _check_count(scores, chosen)
    if chosen.is_trivial:
        return ReleaseDistribution(np.array([1.0]), np.array([1]), np.array([1.0]))
    runs = runs_of(scores, chosen.m)
    return ReleaseDistribution(runs.last / chosen.m, runs.bins, run_probabilities(chosen.mechanism, runs, chosen.n))


def _check_count(scores: np.ndarray, chosen: Plan) -> None:
    if len(scores) != chosen.n:
        raise InputError(f"The plan is for {chosen.n} records but there are {len(scores)}; plan again for these.")
