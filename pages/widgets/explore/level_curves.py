"""Level against the number of records and against ε: the paper's figure, for any α and both rules."""

from collections.abc import Callable

import streamlit as st

from pages.widgets.settings import choose_alpha
from ppsets_core.figures.level_curves import level_figure
from ppsets_core.figures.style import NAMES
from ppsets_core.tradeoffs.grids import log_grid, record_counts
from ppsets_core.tradeoffs.level_curves import LevelCurves, levels_over_epsilon, levels_over_n
from ppsets_core.validation import METHODS

NS = record_counts(100, 100_000, 19)
EPSILONS = log_grid(0.05, 20, 19)


def show_levels(_records) -> None:
    st.write(
        "To keep its promise in spite of the noise, a private rule aims above 1 − α. How far depends on the number "
        "of records and on ε alone, not on the records. At 1 there are too few: every set would hold every diagnosis."
    )
    left, right = st.columns(2)
    with left:
        alpha = choose_alpha("explore_alpha")
    with right:
        methods = _pick("Rules", METHODS, METHODS, NAMES.get, "explore_methods")
    left, right = st.columns(2)
    with left:
        st.subheader("Against the number of records", anchor=False)
        epsilons = _pick(
            "ε to compare", (0.1, 0.3, 1.0, 3.0, 10.0), (0.1, 1.0, 10.0), "{:g}".format, "explore_epsilons"
        )
        if methods and epsilons:
            _draw(_over_n(epsilons, alpha, methods), "explore_level_n")
    with right:
        st.subheader("Against ε", anchor=False)
        ns = _pick("Records to compare", (300, 1000, 3000, 10_000), (300, 1000, 10_000), "{:,}".format, "explore_ns")
        if methods and ns:
            _draw(_over_epsilon(ns, alpha, methods), "explore_level_epsilon")
    st.caption("Solid: the paper's rule. Dotted: the sharp rule. Dashed grey: ordinary calibration without privacy.")


def _pick(label: str, options: tuple, default: tuple, shown: Callable, key: str) -> tuple:
    """Several of a few values; none chosen is said, and nothing is drawn."""
    chosen = st.pills(
        label,
        options,
        selection_mode="multi",
        default=default,
        format_func=shown,
        key=key,
        persist_state="session",
    )
    if not chosen:
        st.info("Choose at least one.")
    return tuple(sorted(chosen))


def _draw(curves: LevelCurves, key: str) -> None:
    over = {"n": "the number of records", "epsilon": "ε"}[curves.over]
    st.plotly_chart(level_figure(curves), key=key, alt=f"Level to aim at against {over}, one line for each rule")


@st.cache_data(max_entries=200, show_spinner="Planning …")
def _over_n(epsilons: tuple[float, ...], alpha: float, methods: tuple[str, ...]) -> LevelCurves:
    return levels_over_n(NS, epsilons, alpha, methods)


@st.cache_data(max_entries=200, show_spinner="Planning …")
def _over_epsilon(ns: tuple[int, ...], alpha: float, methods: tuple[str, ...]) -> LevelCurves:
    return levels_over_epsilon(EPSILONS, ns, alpha, methods)
