"""Ordinary split conformal calibration: what private calibration is compared with. Not private."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from ppsets_core.validation import check_alpha, check_scores


def conformal_rank(n: int, alpha: float) -> int:
    """⌈(1−α)(n+1)⌉, the rank of ordinary split conformal; α is taken as the decimal that it prints as."""
    return math.ceil((1 - Fraction(Decimal(repr(alpha)))) * (n + 1))


def nonprivate_threshold(scores: np.ndarray, alpha: float) -> float:
    """Ordinary split conformal: the ⌈(1−α)(n+1)⌉-th smallest score, or 1 where there are too few. Not private.

    >>> nonprivate_threshold([0.1, 0.2, 0.3, 0.4], 0.5)
    0.3
    """
    scores = check_scores(scores)
    rank = conformal_rank(len(scores), check_alpha(alpha))
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= len(scores) else 1.0
