"""What set size to expect with n records, before there are any: calibrations simulated on public records."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.evaluation import evaluate
from ppsets_core.planning import Plan
from ppsets_core.private_quantile import calibrate_as_planned
from ppsets_core.sets import conformity_scores
from ppsets_core.split_conformal import nonprivate_threshold
from ppsets_core.tradeoffs.sweeps import Labelled


@dataclass(frozen=True)
class ExpectedSize:
    """Means over the simulated calibrations; what they would be without privacy beside them."""

    mean_size: float
    singleton_share: float
    nonprivate_mean_size: float
    nonprivate_singleton_share: float


def expected_size(records: Labelled, chosen: Plan, repetitions: int, rng: np.random.Generator) -> ExpectedSize:
    """Calibrate on plan.n records drawn with replacement from public ones, and look at the sets of all of them.

    With replacement, so that n may be larger than the public data set.
    """
    scores = conformity_scores(records.probabilities, records.labels)
    thresholds = []
    for _ in range(repetitions):
        drawn = rng.choice(scores, size=chosen.n)
        private = calibrate_as_planned(drawn, chosen, rng).threshold
        thresholds.append((private, nonprivate_threshold(drawn, chosen.alpha)))
    found = [[evaluate(records.probabilities, records.labels, t) for t in pair] for pair in thresholds]
    sizes = np.array([[(e.mean_size, e.singleton_share) for e in pair] for pair in found]).mean(axis=0)
    return ExpectedSize(*(float(v) for v in sizes.ravel()))
