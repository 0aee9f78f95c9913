"""Drawing the bin of ŝ: by OpenDP for a release, by a NumPy generator for a simulation. The two never meet."""

import numpy as np

from ppsets_core.method.bins import Runs
from ppsets_core.method.rules.mechanism import Mechanism, run_probabilities


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
