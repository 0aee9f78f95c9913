"""Level against the number of records and against ε: the paper's figure, for any α and every rule."""

from collections.abc import Callable
from typing import TypeVar

import plotly.graph_objects as go
import streamlit as st

from pages.widgets.explore.source import PublicRecords
from pages.widgets.explore.take_away import take_away
from pages.widgets.settings import choose_alpha
from ppsets_core.explore import label_of
from ppsets_core.explore.level_curves import LevelCurves, level_curves, level_figure
from ppsets_core.explore.style import NONPRIVATE, look_of
from ppsets_core.explore.sweeps import log_grid, record_counts
from ppsets_core.method.rules import RULES

NS = record_counts(100, 100_000, 19)
EPSILONS = log_grid(0.05, 20, 19)
Option = TypeVar("Option", str, int, float)


def show_levels(_records: PublicRecords | None) -> None:
    st.write(
        "To keep its promise in spite of the noise, a private rule aims above 1 − α. How far depends on the number "
        "of records and on ε alone, not on the records. At 1 there are too few: every set would hold every diagnosis."
    )
    left, right = st.columns(2)
    with left:
        alpha = choose_alpha("explore_alpha")
    with right:
        methods = _pick("Rules", tuple(RULES), tuple(RULES), label_of, "explore_methods")
    left, right = st.columns(2)
    with left:
        st.subheader("Against the number of records", anchor=False)
        epsilons = _pick(
            "ε to compare", (0.1, 0.3, 1.0, 3.0, 10.0), (0.1, 1.0, 10.0), "{:g}".format, "explore_epsilons"
        )
        figures = {}
        if methods and epsilons:
            figures["Level against the number of records"] = _draw(_over_n(epsilons, alpha, methods), "explore_level_n")
    with right:
        st.subheader("Against ε", anchor=False)
        ns = _pick("Records to compare", (300, 1000, 3000, 10_000), (300, 1000, 10_000), "{:,}".format, "explore_ns")
        if methods and ns:
            figures["Level against ε"] = _draw(_over_epsilon(ns, alpha, methods), "explore_level_epsilon")
    st.caption(
        f"{_legend()} Each point has its own m\\*: where ε is so small that fewer bins are better, a rule may aim "
        "lower and cut more coarsely, so a line can dip there."
    )
    if figures:
        take_away("Levels", figures, f"α = {alpha:g}")


def _legend() -> str:
    """Which line is whose."""
    rules = [f"{look.stroke.capitalize()}: the {look.name}." for look in map(look_of, RULES)]
    nonprivate = look_of(NONPRIVATE)
    return " ".join([*rules, f"{nonprivate.stroke.capitalize()} grey: ordinary calibration {nonprivate.name}."])


def _pick(
    label: str, options: tuple[Option, ...], default: tuple[Option, ...], shown: Callable[[Option], str], key: str
) -> tuple[Option, ...]:
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
    return tuple(option for option in options if option in chosen)


def _draw(curves: LevelCurves, key: str) -> go.Figure:
    over = {"n": "the number of records", "epsilon": "ε"}[curves.over]
    drawn = level_figure(curves)
    st.plotly_chart(drawn, key=key, alt=f"Level to aim at against {over}, one line per rule")
    return drawn


@st.cache_data(max_entries=200, show_spinner="Planning …")
def _over_n(epsilons: tuple[float, ...], alpha: float, methods: tuple[str, ...]) -> LevelCurves:
    return level_curves("n", NS, epsilons, alpha, methods)


@st.cache_data(max_entries=200, show_spinner="Planning …")
def _over_epsilon(ns: tuple[int, ...], alpha: float, methods: tuple[str, ...]) -> LevelCurves:
    return level_curves("epsilon", EPSILONS, ns, alpha, methods)
