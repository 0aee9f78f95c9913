"""Every rule's plan side by side: public, free, and redrawn with every move of a slider."""

import numpy as np
import streamlit as st

from pages.widgets.session import bundled_scores
from pages.widgets.settings import EACH, TOGETHER, apply_epsilon, choose_radio, kept
from ppsets_core import FileError, InputError, Plan, plan, smallest_epsilon
from ppsets_core.data.counts import DescribedRecords
from ppsets_core.explore.expected_sets import ExpectedSets, expected_sets
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules import RULES, GroupRule
from ppsets_core.method.sets import conformal_rank
from ppsets_core.wording import familiar_or_not, guarantee, price_in_ranks, remedy, rounded_up, with_margin

NUMBERS_HELP = (
    "m\\* is the number of steps between 0 and 1 at which the threshold may lie, γ\\* the share of the error allowance "
    "that is kept for the noise; both are chosen from n, α and ε alone. The level is the share of scores that the "
    "threshold aims to reach."
)
SIZE_HELP = (
    "Diagnoses in a set with as many records of the bundled CoronaHack scores, an example of 3 diagnoses; "
    "± is a 95% margin of the mean."
)
NOVELTY_HELP = (
    "A second threshold is released with the others: X-rays above it are marked as unfamiliar when they are diagnosed, "
    "and an alarm is raised where too many are. It takes its share of the same ε. 0 leaves it out."
)
EXPECTED_HELP = "What to expect if the scores are spread evenly over [0, 1]. The promise holds whatever the scores are."
MARGIN_HELP = "How many more records the threshold aims to reach than it would without privacy."
PROMISE_HELP = "Together, one diagnosis may get more coverage and another less. For each, all get what was asked for."
EACH_HELP = "Changing one record's diagnosis changes two classes, so each class is drawn with half of ε."
ALWAYS_LARGE = 0.995


def rule_title(rule: str) -> str:
    return f"The {RULES[rule].label}"


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


def show_plans(plans: dict[str, Plan], chosen: str, m: int | None, gamma: float | None, unit: str) -> None:
    """Show every rule's plan, side by side."""
    for column, (rule, planned) in zip(st.columns(len(plans)), plans.items(), strict=True):
        with column.container(border=True, key=f"plan_{rule}", height="stretch"):
            marked = "  :primary-badge[:material/check: chosen]" if rule == chosen else ""
            st.markdown(f"**{rule_title(rule)}**{marked}")
            st.caption(RULES[rule].sentence)
            if planned.is_trivial:
                _show_trivial(planned, m, gamma)
                _offer_other(rule, plans, chosen)
                continue
            show = _show_plan if planned.per is None else _show_plan_for_each
            show(planned, unit)
            if planned.novelty is not None:
                st.caption(familiar_or_not(planned))


def _show_plan(planned: Plan, unit: str) -> None:
    assert planned.level is not None
    n, rank = planned.n, conformal_rank(planned.n, planned.alpha)
    with st.container(horizontal=True, gap="medium"):
        _show_coverage(planned)
        margin = f"{price_in_ranks(planned):,.1f}".removesuffix(".0")
        st.metric("Extra margin for privacy", f"{margin} of {n:,} records", help=MARGIN_HELP, width="content")
    gamma = "none needed" if planned.gamma is None else f"{planned.gamma:.4g}"
    st.markdown(f"Bins m\\*: **{planned.m:,}** · γ\\*: **{gamma}** · level: **{planned.level:.4f}**", help=NUMBERS_HELP)
    aim = planned.level * n  # the paper's level lies between two ranks
    about = "" if abs(aim - round(aim)) < 1e-6 else "about "
    st.write(
        f"It aims at {about}rank {aim:,.0f} of the {n:,} scores; without privacy {rank:,} is enough. "
        f"{guarantee(planned, unit)}"
    )


def _show_plan_for_each(planned: Plan, unit: str) -> None:
    """Nothing here depends on how many records each diagnosis has: that is private."""
    with st.container(horizontal=True, gap="medium"):
        _show_coverage(planned)
        st.metric("ε for each diagnosis", f"{planned.threshold_epsilon / 2:g}", help=EACH_HELP, width="content")
    st.markdown(f"Bins m\\*: **{planned.m:,}** · diagnoses: **{planned.groups}**", help=NUMBERS_HELP)
    st.write(guarantee(planned, unit))
    if planned.coverage_expected > ALWAYS_LARGE:
        words = "Too few records for each diagnosis at this α and ε: sets will leave almost nothing out."
        st.warning(words, icon=":material/block:")


def _show_coverage(planned: Plan) -> None:
    st.metric("Coverage promised", f"≥ {100 * planned.coverage_lower:.1f}%", width="content")
    st.metric("Coverage expected", f"{100 * planned.coverage_expected:.1f}%", help=EXPECTED_HELP, width="content")
    if (found := _expected_sets(planned)) is not None:
        st.metric("Set size expected", with_margin(found.mean_size, found.margin), help=SIZE_HELP, width="content")


@st.cache_data(max_entries=500, show_spinner=False)
def _expected_sets(planned: Plan) -> ExpectedSets | None:
    """On the bundled public scores; None for another number of diagnoses than theirs."""
    try:
        public = bundled_scores()
    except FileError:
        return None
    if planned.per is not None and planned.groups != len(public.classes):
        return None
    return expected_sets(Labelled.of(public), planned, np.random.default_rng(0))


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


def _offer_other(rule: str, plans: dict[str, Plan], chosen: str) -> None:
    """Offer the other rule where the chosen one has too few records."""
    for other, planned in plans.items():
        if rule == chosen and not planned.is_trivial:
            words, chosen_rule = f"Use the {RULES[other].label}: these are enough", {"rule": other}
            st.button(words, key=f"use_{other}", on_click=st.session_state.update, args=(chosen_rule,))


def choose_promise(records: DescribedRecords) -> int | None:
    """Whom the promise holds for: None for all patients together, else each of so many diagnoses."""
    if not records.classes:
        st.caption("The promise holds for all patients together; for each diagnosis it needs labels, not scores only.")
        return None
    promise = choose_radio("The promise holds for", [TOGETHER, EACH], "promise", help=PROMISE_HELP)
    if promise == TOGETHER:
        return None
    st.caption("Each diagnosis gets its own threshold, so sets are larger, most of all where it has few records.")
    return len(records.classes)


def choose_novelty(records: DescribedRecords) -> float:
    """The share of ε that a novelty threshold gets; 0 where the records do not say how unfamiliar each is."""
    known = records.has_novelty
    key, so_far = "novelty_share", kept("novelty_share", 0.0)
    look = ("Share of ε for a private novelty threshold", 0.0, 0.5, so_far, 0.05, "percent", key, NOVELTY_HELP)
    share = st.slider(*look, disabled=not known, persist_state="session")
    if not known:
        st.caption("These records have no column `novelty`, so all of ε goes to the thresholds.")
    return round(share, 6) if known else 0.0


def choose_rule(able: list[str]) -> str:
    """The session's rule, among those that can keep the promise that is asked for."""
    if len(able) > 1:
        return choose_radio("Rule", able, "rule", rule_title)
    others = " and ".join(f"the {rule.label}" for name, rule in RULES.items() if name not in able)
    st.caption(f"Rule: the {RULES[able[0]].label}; {others} would hold for all patients together only.")
    return able[0]


def _enough_epsilon(planned: Plan, m: int | None, gamma: float | None) -> float | None:
    """The least ε of three digits that makes the plan useful; None where none does."""
    try:
        epsilon = rounded_up(smallest_epsilon(planned.n, planned.alpha, planned.method, m=m))
    except InputError:
        return None
    useful = plan(planned.n, planned.alpha, epsilon, method=planned.method, m=m, gamma=gamma)
    return None if useful.is_trivial else epsilon
