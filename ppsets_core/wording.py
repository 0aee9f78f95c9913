"""Plans and calibrations in plain sentences, the same on the command line and on every screen."""

import math

from ppsets_core.errors import InputError
from ppsets_core.method.calibration import Drawn
from ppsets_core.method.plan import DIAGNOSIS, Plan, smallest_epsilon, smallest_n
from ppsets_core.method.rules import rule_named
from ppsets_core.method.sets import conformal_rank

WEAK_EPSILON = 5
PROTECTED = {"record": "calibration record", "patient": "patient of the calibration"}
MARGINAL = "Coverage is an average over patients like these, not a promise about this one."
WITHIN_EACH = "Coverage is an average over patients like these with the same {per}, not a promise about this one."
BUNDLED_MODEL_IS_FOR = (
    "The bundled model is for frontal chest X-rays of children of one to five from one hospital. It tells three "
    "classes apart, bacterial pneumonia, normal and viral pneumonia, and looks for nothing else."
)
NOT_A_DEVICE = "Not a medical device: for research and teaching, never for diagnosis."
SIMULATED = "This calibration is a simulation: its threshold was drawn for a trial and is no private release."
TRIVIAL = "This calibration had too few records: every set holds every diagnosis."
PRIVATE_TRAINING = (
    "What (ε, δ) protects: each X-ray that the last layer is trained on, one added or removed, in the weights written; "
    "for a patient with several of them, ε counts once for each. Their number and the classes count as public; the "
    "classes are the starting weights' or named beforehand, never taken from the labels. "
    "It covers neither the losses and accuracies shown here nor the X-rays behind the starting weights. "
    "The noise is torch's, seeded by the operating system; it is not a cryptographic source."
)
ADDS_UP = (
    "How losses add up, for each patient: ε to the ε of calibrations, checks and other trainings, k times for k X-rays "
    "of the patient; δ to the δ of other trainings, k·e^((k−1)ε) times of it for k X-rays, and at most 0.01 in all. "
    "All of them together protect the patient as one release of the two sums would."
)


def guarantee(plan: Plan, unit: str = "record") -> str:
    """What the plan promises, in one or two sentences; `unit` says whom: one record, or one patient."""
    if plan.is_trivial:
        return (
            "Every set holds every diagnosis: always right, never informative. The data is not used and no ε is spent."
        )
    start = "The true diagnosis" if plan.per is None else f"Within each {plan.per}, the true diagnosis"
    return (
        f"{start} is in the set with probability at least {100 * plan.coverage_lower:.4g}%. "
        f"Each {PROTECTED[unit]} is protected by {plan.epsilon:g}-differential privacy"
        f"{_how_weak(plan.epsilon, unit)}."
    )


def rule_in_words(method: str) -> str:
    """Which rule, and whether the paper has it."""
    label = rule_named(method).label
    return (
        f"The {label}." if method == "paper" else f"The {label} of ppsets, which is not in the paper (docs/method.md)."
    )


def familiar_or_not(plan: Plan) -> str:
    """What a plan with a novelty threshold will tell of new X-rays, and what that takes of ε."""
    assert plan.novelty is not None
    if plan.novelty.is_trivial:
        return (
            "No alarm possible: there are too few records to tell X-rays that are unlike these at this share of ε. "
            "All of ε goes to the thresholds."
        )
    return (
        f"X-rays unlike these will be marked: of patients like these at most {100 * plan.novelty.alpha:g}% are, on "
        f"average. It takes ε = {plan.novelty.epsilon:g} of the {plan.epsilon:g}, "
        f"and leaves {plan.threshold_epsilon:g} for the rest."
    )


def scope(plan: Plan) -> str:
    """Whom the average is over."""
    return MARGINAL if plan.per is None else WITHIN_EACH.format(per=plan.per)


def _how_weak(epsilon: float, unit: str) -> str:
    if epsilon <= WEAK_EPSILON:
        return ""
    return f", which is weak: the odds about a {unit} may shift by a factor of {_factor(epsilon)}"


def weak_budget(budget: float) -> str:
    """What a budget beyond which hardly anything is protected means; '' below that."""
    if budget <= 2 * WEAK_EPSILON:
        return ""
    return (
        f"A budget of {budget:,g} protects hardly anyone: spent in full, the odds about a record may shift by a factor "
        f"of {_factor(budget)}. A few units in total are usual."
    )


def _factor(epsilon: float) -> str:
    """e^ε as people read numbers: whole up to a million, then as a power of ten."""
    if epsilon > 700:
        return "more than 10^300"
    factor = math.exp(epsilon)
    return f"{float(f'{factor:.2g}'):,.0f}" if factor < 1e6 else f"10^{math.log10(factor):.0f}"


def remedy(plan: Plan) -> str:
    """What would make a trivial plan useful: enough records, or a large enough ε."""
    fewest = rule_named(plan.method).grid[0]
    enough = smallest_n(plan.alpha, plan.epsilon, plan.method)
    records = f"At ε = {plan.epsilon:g}, {enough:,} records would be enough (with {fewest} bins)"
    try:
        epsilon = smallest_epsilon(plan.n, plan.alpha, plan.method)
    except InputError:
        return f"{records}; with {plan.n:,} records no ε would be."
    return f"{records}; with {plan.n:,} records, ε = {rounded_up(epsilon):g} would be."


def rounded_up(epsilon: float, digits: int = 3) -> float:
    """The least number of a few digits that is no smaller: an ε that people can type."""
    short = float(f"{epsilon:.{digits}g}")
    return short if short >= epsilon else float(f"{epsilon * (1 + 10.0 ** (1 - digits)):.{digits}g}")


def price_in_ranks(plan: Plan) -> float:
    """How many ranks above ordinary split conformal the private rule aims: the price of privacy."""
    if plan.level is None:
        raise InputError("Where each diagnosis has a threshold of its own, its rank depends on its private count.")
    return plan.level * plan.n - conformal_rank(plan.n, plan.alpha)


def meaning(drawn: Drawn) -> str:
    """What ŝ does to a set."""
    if drawn.per is None:
        return (
            f"A diagnosis is in the set where the model gives it a probability of at least {drawn.cutoff:.4g} "
            f"(1 − ŝ, ŝ = {drawn.threshold:.6g})."
        )
    needed = ", ".join(f"{name} {1 - t:.4g}" for name, t in zip(drawn.names, drawn.thresholds, strict=True))
    if drawn.per == DIAGNOSIS:
        return f"A diagnosis is in the set where the model gives it at least its own probability (1 − ŝ): {needed}."
    return f"A diagnosis is in the set where the model gives it the probability that the {drawn.per} asks: {needed}."


def describe(drawn: Plan, unit: str = "record") -> str:
    """The public choices in a few words."""
    per = "" if drawn.per is None else f", for each {drawn.per}"
    rule = rule_named(drawn.method).label
    return f"α = {drawn.alpha:g}, ε = {drawn.epsilon:g}{per}, the {rule}, n = {drawn.n:,} {unit}s"


def with_margin(mean: float, margin: float) -> str:
    """A mean with the half-width of its 95% interval, which is rounded up.

    >>> with_margin(1.2951, 0.0043)
    '1.30 ± 0.01'
    """
    return f"{mean:.2f} ± {math.ceil(100 * margin) / 100:.2f}"


def duration(seconds: float) -> str:
    """A time to come, in as many words as its guess is worth.

    >>> duration(3), duration(42), duration(100), duration(4000)
    ('a few seconds', 'about 40 seconds', 'about 2 minutes', 'about 1.1 hours')
    """
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 3600 else f"about {seconds / 3600:.1f} hours"
