"""Designs that try each pair of levels without trying every combination."""

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any


def pairwise(*factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Few combinations of the factors' levels that hold every pair of levels of two factors; always the same ones."""

    def pairs(cell: tuple[Any, ...]) -> set[tuple[Any, ...]]:
        return set(combinations(enumerate(cell), 2))

    cells = list(product(*factors))
    missing, chosen = set().union(*map(pairs, cells)), []
    while missing:
        best = max(cells, key=lambda cell: len(pairs(cell) & missing))
        chosen.append(best)
        missing -= pairs(best)
    return chosen
