"""Writes tests/reference/*.json: values of both rules, computed apart from the library.

The paper's rule comes from the transcription in tests/method/oracle.py, with 50 digits; the sharp rule from the theorem
in docs/method.md, transcribed in tests/method/rules/sharp/plain_loss.py. Takes two minutes:

python -m tools.build_reference
"""

import json
from decimal import Decimal
from pathlib import Path

from tests.method import oracle
from tests.method.rules.sharp.plain_loss import path, plain_loss

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "reference"
LEVELS = [  # n, α, ε, m
    (1000, 0.1, 10.0, 10_000),
    (1000, 0.1, 1.0, 10_000),
    (5000, 0.1, 8.0, 20_000),
    (30_000, 0.1, 5.0, 100_000),
    (1_000_000, 0.05, 10.0, 1_000_000),
    (50, 0.2, 0.1, 100),
]
QUANTILES = [([3, 0, 2, 5, 1, 4], 0.8, 1.0), ([10, 0, 0, 0, 0, 5], 0.9, 2.5)]  # counts, q, ε
RANKS = [  # n, α, ε, m
    (100, 0.1, 1.0, 30),
    (100, 0.1, 1.0, 100),
    (536, 0.1, 1.0, 130),
    (1000, 0.1, 1.0, 200),
    (1000, 0.1, 1.0, 1000),
    (1000, 0.1, 0.2, 90),
    (1000, 0.05, 3.0, 500),
    (50, 0.2, 2.0, 25),
    (200, 0.3, 0.5, 40),
    (30, 0.1, 10.0, 100),
    (3000, 0.1, 0.5, 300),
    (12, 0.1, 1.0, 5),
    (1000, 0.1, 10.0, 3000),
    (20, 0.5, 1.0, 10),
]
CLASS_RANKS = [(24, 0.1, 4.0, 8), (30, 0.2, 6.0, 12)]  # n, α, ε, m: each class is drawn with ε/2
LAWS = [([3, 0, 2, 5, 1, 4], 13, 1.0), ([0, 7, 0, 0, 3, 0], 9, 2.5), ([1, 0, 2, 0], 5, 1.5)]  # counts, k, ε
SLACK = 1e-9


def exact(number: float) -> Decimal:
    return Decimal(repr(number))


def paper_level(n: int, alpha: float, epsilon: float, m: int) -> dict[str, float]:
    gamma = oracle.best_gamma(n, exact(alpha), exact(epsilon), m)
    level = oracle.level(n, exact(alpha), exact(epsilon), m, gamma)
    return {"n": n, "alpha": alpha, "epsilon": epsilon, "m": m, "gamma": float(gamma), "level": float(level)}


def paper_pmf(counts: list[int], q: float, epsilon: float) -> dict[str, object]:
    m = len(counts)
    scores = [Decimal(j) / m for j, count in enumerate(counts, start=1) for _ in range(count)]
    law = oracle.quantile_law(scores, m, exact(q), exact(epsilon))
    return {"bin_counts": counts, "q": q, "epsilon": epsilon, "probabilities": [float(p) for p in law]}


def lower(n: int, k: int, m: int, epsilon: float) -> float:
    """What the theorem promises at rank k."""
    return (min(k, n) + 1 - plain_loss(n, k, m, epsilon)) / (n + 1)


def least_rank(n: int, alpha: float, epsilon: float, m: int, highest: int) -> int | None:
    """The least k with lower(n, k) ≥ 1 − α, by bisection: lower does not fall with k."""
    low, high = 0, highest + 1
    while high - low > 1:
        k = (low + high) // 2
        low, high = (low, k) if lower(n, k, m, epsilon) >= 1 - alpha - SLACK else (k, high)
    return high if high <= highest else None


def sharp_rank(n: int, alpha: float, epsilon: float, m: int) -> dict[str, object]:
    rank = least_rank(n, alpha, epsilon, m, n)
    promised = 1.0 if rank is None else lower(n, rank, m, epsilon)
    shortest = None if rank is None else path(n - rank, epsilon / 3)
    given = {"n": n, "alpha": alpha, "epsilon": epsilon, "m": m}
    return given | {"rank": rank, "lower": promised, "path_minimum": shortest}


def class_ranks(n: int, alpha: float, epsilon: float, m: int) -> dict[str, object]:
    ranks = [least_rank(count, alpha, epsilon / 2, m, count + 100) for count in range(n + 1)]
    return {"n": n, "alpha": alpha, "epsilon": epsilon, "m": m, "ranks": ranks}


def sharp_pmf(counts: list[int], rank: int, epsilon: float) -> dict[str, object]:
    """P(ŝ = e_j) ∝ exp(2ε/3 · u_j), u_j = −max(½(L_j + 1 − k), k − K_j, 0); the top bin misses nothing."""
    upto = [sum(counts[: j + 1]) for j in range(len(counts))]
    missing = [rank - k for k in upto[:-1]] + [0]
    overshot = [Decimal(k - count + 1 - rank) / 2 for k, count in zip(upto, counts, strict=True)]
    weights = [(-2 * exact(epsilon) / 3 * max(*pair, 0)).exp() for pair in zip(missing, overshot, strict=True)]
    law = [float(weight / sum(weights)) for weight in weights]
    return {"bin_counts": counts, "rank": rank, "epsilon": epsilon, "probabilities": law}


def paper_values() -> dict[str, list]:
    return {
        "paper_level": [paper_level(*row) for row in LEVELS],
        "paper_pmf": [paper_pmf(*row) for row in QUANTILES],
    }


def sharp_values() -> dict[str, list]:
    return {
        "sharp_rank": [sharp_rank(*row) for row in RANKS],
        "class_ranks": [class_ranks(*row) for row in CLASS_RANKS],
        "sharp_pmf": [sharp_pmf(*row) for row in LAWS],
    }


if __name__ == "__main__":
    for name, values in (("method", paper_values()), ("sharp", sharp_values())):
        (FOLDER / f"{name}.json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
