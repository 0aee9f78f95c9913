"""For statisticians: the level each rule aims at, and one release seen from inside."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.widgets.explore.shared import PublicRecords, alpha_slider, epsilon_slider, take_away
from ppsets_core import Plan, evaluate, plan, simulate
from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.explore.level_curves import LevelCurves, level_curves, level_figure, release_figure, release_view
from ppsets_core.explore.style import look_of
from ppsets_core.explore.sweeps import log_grid, record_counts
from ppsets_core.method.rules import DEFAULT, RULES
from ppsets_core.wording import describe, price_in_ranks, remedy

ALONG = {"n": record_counts(100, 100_000, 19), "epsilon": log_grid(0.05, 20, 19)}
LEVELS = {"n": ("the number of records", (0.1, 1.0, 10.0)), "epsilon": ("ε", (300.0, 1000.0, 10_000.0))}
_DRAWS = "explore_draws"
MOST_DRAWS = 500


def show_levels(_records: PublicRecords | None) -> None:
    st.write("Private rules aim above 1 − α. At level 1 there are too few records.")
    alpha = alpha_slider(st.container())
    figures = {}
    for column, (over, (along, fixed)) in zip(st.columns(2), LEVELS.items(), strict=True):
        column.header(f"Against {along}", anchor=False)
        figures[f"Level against {along}"] = fig = level_figure(_curves(over, fixed, alpha, tuple(RULES)))
        shown = go.Figure(fig).for_each_trace(lambda line: line.update(showlegend=line.name.startswith(DEFAULT)))
        alt = f"Level to aim at against {along}, one line per rule"
        column.plotly_chart(shown, key=f"explore_level_{over}", alt=alt)
    st.caption(_legend())
    take_away("Levels", figures, f"α = {alpha:g}")


def _legend() -> str:
    """Which line is whose."""
    rules = [f"{look.stroke.capitalize()}: the {look.name}." for look in map(look_of, RULES)]
    nonprivate = look_of(NONPRIVATE)
    return " ".join([*rules, f"{nonprivate.stroke.capitalize()} grey: {nonprivate.name}."])


@st.cache_data(max_entries=200, show_spinner="Planning …")
def _curves(over: str, fixed: tuple[float, ...], alpha: float, methods: tuple[str, ...]) -> LevelCurves:
    return level_curves(over, ALONG[over], fixed, alpha, methods)


def show_release(records: PublicRecords | None) -> None:
    st.write("A private calibration draws its threshold: each of m candidates with a chance that falls with its miss.")
    if records is None:
        return
    left, middle, right = st.columns(3)
    alpha, epsilon, most = alpha_slider(left), epsilon_slider(middle), min(len(records), 5000)
    n = left.slider("Records n", min(20, most - 1), most, min(1000, most), key=f"explore_release_n_{most}")
    method = right.segmented_control(
        "Rule", list(RULES), default=DEFAULT, required=True, format_func=label_of, key="explore_rule"
    )
    m = right.select_slider("Bins m", ["m*", 20, 50, 100, 300, 1000, 10_000, 100_000], "m*", key="explore_m")
    planned = plan(n, alpha, epsilon, method=method, m=m if isinstance(m, int) else None)
    scores = np.random.default_rng(0).permutation(records.scores)[:n]
    draws = _draws((records.digest, n, planned), scores, planned)
    view = release_view(scores, planned)
    fig = release_figure(view, draws)
    st.plotly_chart(fig, key="explore_release", alt="Probability of each threshold")
    _explain(planned, view.nonprivate, draws, records)
    take_away("Inside a release", {"Probability of each threshold": fig}, f"{records.name}, {describe(planned)}")


def _draws(settings: tuple[object, ...], scores: np.ndarray, planned: Plan) -> list[float]:
    """The thresholds simulated so far with these settings; other settings start anew."""
    kept = st.session_state.get(_DRAWS)
    if kept is None or kept[0] != settings:
        kept = st.session_state[_DRAWS] = (settings, [])
    draws: list[float] = kept[1]

    def draw(times: int) -> None:
        rng = np.random.default_rng()
        draws.extend(simulate(scores, planned, rng).threshold for _ in range(times))
        del draws[:-MOST_DRAWS]

    with st.container(horizontal=True):
        icon = ":material/casino:"
        st.button("Draw once", type="primary", key="explore_draw", icon=icon, on_click=draw, args=(1,))
        st.button("Draw 50 times", key="explore_draw_50", on_click=draw, args=(50,))
        st.button("Clear", key="explore_clear", disabled=not draws, on_click=draws.clear)
    return draws


def _explain(planned: Plan, nonprivate: float, draws: list[float], records: PublicRecords) -> None:
    if planned.is_trivial:
        st.warning(f"Too few records: ŝ is 1 for certain and nothing is drawn. {remedy(planned)}")
        return
    st.write(
        f"m = {planned.m:,} candidates. Without privacy the threshold would be {nonprivate:.4f}; the rule aims "
        f"{price_in_ranks(planned):.1f} ranks higher."
    )
    if not draws:
        return
    times = "once" if len(draws) == 1 else f"{len(draws)} times"
    said = f"Drawn {times} (simulated, not released): last ŝ = {draws[-1]:.4f}, mean ŝ = {np.mean(draws):.4f}."
    if records.labelled is not None:
        private, plain = (
            evaluate(records.labelled.probabilities, records.labelled.labels, t) for t in (draws[-1], nonprivate)
        )
        said += (
            f" With the last, sets hold {private.mean_size:.2f} diagnoses and cover {100 * private.coverage:.1f}%; "
            f"without privacy {plain.mean_size:.2f} and {100 * plain.coverage:.1f}%."
        )
    st.write(said)
