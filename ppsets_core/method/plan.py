"""The plan: every quantile that a release will draw, from n, α and ε alone. Costs no privacy."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ppsets_core.errors import InputError
from ppsets_core.inputs import numbered
from ppsets_core.method.rules import DEFAULT, RULES, GroupRule, rule_named
from ppsets_core.method.rules.mechanism import Mechanism, expected_output, least_of
from ppsets_core.method.rules.rule import no_gamma
from ppsets_core.method.rules.sharp import Sharp
from ppsets_core.validation import (
    LARGEST_EPSILON,
    LARGEST_N,
    LEAST_EPSILON,
    check_alpha,
    check_count,
    check_epsilon,
    check_gamma,
    check_m,
    check_n,
    check_name,
    check_names,
    check_share,
)

DIAGNOSIS = "diagnosis"
SCORE, NOVELTY = "score", "novelty"
NOVELTY_ALPHA = 0.05
"""The share of X-rays like the calibration's that a novelty threshold may flag."""


@dataclass(frozen=True)
class Target:
    """One quantile that a release draws: of the conformity scores, or of the novelty, of some of the records.

    quantity: "score" or "novelty".
    of: the diagnosis or group whose records count; None: all records.
    alpha: the share of them that may lie above it.
    epsilon: the privacy loss of all targets of this quantity together; 0 where too few records leave nothing to draw.
    method, m: the rule, and the number of bins.
    gamma, level, rank: where the rule aims. None where it has none, and for a diagnosis or group, whose count is
        private. A level of 1 or more means that the rule would need more records than there are.
    """

    quantity: str
    of: str | None
    alpha: float
    epsilon: float
    method: str
    m: int
    gamma: float | None = None
    level: float | None = None
    rank: int | None = None

    def mechanism(self, count: int, n: int) -> Mechanism | None:
        """The exponential mechanism that draws it from `count` of the n records; None: it is 1, and nothing is drawn.

        How many records a diagnosis or group has is private, and so is its mechanism.
        """
        if self.of is not None:
            return group_rule(self.method).group_mechanism(count, n, self.alpha, self.epsilon, self.m)
        if self.level is None:
            return None
        return rule_named(self.method).mechanism(self.level, self.rank, self.epsilon)

    @property
    def is_trivial(self) -> bool:
        """Too few records for this α and ε: it is 1 whatever they say, and no privacy is spent."""
        return self.of is None and self.mechanism(0, 0) is None


@dataclass(frozen=True)
class Plan:
    """Everything about a calibration that can be known, and shown, before the data is touched.

    n, alpha, epsilon: the number of records, the miss rate allowed, and the privacy loss of all targets together.
    method: the rule.
    coverage_lower: the coverage promised.
    targets: the quantiles to draw: coverage for all patients together or for each diagnosis or group, and novelty last.
    per: whom the promise holds for: None (all together), "diagnosis", or the column that names the groups.
    """

    n: int
    alpha: float
    epsilon: float
    method: str
    coverage_lower: float
    targets: tuple[Target, ...]
    per: str | None = None

    def __post_init__(self) -> None:
        """Refuse a plan, however it was made, whose targets would spend more than its ε."""
        scores, beside = self.score_targets, self.novelty
        parts = [max((target.epsilon for target in scores), default=0), 0 if beside is None else beside.epsilon]
        is_whole = len({target.of for target in scores}) == len(scores) and len(self.targets) - len(scores) <= 1
        if not is_whole or (self.per is None and len(scores) != 1) or sum(map(_exact, parts)) > _exact(self.epsilon):
            raise InputError("The targets of a plan may not spend more than its epsilon; use `plan` to make one.")

    @property
    def score_targets(self) -> tuple[Target, ...]:
        return tuple(target for target in self.targets if target.quantity == SCORE)

    @property
    def novelty(self) -> Target | None:
        """The target above which an X-ray is unlike the calibration's, where it was asked for."""
        return next((target for target in self.targets if target.quantity == NOVELTY), None)

    @property
    def m(self) -> int:
        return self.targets[0].m

    @property
    def gamma(self) -> float | None:
        return self.targets[0].gamma

    @property
    def level(self) -> float | None:
        return self.targets[0].level

    @property
    def rank(self) -> int | None:
        return self.targets[0].rank

    @property
    def names(self) -> tuple[str, ...]:
        """The diagnosis or group of each score target; empty where one serves all."""
        return () if self.per is None else tuple(str(target.of) for target in self.score_targets)

    @property
    def group_names(self) -> tuple[str, ...]:
        return () if self.per == DIAGNOSIS else self.names

    @property
    def groups(self) -> int:
        """How many diagnoses or groups have a threshold; 1 where one serves all."""
        return len(self.score_targets)

    @property
    def threshold_epsilon(self) -> float:
        """What novelty leaves of ε for the thresholds."""
        return self.targets[0].epsilon

    @property
    def is_trivial(self) -> bool:
        """Too few records for this α and ε: ŝ = 1, every set holds every label, and no privacy is spent."""
        return self.targets[0].is_trivial

    @property
    def mechanism(self) -> Mechanism:
        """What draws ŝ where one serves all; a trivial plan has none."""
        if self.per is not None:
            raise InputError(f"This plan draws a threshold for each {self.per}: use `mechanism_for`.")
        if (mechanism := self.targets[0].mechanism(self.n, self.n)) is None:
            raise InputError("This plan is trivial: ŝ is 1 and nothing is drawn.")
        return mechanism

    def mechanism_for(self, count: int) -> Mechanism:
        """What draws the threshold of one diagnosis or group that has so many of the n records."""
        return group_rule(self.method).group_mechanism(count, self.n, self.alpha, self.threshold_epsilon, self.m)

    @property
    def coverage_expected(self) -> float:
        """The coverage to expect if scores are spread evenly over [0, 1]: an example, where the promise is a bound.

        With a promise for each diagnosis or group: of one that has its equal share of the records.
        """
        if self.is_trivial:
            return 1.0
        if self.per is None:
            return _expected_output(self.mechanism, self.n, self.m)
        usual = self.n // self.groups
        return _expected_output(self.mechanism_for(usual), usual, self.m)

    def document(self) -> dict[str, object]:
        """Every number, for JSON."""
        shown = ("m", "gamma", "level", "rank", "is_trivial", "coverage_expected")
        own = {name: getattr(self, name) for name in ("n", "alpha", "epsilon", "method", "coverage_lower", "per")}
        targets = [asdict(target) for target in self.targets]
        return own | {name: getattr(self, name) for name in shown} | {"targets": targets}

    def with_classes(self, classes: Sequence[str]) -> "Plan":
        """The plan for these diagnoses, where it was made for their number alone."""
        if self.per != DIAGNOSIS or self.names == tuple(classes):
            return self
        if len(classes) != self.groups:
            raise InputError(f"The plan is for {self.groups} classes but there are {len(classes)}.")
        if self.names != numbered(self.groups):
            raise InputError("The plan is for other classes than the records have; plan again for these.")
        named = (replace(target, of=name) for target, name in zip(self.score_targets, classes, strict=True))
        return replace(self, targets=(*named, *self.targets[self.groups :]))


def plan(
    n: int,
    alpha: float,
    epsilon: float,
    *,
    method: str = DEFAULT,
    m: int | None = None,
    gamma: float | None = None,
    per: str | None = None,
    classes: int | Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    novelty_share: float = 0.0,
    novelty_alpha: float = NOVELTY_ALPHA,
    novelty_m: int | None = None,
) -> Plan:
    """Plan a calibration. Deterministic, from public numbers alone, and free.

    Parameters
    ----------
    n : number of calibration records, one per patient where patients are known
    alpha : share of diagnoses that may be missed, above 0 and at most 0.5
    epsilon : privacy loss of the whole release; smaller is more private
    method : "sharp" (default) or "paper"
    m : number of bins; chosen (m*) where it is not given
    gamma : the paper's γ; chosen (γ*) where it is not given
    per : None promises the coverage for all patients together, "diagnosis" within each diagnosis, and the name of a
        column within each of its groups
    classes : the diagnoses or their number, with `per="diagnosis"`
    groups : the names of the groups, with another `per`
    novelty_share : share of ε for a threshold above which an X-ray is unlike the calibration's; 0: none. Where records
        are too few for both, the thresholds get all of ε.
    novelty_alpha, novelty_m : share of X-rays like the calibration's that it may flag, and its number of bins

    >>> p = plan(1000, 0.1, 1.0, method="paper", m=10_000)
    >>> round(p.gamma, 6), round(p.level, 6), p.is_trivial
    (0.022102, 0.933546, False)
    """
    n, alpha, epsilon = check_n(n), check_alpha(alpha), check_epsilon(epsilon)
    gamma = None if gamma is None else check_gamma(gamma)
    names = _names(per, classes, groups)

    def thresholds(part: float) -> Plan:
        if per is None:
            rule = rule_named(method)
            bins = best_m(n, alpha, part, method, gamma) if m is None else check_m(m)
            aim = rule.aim(n, alpha, part, bins, gamma)
            target = Target(SCORE, None, alpha, part, method, bins, aim.gamma, aim.level, aim.rank)
            return Plan(n, alpha, part, method, aim.coverage_lower, (target,))
        able = group_rule(method)
        no_gamma(gamma)
        bins = able.group_m(n, len(names), alpha, part) if m is None else check_m(m)
        each = tuple(Target(SCORE, name, alpha, part, method, bins) for name in names)
        return Plan(n, alpha, part, method, 1 - alpha, each, check_name(per))

    share, flagged = check_share(novelty_share), check_alpha(novelty_alpha)
    own_m = None if novelty_m is None else check_m(novelty_m)
    if share == 0:
        return thresholds(epsilon)
    own = float(_exact(epsilon) * _exact(share))
    if own >= LEAST_EPSILON and (rest := epsilon_less(epsilon, own)) >= LEAST_EPSILON:
        beside = novelty_target(n, flagged, own, own_m)
        if not beside.is_trivial and not (both := thresholds(rest)).is_trivial:
            return replace(both, epsilon=epsilon, targets=(*both.targets, beside))
    alone = thresholds(epsilon)
    nothing = Target(NOVELTY, None, flagged, 0.0, Sharp.name, own_m or Sharp.grid[0])
    return replace(alone, targets=(*alone.targets, nothing))


def novelty_target(n: int, alpha: float, epsilon: float, m: int | None = None) -> Target:
    """Novelty's quantile, by the sharp rule."""
    bins = best_m(n, alpha, epsilon, Sharp.name) if m is None else check_m(m)
    aim = Sharp().aim(n, alpha, epsilon, bins, None)
    return Target(NOVELTY, None, alpha, epsilon, Sharp.name, bins, None, aim.level, aim.rank)


def at_epsilon(planned: Plan, epsilon: float) -> Plan:
    """The thresholds of a plan with another ε; m and γ are chosen anew."""
    named: dict[str, Any] = {"classes" if planned.per == DIAGNOSIS else "groups": planned.names} if planned.per else {}
    return plan(planned.n, planned.alpha, epsilon, method=planned.method, per=planned.per, **named)


def epsilon_less(epsilon: float, part: float) -> float:
    """ε − part, rounded down: as the decimals that they print, which the ledger adds, both are no more than ε."""
    exact = _exact(epsilon) - _exact(part)
    rest = float(exact)
    return rest if _exact(rest) <= exact else math.nextafter(rest, 0)


def _exact(number: float) -> Fraction:
    return Fraction(Decimal(repr(number)))


def _names(per: str | None, classes: int | Sequence[str] | None, groups: Sequence[str] | None) -> tuple[str, ...]:
    """The diagnoses or groups that the promise holds within."""
    if per is None:
        if classes is not None or groups is not None:
            raise InputError("Classes and groups belong to a promise for each of them: say so with per.")
        return ()
    if per == DIAGNOSIS:
        if classes is None or groups is not None:
            raise InputError("A promise for each diagnosis needs classes, by name or number, and no groups.")
        if isinstance(classes, int):
            return numbered(check_count(classes, "classes"))
        names = check_names(classes, "classes")
    elif groups is None or classes is not None:
        raise InputError(f"A promise for each {check_name(per)} needs the names of the groups, and no classes.")
    else:
        names = check_names(groups, "groups")
    check_count(len(names), "classes" if per == DIAGNOSIS else "groups")
    return names


def group_rule(method: str) -> GroupRule:
    """The rule, if it can promise coverage within each diagnosis or group."""
    rule = rule_named(method)
    if not isinstance(rule, GroupRule):
        able = " or ".join(name for name, other in RULES.items() if isinstance(other, GroupRule))
        raise InputError(f"The {rule.label} holds for all patients together only; for each group use method='{able}'.")
    return rule


@lru_cache(maxsize=1024)
def best_m(n: int, alpha: float, epsilon: float, method: str, gamma: float | None = None) -> int:
    """m*: the number of bins on the rule's grid with the least expected ŝ on uniform scores, the least such m on ties.

    Fewer bins cost resolution, more bins cost level. See docs/method.md#choosing-m.
    """
    rule = rule_named(method)
    drawn = dict(zip(rule.grid, rule.candidates(n, alpha, epsilon, rule.grid, gamma), strict=True))
    useful = {m: mechanism for m, mechanism in drawn.items() if mechanism is not None}
    if not useful:
        return rule.grid[0]
    return least_of(
        useful,
        least=lambda m: useful[m].least_output(n, m),
        exact=lambda m: _expected_output(useful[m], n, m),
    )[1]


_expected_output = lru_cache(maxsize=4096)(expected_output)


def smallest_n(alpha: float, epsilon: float, method: str = DEFAULT, *, m: int | None = None) -> int:
    """The least number of records with which a set can leave anything out: with m bins, or with the fewest that are
    ever chosen, the first of the rule's grid. More records never turn a plan trivial again.
    """
    alpha, epsilon, m = check_alpha(alpha), check_epsilon(epsilon), None if m is None else check_m(m)
    if (found := rule_named(method).smallest_n(alpha, epsilon, m)) is None:
        raise InputError(f"No data set below {LARGEST_N:.0e} records is enough for this alpha and epsilon.")
    return found


def smallest_epsilon(n: int, alpha: float, method: str = DEFAULT, *, m: int | None = None) -> float:
    """The least ε with which n records let a set leave anything out: to the last bit, below 10⁻⁶ within 1%."""
    n, alpha, m = check_n(n), check_alpha(alpha), None if m is None else check_m(m)
    if (found := rule_named(method).smallest_epsilon(n, alpha, m)) is None:
        raise InputError(
            f"{n} records are too few at alpha = {alpha:g} whatever epsilon is; "
            f"at least {smallest_n(alpha, LARGEST_EPSILON, method, m=m)} are needed."
        )
    return found
