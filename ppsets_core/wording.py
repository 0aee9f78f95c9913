"""Plans and calibrations in plain sentences, the same on the command line and on every screen."""

import math

from ppsets_core.calibration import Calibration
from ppsets_core.errors import InputError
from ppsets_core.planning import Plan, smallest_epsilon, smallest_n
from ppsets_core.split_conformal import conformal_rank

WEAK_EPSILON = 5
PROTECTED = {"record": "calibration record", "patient": "patient of the calibration"}
MARGINAL = "Coverage is marginal: over patients like these, not a promise about this one."
NOT_A_DEVICE = "Not a medical device: for research and teaching, never for diagnosis."


def guarantee(plan: Plan, unit: str = "record") -> str:
    """What the plan promises, in one or two sentences; `unit` says whom: one record, or one patient."""
    if plan.is_trivial:
        return (
            "Every set holds every diagnosis: always right, never informative. The data is not used and no ε is spent."
        )
    return (
        f"The true diagnosis is in the set with probability at least {100 * plan.coverage_lower:.4g}%"
        f"{_from_above(plan)}. Each {PROTECTED[unit]} is protected by {plan.epsilon:g}-differential privacy"
        f"{_how_weak(plan.epsilon, unit)}."
    )


def _how_weak(epsilon: float, unit: str) -> str:
    if epsilon <= WEAK_EPSILON:
        return ""
    return f", which is weak: the odds about a {unit} may shift by a factor of {math.exp(min(epsilon, 700)):.0e}"


def _from_above(plan: Plan) -> str:
    if plan.coverage_upper >= 1:
        return ""
    return f" (and at most {100 * plan.coverage_upper:.4g}% for evenly spread scores)"


def remedy(plan: Plan) -> str:
    """What would make a trivial plan useful: enough records, or a large enough ε."""
    records = f"At ε = {plan.epsilon:g}, {smallest_n(plan.alpha, plan.epsilon, plan.method):,} records would be enough"
    try:
        epsilon = smallest_epsilon(plan.n, plan.alpha, plan.method)
    except InputError:
        return f"{records}; with {plan.n:,} records no ε is."
    return f"{records}; with {plan.n:,} records, ε = {rounded_up(epsilon):g} would be."


def rounded_up(epsilon: float, digits: int = 3) -> float:
    """The least number of a few digits that is no smaller: an ε that people can type."""
    short = float(f"{epsilon:.{digits}g}")
    return short if short >= epsilon else float(f"{epsilon * (1 + 10.0 ** (1 - digits)):.{digits}g}")


def price_in_ranks(plan: Plan) -> float:
    """How many ranks above ordinary split conformal the private rule aims: the price of privacy."""
    return plan.level * plan.n - conformal_rank(plan.n, plan.alpha)


def meaning(calibration: Calibration) -> str:
    """What ŝ does to a set."""
    return (
        f"A diagnosis is in the set where the model gives it a probability of at least {calibration.cutoff:.4g} "
        f"(1 − ŝ, ŝ = {calibration.threshold:.6g})."
    )
