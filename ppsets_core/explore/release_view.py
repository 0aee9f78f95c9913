"""The law of ŝ made ready to look at: its probability in even steps, over the part of [0, 1] where it lies."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.method.nonprivate import nonprivate_threshold
from ppsets_core.method.plan import Plan
from ppsets_core.method.release import release_distribution

UNSEEN = 1e-4  # probability left out at either end


@dataclass(frozen=True, eq=False)
class ReleaseView:
    """P(ŝ in (edges[i], edges[i+1]]), and where ordinary split conformal would cut. For public scores only."""

    edges: np.ndarray
    probability: np.ndarray
    bins_per_step: int
    nonprivate: float


def release_view(scores: np.ndarray, chosen: Plan, steps: int = 120) -> ReleaseView:
    """At most `steps` steps of whole bins each; within a run of equal bins the law is even, so sums are exact."""
    law = release_distribution(scores, chosen)
    m = chosen.m
    last = np.round(law.upper * m).astype(int)
    after = np.cumsum(law.probability)
    places = np.column_stack([last - law.bins, last]).ravel()
    upto = np.column_stack([after - law.probability, after]).ravel()
    nonprivate = nonprivate_threshold(scores, chosen.alpha)
    low, high = np.interp([UNSEEN, 1 - UNSEEN], upto, places)
    first = max(0, int(np.floor(min(low, nonprivate * m))) - 1)
    end = min(m, int(np.ceil(max(high, nonprivate * m))) + 1)
    width = max(1, -(-(end - first) // steps))
    edges = np.unique(np.minimum(np.arange(first, end + width, width), m))
    probability = np.diff(np.interp(edges, places, upto))
    return ReleaseView(edges / m, probability, width, nonprivate)
