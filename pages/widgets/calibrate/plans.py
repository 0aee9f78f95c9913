"""Both rules' plans side by side: public, free, and redrawn with every move of a slider."""

import streamlit as st

from pages.widgets.settings import apply_epsilon
from ppsets_core import InputError, Plan, plan, smallest_epsilon
from ppsets_core.split_conformal import conformal_rank
from ppsets_core.wording import guarantee, price_in_ranks, remedy, rounded_up

RULES = {
    "paper": ("The paper's rule", "As published. It aims higher than it has to, so sets are larger."),
    "sharp": (
        "The sharp rule",
        "Ours: the same ε and the same guarantee, with about a third of the surplus, so smaller sets.",
    ),
}

NUMBERS_HELP = (
    "m\\* is the number of steps between 0 and 1 at which the threshold may lie, γ\\* the share of the error allowance "
    "that is kept for the noise; both are chosen from n, α and ε alone. The level is the share of scores that the "
    "threshold aims to reach."
)


def make_plans(n: int, alpha: float, epsilon: float, m: int | None, gamma: float | None) -> dict[str, Plan]:
    """One plan a rule; an m of one's own serves both, a γ only the paper's."""
    return {rule: plan(n, alpha, epsilon, method=rule, m=m, gamma=gamma if rule == "paper" else None) for rule in RULES}


def show_plans(plans: dict[str, Plan], chosen: str, m: int | None, gamma: float | None, unit: str) -> None:
    for column, (rule, planned) in zip(st.columns(len(plans)), plans.items(), strict=True):
        with column.container(border=True, key=f"plan_{rule}", height="stretch"):
            name, sentence = RULES[rule]
            st.markdown(f"**{name}**" + ("  :primary-badge[:material/check: chosen]" if rule == chosen else ""))
            st.caption(sentence)
            if planned.is_trivial:
                _show_trivial(planned, m, gamma)
                _offer_other(rule, plans, chosen)
            else:
                _show_plan(planned, unit)


def _show_plan(planned: Plan, unit: str) -> None:
    n, rank = planned.n, conformal_rank(planned.n, planned.alpha)
    price = price_in_ranks(planned)
    with st.container(horizontal=True, gap="medium"):
        range_help = "The lower end is guaranteed. The upper one holds if the scores are evenly spread."
        st.metric("Coverage", _range(planned), help=range_help, width="content")
        price_help = "How many ranks higher the rule aims than it would without privacy."
        st.metric(
            "Price of privacy",
            f"{_one_digit(price)} {'rank' if round(price, 1) == 1 else 'ranks'}",
            help=price_help,
            width="content",
        )
    gamma = "none needed" if planned.gamma is None else f"{planned.gamma:.4g}"
    st.markdown(f"Bins m\\*: **{planned.m:,}** · γ\\*: **{gamma}** · level: **{planned.level:.4f}**", help=NUMBERS_HELP)
    st.write(
        f"It aims at rank {_one_digit(planned.level * n)} of the {n:,} scores; without privacy {rank:,} is enough. "
        f"{guarantee(planned, unit)}"
    )


def _one_digit(number: float) -> str:
    return f"{number:,.1f}".removesuffix(".0")


def _show_trivial(planned: Plan, m: int | None, gamma: float | None) -> None:
    st.warning(f"Too few records for this α and ε. {guarantee(planned)}", icon=":material/block:")
    if m is not None or gamma is not None:
        st.write("m or γ is set by hand under “Advanced”; leave them empty to have the best ones chosen.")
    else:
        st.write(remedy(planned))
    enough = _enough_epsilon(planned, m, gamma)
    if enough is not None:
        st.button(f"Use ε = {enough:g}", key=f"apply_{planned.method}", on_click=apply_epsilon, args=(enough,))


def _offer_other(rule: str, plans: dict[str, Plan], chosen: str) -> None:
    """Where the chosen rule can do nothing with these records and the other can, a button that takes the other."""
    for other, planned in plans.items():
        if rule == chosen and not planned.is_trivial:
            st.button(
                f"Use {RULES[other][0].lower()}: these are enough", key=f"use_{other}", on_click=_use, args=(other,)
            )


def _use(rule: str) -> None:
    st.session_state["rule"] = rule


def _enough_epsilon(planned: Plan, m: int | None, gamma: float | None) -> float | None:
    """The least ε of three digits that makes the plan useful; None where none does."""
    try:
        epsilon = rounded_up(smallest_epsilon(planned.n, planned.alpha, planned.method, m=m))
    except InputError:
        return None
    useful = plan(planned.n, planned.alpha, epsilon, method=planned.method, m=m, gamma=gamma)
    return None if useful.is_trivial else epsilon


def _range(planned: Plan) -> str:
    lower = f"{100 * planned.coverage_lower:.1f}%"
    return f"≥ {lower}" if planned.coverage_upper >= 1 else f"{lower} – {100 * planned.coverage_upper:.1f}%"
