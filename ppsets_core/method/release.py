"""One private draw of ŝ, and nothing but ŝ, from the records; and the exact law it is drawn from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ppsets_core.data.counting import Chosen, Counted, parts_of
from ppsets_core.data.records import Records
from ppsets_core.errors import InputError
from ppsets_core.method.bins import Runs, runs_of, runs_of_counts
from ppsets_core.method.calibration import Calibration, Simulation, check_binding, now
from ppsets_core.method.draw import draw_release, draw_simulation
from ppsets_core.method.plan import DIAGNOSIS, NoveltyTarget, Plan, plan
from ppsets_core.method.rules import DEFAULT
from ppsets_core.method.rules.mechanism import Mechanism, run_probabilities
from ppsets_core.validation import check_scores

Draw = Callable[[Mechanism, Runs, int], int]


def calibrate(
    records: Records | np.ndarray | Sequence[float],
    alpha: float,
    epsilon: float,
    *,
    method: str = DEFAULT,
    m: int | None = None,
    gamma: float | None = None,
    per: str | None = None,
    groups: Sequence[str] | None = None,
    novelty: NoveltyTarget = NoveltyTarget(),
) -> Calibration:
    """Draw ŝ with ε-differential privacy, so that P(Y ∈ C(X)) ≥ 1 − α. A release that costs ε, and no one counts it.

    `Ledger.release` counts. Records know their classes, their model and whom ε protects; bare scores do not. Where the
    records say how familiar each is, τ̂ is drawn too, out of the same ε.

    >>> calibrate([0.1] * 9, 0.1, 0.1).threshold  # too few records for this ε: every label, nothing spent
    1.0
    """
    records = as_records(records)
    if per == DIAGNOSIS:
        need_labels(records)
    classes = records.classes if per == DIAGNOSIS else None
    n = len(records)
    chosen = plan(
        n,
        alpha,
        epsilon,
        method=method,
        m=m,
        gamma=gamma,
        per=per,
        classes=classes,
        groups=groups,
        novelty=None if records.novelty is None else novelty,
    )
    return release(records, chosen)


def release(records: Records | Counted, chosen: Plan, *, dataset: str | None = None) -> Calibration:
    """Draw as planned, by OpenDP. Nobody counts it here: `Ledger.release` charges first and then calls this."""
    check_binding(records.unit, records.model, dataset)
    return Calibration(**_drawn(records, chosen, draw_release), unit=records.unit, dataset=dataset, date=now())


def simulate(records: Records | np.ndarray | Sequence[float], chosen: Plan, rng: np.random.Generator) -> Simulation:
    """Draw as planned with a seedable generator: a trial on public records, of another type than a release."""
    if not isinstance(rng, np.random.Generator):
        raise InputError("rng must be a numpy.random.Generator, such as numpy.random.default_rng(0).")

    def draw(mechanism: Mechanism, runs: Runs, n: int) -> int:
        return draw_simulation(mechanism, runs, n, rng)

    return Simulation(**_drawn(as_records(records), chosen, draw))


def as_records(records: Records | np.ndarray | Sequence[float]) -> Records:
    """Bare scores as records of which nothing else is known."""
    if isinstance(records, Records):
        return records
    scores = check_scores(np.asarray(records) if isinstance(records, np.ndarray) else records)
    return Records("scores", scores)


def _drawn(records: Records | Counted, chosen: Plan, draw: Draw) -> dict[str, Any]:
    """The fields that a release and a simulation share."""
    check_plan(records, chosen)
    thresholds: tuple[float, ...] = (1.0,)
    if chosen.per is not None:
        parts = _counted_parts(records, chosen)
        thresholds = tuple(draw(chosen.mechanism_for(count), runs, count) / chosen.m for runs, count in parts)
    elif not chosen.is_trivial:
        ((runs, count),) = _counted_parts(records, chosen)
        thresholds = (draw(chosen.mechanism, runs, count) / chosen.m,)
    public = {field.name: getattr(chosen, field.name) for field in fields(Plan)}
    return {
        "thresholds": thresholds,
        "novelty_threshold": _novelty_threshold(records, chosen, draw),
        "classes": records.classes,
        "model": records.model,
        **public,
    }


def _novelty_threshold(records: Records | Counted, chosen: Plan, draw: Draw) -> float | None:
    """τ̂; 1, which flags nothing, where the plan says that no alarm is possible; None where none was planned."""
    if (beside := chosen.novelty) is None:
        return None
    if not beside.is_possible:
        return 1.0
    if isinstance(records, Counted):
        runs = runs_of_counts(records.novelty)
    else:
        assert records.novelty is not None
        runs = runs_of(records.novelty, beside.m)
    return draw(beside.mechanism, runs, chosen.n) / beside.m


def need_labels(records: Records | Chosen) -> None:
    if not records.classes:
        raise InputError(
            f"{records.source}: a promise for each diagnosis needs the label of every record, and there are "
            "scores only. Give a probability for each diagnosis and the true one as `label`."
        )


def check_plan(records: Records | Counted, chosen: Plan) -> None:
    """Whether the records are as many as planned for and say what the plan needs of them."""
    _check_count(len(records), chosen)
    if isinstance(records, Counted):
        if not records.is_for(chosen):
            raise InputError(f"{records.source} was counted for another plan; count it again for this one.")
        return
    if np.isnan(records.scores).any():
        raise InputError(f"{records.source}: the true diagnosis of every record must be known, as its `label`.")
    if chosen.per == DIAGNOSIS:
        need_labels(records)
        if len(records.classes) != chosen.groups:
            raise InputError(f"The plan is for {chosen.groups} classes but there are {len(records.classes)}.")
    elif chosen.per is not None and chosen.per not in records.groups:
        raise InputError(f"{records.source}: there is no column '{chosen.per}' that says the group of each record.")
    if chosen.novelty is not None and records.novelty is None:
        raise InputError(
            f"{records.source}: there is no column 'novelty', so no alarm can be calibrated. Plan without it."
        )


def _counted_parts(records: Records | Counted, chosen: Plan) -> list[tuple[Runs, int]]:
    """The runs of bins of each diagnosis or group, or of all together, and how many records it has."""
    if isinstance(records, Counted):
        return [(runs_of_counts(counts), int(counts.sum())) for counts in records.counts]
    return [(runs_of(part, chosen.m), len(part)) for part in parts_of(records, chosen)]


@dataclass(frozen=True)
class ReleaseDistribution:
    """The exact law of ŝ, one entry per run of equal bins. Computed from the scores: private, for audits only."""

    upper: np.ndarray  # the run's largest edge
    bins: np.ndarray  # how many edges it has
    probability: np.ndarray  # of the whole run


def release_distribution(scores: np.ndarray, chosen: Plan) -> ReleaseDistribution:
    """P(ŝ ∈ run) for each run of bins; ŝ is uniform over the edges within one."""
    scores = check_scores(scores)
    _check_count(len(scores), chosen)
    if chosen.is_trivial:
        return ReleaseDistribution(np.array([1.0]), np.array([1]), np.array([1.0]))
    runs = runs_of(scores, chosen.m)
    return ReleaseDistribution(runs.last / chosen.m, runs.bins, run_probabilities(chosen.mechanism, runs, chosen.n))


def _check_count(count: int, chosen: Plan) -> None:
    if count != chosen.n:
        raise InputError(f"The plan is for {chosen.n} records but there are {count}; plan again for these.")
