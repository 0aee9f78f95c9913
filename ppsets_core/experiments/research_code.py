"""The scaling of the paper's public research code, for audits only: it is not private at the ε it is given."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.bins import Runs
from ppsets_core.mechanism import PaperQuantile

LARGEST_LEVEL = 1 - 1e-12


@dataclass(frozen=True)
class ResearchQuantile(PaperQuantile):
    """P(ŝ = e_j) ∝ exp(−ε·min(α,1−α)·w_j/2): α where the proof has the level q, which lies nearer to 1."""

    alpha: float = 0.1

    def log_weights(self, runs: Runs, n: int) -> np.ndarray:
        ranks_off = np.maximum(runs.below / self.level, (n - runs.upto) / (1 - self.level))
        scale = self.epsilon / 2 * min(self.alpha, 1 - self.alpha)
        return -scale * (ranks_off - ranks_off.min(axis=-1, keepdims=True))
