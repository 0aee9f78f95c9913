"""The plan that follows the sliders: its picture, its numbers, and what is behind them. Public and free."""

import numpy as np
import streamlit as st

from pages.widgets.session import bundled_scores
from pages.widgets.settings import EACH, TOGETHER, apply_epsilon, choose_radio, kept
from pages.widgets.what_if import show_curves
from ppsets_core import FileError, InputError, Plan, evaluate, plan, smallest_epsilon
from ppsets_core.data.counts import DescribedRecords
from ppsets_core.explore.expected_sets import ExpectedSets, expected_sets
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.what_if import Choice
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules import RULES, GroupRule
from ppsets_core.method.sets import conformal_rank
from ppsets_core.scores import SCORES, ClassScore
from ppsets_core.wording import class_names, familiar_or_not, guarantee, price_in_ranks, remedy, rounded_up, with_margin

NOVELTY_HELP = (
    "X-rays unlike those that the bundled model was trained on are always marked, for free. A share above 0 also "
    "releases a private threshold, which marks those unlike your calibration."
)
EXPECTED_HELP = "If the scores are spread evenly over [0, 1]. The promise holds whatever the scores are."
SIZE_HELP = "Diagnoses in a set, on as many of the public CoronaHack scores; ± is a 95% margin of the mean."
M_HELP = "The threshold is one of m evenly spaced values. m\\* is the best m for n, α and ε."
GAMMA_HELP = "The share of the error allowance that the paper's rule keeps for the noise."
EACH_HELP = "Changing one record's diagnosis changes two classes, so each class is drawn with half of ε."
PROMISE_HELP = "Together, one diagnosis may get more coverage and another less. For each, all get what was asked for."
SCORE_HELP = (
    "How a probability becomes a score. lac: smallest sets. aps: larger sets where the model is unsure. "
    "raps: like aps, with fewer very large sets. Their scores crowd near 1, where a private threshold is coarse: see "
    "the set size."
)
ALWAYS_LARGE = 0.995


def make_plans(
    n: int, alpha: float, epsilon: float, m: int | None, gamma: float | None, classes: int | None, share: float
) -> dict[str, Plan]:
    """Plan by every rule that can keep the promise.

    gamma: only for rules that have one. classes: promise coverage for each of so many diagnoses. share: for novelty."""
    plans = {}
    for name, rule in RULES.items():
        if classes is None:
            own = gamma if rule.has_gamma else None
            plans[name] = plan(n, alpha, epsilon, method=name, m=m, gamma=own, novelty_share=share)
        elif isinstance(rule, GroupRule):
            plans[name] = plan(n, alpha, epsilon, method=name, m=m, per=DIAGNOSIS, classes=classes, novelty_share=share)
    return plans


def show_plan(
    plans: dict[str, Plan], rule: str, m: int | None, gamma: float | None, unit: str, score: ClassScore
) -> None:
    """The picture above the numbers, which are there first."""
    chosen, picture = plans[rule], st.container()
    with st.container(key="plan"):
        if chosen.is_trivial:
            _show_trivial(chosen, m, gamma)
            _offer_other(plans)
        else:
            found = _expected_sets(chosen, score)
            _numbers(chosen, found)
            if found is not None and chosen.per is None:
                st.markdown(_by_diagnosis(found.coverage_by_class, 1 - chosen.alpha))
        for name in RULES:
            if name != rule:
                st.markdown(f":small[{_in_short(plans.get(name) or _together(chosen, name), score)}]")
    with st.popover("Behind these numbers"):
        for planned in plans.values():
            st.markdown(_behind(planned, unit))
    with picture:
        show_curves(Choice(chosen.n, chosen.alpha, chosen.epsilon, chosen.per), "epsilon", "plan", score, beside=True)


def _numbers(planned: Plan, found: ExpectedSets | None) -> None:
    with st.container(horizontal=True, gap="medium"):
        st.metric("Promised", f"≥ {100 * planned.coverage_lower:.1f}%", width="content")
        st.metric("Expected", f"{100 * planned.coverage_expected:.1f}%", help=EXPECTED_HELP, width="content")
        if found is not None:
            st.metric("Set size", with_margin(found.mean_size, found.margin), help=SIZE_HELP, width="content")
        st.metric("m\\*", f"{planned.m:,}", help=M_HELP, width="content")
        if planned.per is None:
            st.metric("γ\\*", _gamma(planned), help=GAMMA_HELP, width="content")
        else:
            st.metric("ε for each", f"{planned.threshold_epsilon / 2:g}", help=EACH_HELP, width="content")
    if planned.per is not None and planned.coverage_expected > ALWAYS_LARGE:
        words = "Too few records for each diagnosis at this α and ε: sets will leave almost nothing out."
        st.warning(words, icon=":material/block:")


def show_coverage_of_each(calibration: BaseCalibration) -> None:
    """What one threshold for all covers of each diagnosis, on the public scores of the same model."""
    public = bundled_scores()
    if calibration.per is None and calibration.model == public.model and public.probabilities is not None:
        found = evaluate(public.probabilities, public.labels, calibration)
        st.markdown(_by_diagnosis(found.coverage_by_class, 1 - calibration.alpha))


def _by_diagnosis(covered: np.ndarray, asked: float) -> str:
    """Coverage of each diagnosis on the public scores, marked where it is below what was asked for."""
    each = zip(class_names(bundled_scores().classes), covered, strict=True)
    told = " · ".join(f"{name} **{'> 99%' if 0.995 <= share < 1 else f'{share:.0%}'}**" for name, share in each)
    below = " :material/warning: Below what is asked for: promise it for each diagnosis."
    return f":small[By diagnosis (CoronaHack): {told}.{below if min(covered) < asked - 0.005 else ''}]"


def _in_short(planned: Plan, score: ClassScore) -> str:
    """A rule that is not chosen, in a line."""
    start = f"The {RULES[planned.method].label}: "
    if planned.is_trivial:
        return start + "too few records."
    found = _expected_sets(planned, score)
    size = "" if found is None else f" · set size {found.mean_size:.2f}"
    return f"{start}m\\* {planned.m:,} · γ\\* {_gamma(planned)}{size} · promised ≥ {100 * planned.coverage_lower:.1f}%"


def _gamma(planned: Plan) -> str:
    return "none" if planned.gamma is None else f"{planned.gamma:.3g}"


def _together(planned: Plan, rule: str) -> Plan:
    """By a rule that cannot give a promise to each: to all together."""
    return plan(planned.n, planned.alpha, planned.epsilon, method=rule)


def _behind(planned: Plan, unit: str) -> str:
    """How far the rule aims above ordinary calibration, and the whole promise."""
    title = f"**The {RULES[planned.method].label}.** {RULES[planned.method].sentence}"
    aim = ""
    if planned.level is not None and not planned.is_trivial:
        rank, n = planned.level * planned.n, planned.n  # the paper's level lies between two ranks
        about = "" if abs(rank - round(rank)) < 1e-6 else "about "
        margin = f"{price_in_ranks(planned):,.1f}".removesuffix(".0")
        aim = (
            f"It aims at level {planned.level:.4f}: {about}rank {rank:,.0f} of {n:,} scores, where "
            f"{conformal_rank(n, planned.alpha):,} is enough without privacy. "
            f"Extra margin for privacy: {margin} of {n:,} records. "
        )
    return f"{title} {aim}{guarantee(planned, unit)} {familiar_or_not(planned)}"


@st.cache_data(max_entries=500, show_spinner=False)
def _expected_sets(planned: Plan, score: ClassScore) -> ExpectedSets | None:
    """On the bundled public scores; None for another number of diagnoses than theirs."""
    try:
        public = bundled_scores()
    except FileError:
        return None
    if planned.per is not None and planned.groups != len(public.classes):
        return None
    return expected_sets(Labelled.of(public, score), planned, np.random.default_rng(0))


def _show_trivial(planned: Plan, m: int | None, gamma: float | None) -> None:
    st.warning(f"Too few records for this α and ε. {guarantee(planned)}", icon=":material/block:")
    gamma = gamma if RULES[planned.method].has_gamma else None
    if m is not None or gamma is not None:
        st.write("m or γ is set by hand under “Advanced”; leave them empty to have the best ones chosen.")
    else:
        st.write(remedy(planned))
    enough = _enough_epsilon(planned, m, gamma)
    if enough is not None:
        st.button(f"Use ε = {enough:g}", key=f"apply_{planned.method}", on_click=apply_epsilon, args=(enough,))


def _offer_other(plans: dict[str, Plan]) -> None:
    """Offer another rule where the chosen one has too few records."""
    for other, planned in plans.items():
        if not planned.is_trivial:
            words, chosen_rule = f"Use the {RULES[other].label}: these are enough", {"rule": other}
            st.button(words, key=f"use_{other}", on_click=st.session_state.update, args=(chosen_rule,))


def choose_promise(records: DescribedRecords) -> int | None:
    """Whom the promise holds for: None for all patients together, else each of so many diagnoses."""
    if not records.classes:
        st.caption("The promise holds for all patients together; for each diagnosis it needs labels, not scores only.")
        return None
    promise = choose_radio("The promise holds for", [TOGETHER, EACH], "promise", help=PROMISE_HELP)
    return None if promise == TOGETHER else len(records.classes)


def choose_novelty(records: DescribedRecords) -> float:
    """The share of ε that a novelty threshold gets; 0 where the records do not say how unfamiliar each is."""
    if not records.has_novelty:
        return 0.0
    key, so_far = "novelty_share", kept("novelty_share", 0.0)
    look = ("Share of ε for a private novelty threshold", 0.0, 0.5, so_far, 0.05, "percent", key, NOVELTY_HELP)
    return round(st.slider(*look, persist_state="session"), 6)


def choose_rule(able: list[str]) -> str:
    """The session's rule, among those that can keep the promise that is asked for."""
    if len(able) > 1:
        return choose_radio("Rule", able, "rule", lambda name: RULES[name].label.capitalize())
    others = " and ".join(f"the {rule.label}" for name, rule in RULES.items() if name not in able)
    st.caption(f"Rule: the {RULES[able[0]].label}; {others} would hold for all patients together only.")
    return able[0]


def choose_score() -> ClassScore:
    """One of the scores that need no parameter."""
    able: dict[str, type[ClassScore]] = {name: one for name, one in SCORES.items() if issubclass(one, ClassScore)}
    return able[choose_radio("Score", list(able), "score", help=SCORE_HELP)]()


def _enough_epsilon(planned: Plan, m: int | None, gamma: float | None) -> float | None:
    """The least ε of three digits that makes the plan useful; None where none does."""
    try:
        epsilon = rounded_up(smallest_epsilon(planned.n, planned.alpha, planned.method, m=m))
    except InputError:
        return None
    useful = plan(planned.n, planned.alpha, epsilon, method=planned.method, m=m, gamma=gamma)
    return None if useful.is_trivial else epsilon
