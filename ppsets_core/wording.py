"""The sentences about plans and calibrations that commands, screens and reports share."""

import math
from collections.abc import Sequence

from ppsets_core.errors import InputError
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.method.plan import DIAGNOSIS, Plan, smallest_epsilon, smallest_n
from ppsets_core.method.rules import rule_named
from ppsets_core.method.sets import conformal_rank
from ppsets_core.scores import Aps, ClassScore, Cqr, IntervalScore, Own, Raps, Residual

WEAK_EPSILON = 5
PROTECTED = {"record": "calibration record", "patient": "patient of the calibration"}
MARGINAL = "Coverage is an average over patients like those of the calibration, not a guarantee for any single patient."
WITHIN_EACH = (
    "Coverage is an average over patients of one {per} like those of the calibration, not a guarantee for any single "
    "patient."
)
BUNDLED_MODEL_IS_FOR = (
    "The bundled model is for frontal chest X-rays of children aged 1–5 from one hospital. It knows bacterial "
    "pneumonia, normal and viral pneumonia (COVID-19 counts as viral), and looks for nothing else."
)
NO_COVID = "COVID-19 counts as viral pneumonia: the model has no COVID class."
CLASS_NAMES = {
    "bacterial-pneumonia": "Bacterial pneumonia",
    "normal": "Normal",
    "viral-pneumonia": "Viral pneumonia",
}
NOT_A_DEVICE = "Not a medical device: for research and teaching, never for diagnosis."
SIMULATED = "This calibration is a simulation, not a private release."
TRIVIAL = "The calibration had too few records: every set holds every diagnosis."
FULL = "Every set holds every diagnosis: ŝ came out as 1."
PRIVATE_TRAINING = (
    "(ε, δ) protects each X-ray that the last layer learns from, added or removed, in the weights written. A patient "
    "with several X-rays loses ε once for each. The number of X-rays and the classes are public; the classes are named "
    "beforehand or come from the starting weights, never from the labels. Not protected: the losses and accuracies "
    "shown here, and the X-rays behind the starting weights. The noise is torch's, seeded by the operating system, "
    "not a cryptographic source."
)
ADDS_UP = (
    "Losses add up for each patient. ε is added to that of calibrations, checks and other trainings, k times for k "
    "X-rays. δ is added to that of other trainings, k·e^((k−1)ε) times for k X-rays, up to 0.01 in all. Together they "
    "protect the patient like one release with the two sums."
)


def class_names(classes: Sequence[str]) -> tuple[str, ...]:
    """Classes for people: the bundled model's in words, any others as they are. Files keep the names they have.

    >>> class_names(["normal", "viral-pneumonia"]), class_names(["normal", "tuberculosis"])
    (('Normal', 'Viral pneumonia'), ('normal', 'tuberculosis'))
    """
    return tuple(CLASS_NAMES[name] if set(classes) <= set(CLASS_NAMES) else name for name in classes)


def unit_of(plan: Plan) -> str:
    """What ε protects one of, "patient" or "record": a calibration says it, a bare plan and a simulation do not."""
    return getattr(plan, "unit", "record")


def counted(number: int, unit: str) -> str:
    """So many records, or patients where each has one.

    >>> counted(500, "patient"), counted(1, "record")
    ('500 patients', '1 record')
    """
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def guarantee(plan: Plan, unit: str | None = None) -> str:
    """What the plan promises, and to whom. `unit`: "record" or "patient", where the plan does not say it."""
    unit = unit or unit_of(plan)
    if plan.is_trivial:
        return "Every set holds every diagnosis: always right, never informative. The data is not used; no ε is spent."
    weak = f", which is weak: the odds about a {unit} may shift by a factor of {_factor(plan.epsilon)}"
    score = plan.score if isinstance(plan, BaseCalibration) else None
    covered = "number is in the interval" if isinstance(score, IntervalScore) else "diagnosis is in the set"
    covered = "score is at most ŝ" if isinstance(score, Own) else covered
    start = "The true" if plan.per is None else f"Within each {plan.per}, the true"
    return (
        f"{start} {covered} with probability at least {100 * plan.coverage_lower:.4g}%. "
        f"Each {PROTECTED[unit]} is protected by {plan.epsilon:g}-differential privacy"
        f"{weak if plan.epsilon > WEAK_EPSILON else ''}."
    )


def familiar_or_not(plan: Plan) -> str:
    """Which unfamiliar X-rays will be marked: by the public threshold always, by a private one for a share of ε."""
    always = "X-rays unlike those that the bundled model was trained on are marked, at no cost in ε."
    if plan.novelty is None:
        return f"{always} X-rays unlike those of your calibration are not."
    if plan.novelty.is_trivial:
        return f"{always} There are too few records to mark those unlike your calibration: all of ε goes to coverage."
    return (
        f"{always} Those unlike your calibration are marked, too: on average at most {100 * plan.novelty.alpha:g}% of "
        f"patients like those in it. This takes ε = {plan.novelty.epsilon:g} of {plan.epsilon:g} and leaves "
        f"{plan.threshold_epsilon:g}."
    )


def scope(plan: Plan) -> str:
    """Which patients the coverage is an average over."""
    return MARGINAL if plan.per is None else WITHIN_EACH.format(per=plan.per)


def weak_budget(budget: float) -> str:
    """A warning about a budget that protects almost nobody; '' for a smaller one."""
    if budget <= 2 * WEAK_EPSILON:
        return ""
    return (
        f"A budget of {budget:,g} protects almost nobody: spent in full, it can shift the odds about a record by a "
        f"factor of {_factor(budget)}. Budgets of a few units are usual."
    )


def _factor(epsilon: float) -> str:
    """e^ε as a whole number up to a million, then as a power of ten."""
    if epsilon > 700:
        return "more than 10^300"
    factor = math.exp(epsilon)
    return f"{float(f'{factor:.2g}'):,.0f}" if factor < 1e6 else f"10^{math.log10(factor):.0f}"


def remedy(plan: Plan) -> str:
    """How many records, or which ε, would make a trivial plan useful."""
    fewest = rule_named(plan.method).grid[0]
    enough = smallest_n(plan.alpha, plan.epsilon, plan.method)
    records = f"With ε = {plan.epsilon:g} you need {enough:,} records (in {fewest} bins)"
    try:
        epsilon = smallest_epsilon(plan.n, plan.alpha, plan.method)
    except InputError:
        return f"{records}. {plan.n:,} records are too few for any ε."
    return f"{records}; with {plan.n:,} records you need ε = {rounded_up(epsilon):g}."


def rounded_up(epsilon: float, digits: int = 3) -> float:
    """ε rounded up to a few digits, so that people can type it."""
    short = float(f"{epsilon:.{digits}g}")
    return short if short >= epsilon else float(f"{epsilon * (1 + 10.0 ** (1 - digits)):.{digits}g}")


def price_in_ranks(plan: Plan) -> float:
    """The extra margin for privacy: how many ranks above split conformal prediction the rule aims."""
    if plan.level is None:
        raise InputError("With a threshold for each diagnosis, the rank depends on a private count.")
    return plan.level * plan.n - conformal_rank(plan.n, plan.alpha)


def meaning(drawn: BaseCalibration) -> str:
    """Which diagnoses a set lists, or how far an interval reaches."""
    if drawn.is_full and isinstance(drawn.score, ClassScore):
        return TRIVIAL if drawn.is_trivial else FULL
    if not drawn.has_cutoffs:
        return _meaning_of_score(drawn)
    if drawn.per is None:
        return f"The set lists every diagnosis with probability {needed(drawn.cutoff)}."
    each = ", ".join(f"{name} {needed(cutoff)}" for name, cutoff in zip(names_of(drawn), drawn.cutoffs, strict=True))
    by = "" if drawn.per == DIAGNOSIS else f", by {drawn.per}"
    return f"The set lists a diagnosis if its probability is{by}: {each}."


def needed(cutoff: float) -> str:
    """The probability that a diagnosis needs to be in the set.

    >>> needed(0.246), needed(0.0)
    ('≥ 0.246', 'any (always listed)')
    """
    return f"≥ {cutoff:.4g}" if cutoff else "any (always listed)"


def names_of(drawn: BaseCalibration) -> tuple[str, ...]:
    """Whom each threshold is for, for people."""
    return class_names(drawn.names) if drawn.per == DIAGNOSIS else drawn.names


def _meaning_of_score(drawn: BaseCalibration) -> str:
    limits = [f"{name} {t:.4g}" for name, t in zip(names_of(drawn), drawn.thresholds, strict=True)] if drawn.per else []
    upto = f"ŝ of its {drawn.per}: {', '.join(limits)}" if drawn.per else f"ŝ = {drawn.threshold:.4g}"
    return {
        Aps: f"The set lists the likeliest diagnoses, as long as their probabilities add up to at most {upto}.",
        Raps: f"The set lists the likeliest diagnoses, as long as their score by {drawn.score} is at most {upto}.",
        Residual: f"The interval is the prediction ± {_bound(drawn)} times {upto}; where ŝ is 1, the whole line.",
        Cqr: f"The interval is the two quantiles moved outwards by {_bound(drawn)} times 2ŝ − 1, {upto}; where ŝ is 1, "
        "the whole line.",
        Own: f"A score is covered if it is at most {upto}. It is your own score, so ppsets makes no sets of it.",
    }[type(drawn.score)]


def _bound(drawn: BaseCalibration) -> str:
    return f"{drawn.score.bound:g}" if isinstance(drawn.score, IntervalScore) else ""


def released(drawn: BaseCalibration) -> str:
    """The thresholds themselves, and which diagnoses a set lists with them."""
    if drawn.per is not None or drawn.is_full:
        return meaning(drawn)
    return f"Threshold: ŝ = {drawn.threshold:.6g}. {meaning(drawn)}"


def describe(drawn: Plan) -> str:
    """α, ε, rule and n in a few words."""
    per = "" if drawn.per is None else f", for each {drawn.per}"
    rule = rule_named(drawn.method).label
    return f"α = {drawn.alpha:g}, ε = {drawn.epsilon:g}{per}, the {rule}, n = {counted(drawn.n, unit_of(drawn))}"


def with_margin(mean: float, margin: float) -> str:
    """A mean with the half-width of its 95% interval, rounded up.

    >>> with_margin(1.2951, 0.0043)
    '1.30 ± 0.01'
    """
    return f"{mean:.2f} ± {math.ceil(100 * margin) / 100:.2f}"
