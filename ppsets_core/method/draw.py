"""Drawing the bin of ŝ: by OpenDP for a release, by a NumPy generator for a simulation. The two never meet."""

import numpy as np

from ppsets_core.method.bins import Runs
from ppsets_core.method.rules.mechanism import Mechanism, run_probabilities


def draw_release(mechanism: Mechanism, runs: Runs, n: int) -> int:
    """A bin for a release: Gumbel noisy max in exact arithmetic from a cryptographic source, over all m bins.

    Gumbel noise makes noisy max the exponential mechanism, whose loss is at most (range of score changes)/scale.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    scores, scale = mechanism.exact_scores(runs, n)
    noisy_max = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.linf_distance(T="i64"),
        dp.zero_concentrated_divergence(),
        scale=scale,
    )
    return int(noisy_max(np.repeat(scores, runs.bins))) + 1


def draw_simulation(mechanism: Mechanism, runs: Runs, n: int, rng: np.random.Generator) -> int:
    """A bin for a simulation: fast, repeatable by seed, and for that very reason never a release."""
    cumulative = np.cumsum(run_probabilities(mechanism, runs, n))
    run = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    return int(rng.integers(runs.first[run], runs.last[run] + 1))
