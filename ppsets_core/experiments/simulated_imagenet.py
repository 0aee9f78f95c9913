"""A stand-in for ResNet-152 on ImageNet: 1,000-class probabilities that are right as often as the network's.

Classes come in 100 groups of 10 that look alike. An image shows Gaussian noise for every group and for every class,
with a signal added at its true group and another at its true class; its probabilities are the exact posterior, a
softmax, so they are calibrated as the paper's are after temperature scaling. The two signals were fitted to the
published accuracy of ResNet-152: top-1 78.3%, top-5 94.0%.
"""

import numpy as np

from ppsets_core.explore.labelled import Labelled

GROUPS, ALIKE = 100, 10
TOP_1, TOP_5 = 0.783, 0.940  # ResNet-152, torchvision's first ImageNet weights
GROUP_SIGNAL, CLASS_SIGNAL = 3.1, 2.91


def simulated_imagenet(count: int, rng: np.random.Generator, chunk: int = 2000) -> Labelled:
    """`count` labelled images, a chunk at a time to keep memory low."""
    labels = rng.integers(GROUPS * ALIKE, size=count)
    probabilities = np.empty((count, GROUPS * ALIKE))
    for start in range(0, count, chunk):
        here = labels[start : start + chunk]
        group = _evidence(here // ALIKE, GROUPS, GROUP_SIGNAL, rng)
        logits = _evidence(here, GROUPS * ALIKE, CLASS_SIGNAL, rng) + np.repeat(group, ALIKE, axis=1)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities[start : start + chunk] = weights / weights.sum(axis=1, keepdims=True)
    return Labelled(probabilities, labels)


def _evidence(true: np.ndarray, classes: int, signal: float, rng: np.random.Generator) -> np.ndarray:
    """Log-likelihoods, up to a constant, of noise with `signal` added at the true class."""
    seen = rng.standard_normal((len(true), classes))
    seen[np.arange(len(true)), true] += signal
    return signal * seen
