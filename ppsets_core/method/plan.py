"""The plan: m*, γ*, the level or rank to aim at and the coverage promised, from n, α and ε alone. Costs no privacy."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from ppsets_core.errors import InputError
from ppsets_core.method.rules import DEFAULT, RULES, GroupRule, rule_named
from ppsets_core.method.rules.choosing_m import expected_output, least_of
from ppsets_core.method.rules.mechanism import Mechanism
from ppsets_core.method.rules.rank_quantile import RankQuantile
from ppsets_core.method.rules.rule import no_gamma
from ppsets_core.method.rules.sharp import Sharp
from ppsets_core.method.rules.sharp.bound import RHO
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


@dataclass(frozen=True)
class NoveltyTarget:
    """What is asked of τ̂, the threshold above which an X-ray is unlike the calibration's: its share of ε (0: there is
    none) and its miss rate, the share of X-rays like the calibration's that it may flag. m is chosen if not given."""

    share: float = 0.2
    alpha: float = 0.05
    m: int | None = None


@dataclass(frozen=True)
class NoveltyPlan(NoveltyTarget):
    """How τ̂ is drawn beside the thresholds, by the sharp rule with `epsilon` of the plan's ε.

    A `rank` of None: there are too few records, no alarm is possible, and all of ε goes to the thresholds.
    """

    m: int = 0
    epsilon: float = 0.0
    rank: int | None = None

    @property
    def is_possible(self) -> bool:
        return self.rank is not None

    @property
    def mechanism(self) -> Mechanism:
        """The exponential mechanism that draws τ̂, where one is drawn."""
        if self.rank is None:
            raise InputError("No alarm is possible with this plan: τ̂ is 1 and not drawn.")
        return RankQuantile(self.rank, self.epsilon, RHO)


@dataclass(frozen=True)
class Plan:
    """Everything about a calibration that can be known, and shown, before the data is touched.

    `method` names the rule. `gamma` and `rank` are None where the rule has none; a level of 1 or more means that the
    rule would need more records than there are. `per`: whom the promise holds for, all patients together (None), each
    diagnosis, or each of the named groups of a column; then level and rank follow from private counts: None.
    `novelty`: how τ̂ is drawn beside the thresholds, out of the same ε; None where it is not asked for.
    """

    n: int
    alpha: float
    epsilon: float
    method: str
    m: int
    gamma: float | None
    level: float | None
    rank: int | None
    coverage_lower: float
    per: str | None = None
    groups: int = 1
    group_names: tuple[str, ...] = ()
    novelty: NoveltyPlan | None = None

    @property
    def threshold_epsilon(self) -> float:
        """What τ̂ leaves of ε for the thresholds."""
        return self.epsilon if self.novelty is None else _less(self.epsilon, self.novelty.epsilon)

    @property
    def is_trivial(self) -> bool:
        """Too few records for this α and ε: ŝ = 1, every set holds every label, and no privacy is spent."""
        return self.per is None and self._mechanism is None

    @property
    def mechanism(self) -> Mechanism:
        """The exponential mechanism that draws ŝ; a trivial plan has none."""
        if self.per is not None:
            raise InputError(f"This plan draws a threshold for each {self.per}: use `mechanism_for`.")
        if (mechanism := self._mechanism) is None:
            raise InputError("This plan is trivial: ŝ is 1 and nothing is drawn.")
        return mechanism

    def mechanism_for(self, count: int) -> Mechanism:
        """What draws the threshold of one diagnosis or group that has so many of the n records. Which is private."""
        return group_rule(self.method).group_mechanism(count, self.n, self.alpha, self.threshold_epsilon, self.m)

    @property
    def usual_count(self) -> int:
        """The records of one diagnosis or group if all had equally many."""
        return self.n // self.groups

    @property
    def _mechanism(self) -> Mechanism | None:
        if self.level is None:
            return None
        return rule_named(self.method).mechanism(self.level, self.rank, self.threshold_epsilon)

    @property
    def coverage_expected(self) -> float:
        """The coverage to expect if scores are spread evenly over [0, 1]: an example, where the promise is a bound.

        With a promise for each diagnosis or group: of one that has its equal share of the records.
        """
        if self.is_trivial:
            return 1.0
        if self.per is None:
            return _expected_output(self.mechanism, self.n, self.m)
        return _expected_output(self.mechanism_for(self.usual_count), self.usual_count, self.m)


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
    novelty: NoveltyTarget | None = None,
) -> Plan:
    """The plan for n records; m* and γ* are chosen where they are not given. Deterministic and data-independent.

    `per="diagnosis"` promises coverage within each of the `classes`, `per="site"` (say) within each of the `groups` of
    that public column, which are named beforehand; of classes the number is enough. `novelty` asks for τ̂ too; where
    the records are too few for both, the thresholds get all of ε.

    >>> p = plan(1000, 0.1, 1.0, method="paper", m=10_000)
    >>> round(p.gamma, 6), round(p.level, 6), p.is_trivial
    (0.022102, 0.933546, False)
    """
    n, alpha, epsilon, rule = check_n(n), check_alpha(alpha), check_epsilon(epsilon), rule_named(method)
    gamma = None if gamma is None else check_gamma(gamma)
    grouped = None if per is None else (check_name(per), *_parts(per, classes, groups))
    if grouped is None and (classes is not None or groups is not None):
        raise InputError("Classes and groups belong to a promise for each of them: say so with per.")

    def with_epsilon(part: float) -> Plan:
        if grouped is not None:
            return _plan_per_group(n, alpha, part, method, m, gamma, *grouped)
        bins = best_m(n, alpha, part, method, gamma) if m is None else check_m(m)
        aim = rule.aim(n, alpha, part, bins, gamma)
        return Plan(n, alpha, part, method, bins, aim.gamma, aim.level, aim.rank, aim.coverage_lower)

    if novelty is None or check_share(novelty.share) == 0:
        return with_epsilon(epsilon)
    beside = _plan_novelty(n, epsilon, novelty)
    if beside.is_possible:
        both = with_epsilon(_less(epsilon, beside.epsilon))
        if not both.is_trivial:
            return replace(both, epsilon=epsilon, novelty=beside)
    return replace(with_epsilon(epsilon), novelty=replace(beside, epsilon=0.0, rank=None))


def at_epsilon(planned: Plan, epsilon: float) -> Plan:
    """The same plan with another ε; m and γ are chosen anew."""
    grouped = planned.per is not None
    return plan(
        planned.n,
        planned.alpha,
        epsilon,
        method=planned.method,
        per=planned.per,
        classes=planned.groups if grouped and not planned.group_names else None,
        groups=planned.group_names or None,
        novelty=asked_of(planned.novelty),
    )


def asked_of(planned: NoveltyPlan | None) -> NoveltyTarget | None:
    """What a plan for τ̂ was asked for; m is chosen anew."""
    return None if planned is None else NoveltyTarget(planned.share, planned.alpha)


def _plan_novelty(n: int, epsilon: float, asked: NoveltyTarget) -> NoveltyPlan:
    share, alpha = check_share(asked.share), check_alpha(asked.alpha)
    m = None if asked.m is None else check_m(asked.m)
    own = float(_exact(epsilon) * _exact(share))
    if own < LEAST_EPSILON or _less(epsilon, own) < LEAST_EPSILON:
        return NoveltyPlan(share, alpha, m or Sharp.grid[0])
    m = best_m(n, alpha, own, Sharp.name) if m is None else m
    return NoveltyPlan(share, alpha, m, own, Sharp().aim(n, alpha, own, m, None).rank)


def _less(epsilon: float, part: float) -> float:
    """ε − part, rounded down: as the decimals that they print, which the ledger adds, both are no more than ε."""
    exact = _exact(epsilon) - _exact(part)
    rest = float(exact)
    return rest if _exact(rest) <= exact else math.nextafter(rest, 0)


def _exact(number: float) -> Fraction:
    return Fraction(Decimal(repr(number)))


def _plan_per_group(
    n: int,
    alpha: float,
    epsilon: float,
    method: str,
    m: int | None,
    gamma: float | None,
    per: str,
    groups: int,
    names: tuple[str, ...],
) -> Plan:
    rule = group_rule(method)
    no_gamma(gamma)
    m = rule.group_m(n, groups, alpha, epsilon) if m is None else check_m(m)
    return Plan(n, alpha, epsilon, method, m, None, None, None, 1 - alpha, per, groups, names)


def _parts(per: str, classes: int | Sequence[str] | None, groups: Sequence[str] | None) -> tuple[int, tuple[str, ...]]:
    """How many diagnoses or groups there are, and the groups' names."""
    if per == DIAGNOSIS:
        if classes is None or groups is not None:
            raise InputError("A promise for each diagnosis needs classes, by name or number, and no groups.")
        return check_count(classes if isinstance(classes, int) else len(check_names(classes, "classes")), "classes"), ()
    if groups is None or classes is not None:
        raise InputError(f"A promise for each {per} needs the names of the groups, and no classes.")
    names = check_names(groups, "groups")
    return check_count(len(names), "groups"), names


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
    """The least ε, to the last bit of a float, with which n records let a set leave anything out, likewise."""
    n, alpha, m = check_n(n), check_alpha(alpha), None if m is None else check_m(m)
    if (found := rule_named(method).smallest_epsilon(n, alpha, m)) is None:
        raise InputError(
            f"{n} records are too few at alpha = {alpha:g} whatever epsilon is; "
            f"at least {smallest_n(alpha, LARGEST_EPSILON, method, m=m)} are needed."
        )
    return found
