"""What a calibration rule is: how far it aims above 1 − α, what that promises, how it draws, and its words."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.method.rules.mechanism import Mechanism
from ppsets_core.validation import LARGEST_EPSILON, LARGEST_N, LEAST_EPSILON


@dataclass(frozen=True)
class Aim:
    """Where a rule aims with m bins, and the coverage that follows whatever the data; its rank or γ if it has one."""

    level: float
    coverage_lower: float
    gamma: float | None = None
    rank: int | None = None


class Rule(Protocol):
    """One file per rule; `ppsets_core.method.rules.RULES` lists them."""

    name: str
    label: str  # "sharp rule", as in "the sharp rule"
    sentence: str
    grid: tuple[int, ...]  # the numbers of bins among which m* is chosen
    has_gamma: bool

    def aim(self, n: int, alpha: float, epsilon: float, m: int, gamma: float | None) -> Aim:
        """The level or rank to aim at."""

    def mechanism(self, level: float, rank: int | None, epsilon: float) -> Mechanism | None:
        """What draws ŝ for such an aim; None where there are too few records, so that ŝ is 1 and nothing is drawn."""

    def candidates(
        self, n: int, alpha: float, epsilon: float, bins: Sequence[int], gamma: float | None
    ) -> list[Mechanism | None]:
        """What would draw ŝ with each of several numbers of bins."""

    def smallest_n(self, alpha: float, epsilon: float, m: int | None) -> int | None:
        """The least n that is not too few with m bins, or with the grid's fewest; None where none is."""

    def smallest_epsilon(self, n: int, alpha: float, m: int | None) -> float | None:
        """The least ε for which n records are not too few; None where none is."""


@runtime_checkable
class GroupRule(Rule, Protocol):
    """A rule that can keep its promise within each diagnosis or group, whose sizes are private."""

    def group_m(self, n: int, groups: int, alpha: float, epsilon: float) -> int:
        """m* for n records in so many groups, whatever their sizes."""

    def group_mechanism(self, count: int, n: int, alpha: float, epsilon: float, m: int) -> Mechanism:
        """What draws the threshold of a group with `count` of the n records; all groups together cost ε."""


def no_gamma(gamma: float | None) -> None:
    if gamma is not None:
        raise InputError("gamma belongs to the paper's rule; this rule has none. Leave it out.")


def bisect_n(rule: Rule, alpha: float, epsilon: float, m: int) -> int | None:
    """`smallest_n` of a rule that more records never harm."""

    def is_enough(n: int) -> bool:
        return rule.candidates(n, alpha, epsilon, [m], None) != [None]

    found = bisect_left(range(LARGEST_N + 1), True, 1, key=is_enough)
    return found if found <= LARGEST_N else None


def bisect_epsilon(rule: Rule, n: int, alpha: float, m: int) -> float | None:
    """`smallest_epsilon` of such a rule, if a larger ε never harms either: to the last bit of a float."""

    def is_enough(epsilon: float) -> bool:
        return rule.candidates(n, alpha, epsilon, [m], None) != [None]

    return least_float(is_enough, LEAST_EPSILON, LARGEST_EPSILON)


def least_float(is_enough: Callable[[float], bool], low: float, high: float) -> float | None:
    """The least float from low to high that is enough, where all larger ones are; None where none is."""
    first, last = np.array([low, high]).view(np.int64).tolist()  # positive floats are in the order of their bits

    def number(bits: int) -> float:
        return float(np.int64(bits).view(np.float64))

    found = first + bisect_left(range(first, last + 1), True, key=lambda bits: is_enough(number(bits)))
    return number(found) if found <= last else None
