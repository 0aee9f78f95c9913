"""A calibration as a document, for those who answer for it and those who use its sets."""

from ppsets_core.diagnose.set_table import Provenance
from ppsets_core.ledger import Account, Ledger
from ppsets_core.ledger.amounts import shown
from ppsets_core.method.calibration import BaseCalibration, Calibration
from ppsets_core.method.plan import Plan
from ppsets_core.reports.html import Content, Html, bullets, element, facts, numbers, table
from ppsets_core.reports.sections import asked, report_page
from ppsets_core.wording import guarantee, names_of, needed, released, scope, unit_of

NOT_PROMISED = (
    "It is no promise about one patient, and it does not hold for another hospital, another machine or another model "
    "than calibrated.",
    "The calibration's own records must have been new to the model, and as the patients to come: ppsets cannot know.",
    "Several releases from the same patients add up. So does whatever else is published about them.",
)


def calibration_report(drawn: BaseCalibration, account: Account | None = None) -> str:
    """HTML, for screen and A4. `account`: who paid, to say what the budget is."""
    title = "Calibration report"
    of = f" of {drawn.dataset}" if isinstance(drawn, Calibration) and drawn.dataset else ""
    return report_page(
        f"{title}{of}",
        title,
        "Private prediction sets: the threshold that decides which diagnoses enter a set.",
        _first_numbers(drawn),
        element("h2", "What was asked"),
        facts(asked(drawn)),
        element("h2", "What is promised"),
        element("p", guarantee(drawn)) if isinstance(drawn, Calibration) else None,
        element("p", scope(drawn)),
        bullets(NOT_PROMISED),
        _released(drawn),
        _spent(drawn, account),
        origin=Provenance(drawn, None),
        model=drawn.model,
        classes=drawn.classes,
    )


def payer_of(drawn: BaseCalibration, ledger: Ledger) -> Account | None:
    """The account that paid for this very release, where this ledger shows it."""
    name = next((release.account for release in ledger.releases() if release.calibration == drawn), None)
    return None if name is None else ledger.account(name)


def _first_numbers(drawn: BaseCalibration) -> Html:
    first = {"coverage promised": f"≥ {100 * drawn.coverage_lower:.4g}%"}
    first["ε spent"] = f"{drawn.epsilon_spent:g}" if isinstance(drawn, Calibration) else "0 (simulation)"
    if drawn.per is None:
        first["threshold ŝ"] = f"{drawn.threshold:.6g}"
        first |= {"probability needed": needed(drawn.cutoff)} if drawn.has_cutoffs else {"score": f"{drawn.score}"}
    return numbers(first | {f"{unit_of(drawn)}s": f"{drawn.n:,}"})


def _released(drawn: BaseCalibration) -> list[Html]:
    thresholds = "The threshold" if drawn.per is None else f"A threshold for each {drawn.per}"
    also = " and one for novelty" if _has_tau(drawn) else ""
    parts = [
        element("h2", "What was released"),
        element(
            "p",
            f"{thresholds}{also}, and those numbers in this report that do not depend on the scores; nothing else.",
        ),
    ]
    if _has_tau(drawn):
        told = f"X-rays whose novelty is above τ̂ = {drawn.novelty_threshold:.6g} are marked as unfamiliar."
        parts.append(element("p", told))
    if drawn.per is None or not drawn.has_cutoffs:
        return [*parts, element("p", released(drawn))]
    each = zip(names_of(drawn), drawn.thresholds, drawn.cutoffs, strict=True)
    rows = [(name, f"{threshold:.6g}", needed(cutoff)) for name, threshold, cutoff in each]
    return [*parts, table(rows, [drawn.per, "ŝ", "probability needed"])]


def _has_tau(planned: Plan) -> bool:
    return planned.novelty is not None and not planned.novelty.is_trivial


def _spent(drawn: BaseCalibration, account: Account | None) -> list[Html]:
    parts: list[Html] = [element("h2", "What it cost")]
    if not isinstance(drawn, Calibration):
        return [*parts, element("p", "Nothing: a simulation protects nobody, so its records must be public.")]
    said: dict[str, Content] = {
        "ε spent": f"{drawn.epsilon_spent:g}",
        "Protects": f"one {drawn.unit}: whether it was there or another in its place, and what it said",
        "Charged to": account.name if account else drawn.dataset,
        "Budget": f"{shown(account.budget)} for each patient; releases under this name had cost {shown(account.spent)}"
        if account
        else None,
        "Drawn": _how(drawn),
    }
    return [*parts, facts(said)]


def _how(planned: Plan) -> str:
    if planned.is_trivial:
        return "not at all: with too few records the threshold is 1"
    words = f"by the exponential mechanism over {planned.m:,} bins"
    if planned.rank is not None:
        words += f", aimed at rank {planned.rank:,} of {planned.n:,}"
    elif planned.level is not None:
        words += f", aimed at level {planned.level:.6g}"
    if planned.gamma is not None:
        words += f" (γ = {planned.gamma:.4g})"
    if planned.per is not None:
        words += f", with half of the thresholds' ε for each {planned.per}, since one record may change two of them"
    if planned.novelty is not None and not planned.novelty.is_trivial:
        words += f"; of ε, {planned.novelty.epsilon:g} went to τ̂, drawn over {planned.novelty.m:,} bins"
    return f"{words}; drawn by OpenDP with exact arithmetic"
