"""One release, looked at from inside: how probable each threshold is, and what a draw gives. For teaching."""

import numpy as np
import streamlit as st

from pages.widgets.explore.source import PublicRecords
from pages.widgets.explore.take_away import take_away
from pages.widgets.settings import choose_alpha, choose_epsilon
from ppsets_core import Plan, evaluate, plan, simulate
from ppsets_core.explore import label_of
from ppsets_core.explore.release_view import release_figure, release_view
from ppsets_core.method.rules import DEFAULT, RULES
from ppsets_core.wording import describe, price_in_ranks, remedy

_DRAWS = "explore_draws"
MOST_KEPT = 500


def show_release(records: PublicRecords | None) -> None:
    st.write(
        "A private calibration does not compute its threshold, it draws it: each of m candidates with a chance that "
        "falls the further it misses its aim. On private records these bars must never be shown; these are public."
    )
    if records is None:
        return
    left, middle, right = st.columns(3)
    with left:
        alpha = choose_alpha("explore_alpha")
        most = min(len(records), 5000)
        n = st.slider("Records n", min(20, most - 1), most, min(1000, most), key=f"explore_release_n_{most}")
    with middle:
        epsilon = choose_epsilon("explore_epsilon")
    with right:
        method = st.segmented_control(
            "Rule", list(RULES), default=DEFAULT, required=True, format_func=label_of, key="explore_rule"
        )
        m = st.select_slider("Bins m", ["m*", 20, 50, 100, 300, 1000, 10_000, 100_000], "m*", key="explore_m")
    planned = plan(n, alpha, epsilon, method=method, m=m if isinstance(m, int) else None)
    scores = np.random.default_rng(0).permutation(records.scores)[:n]
    draws = _draws((records.digest, n, planned), scores, planned)
    view = release_view(scores, planned)
    drawn = release_figure(view, draws)
    st.plotly_chart(drawn, key="explore_release", alt="Probability of each threshold")
    _explain(planned, view.nonprivate, draws, records)
    take_away("Inside a release", {"Probability of each threshold": drawn}, f"{records.name}, {describe(planned)}")


def _draws(settings: tuple[object, ...], scores: np.ndarray, planned: Plan) -> list[float]:
    """The thresholds simulated so far with these settings; other settings start anew."""
    kept = st.session_state.get(_DRAWS)
    if kept is None or kept[0] != settings:
        kept = st.session_state[_DRAWS] = (settings, [])
    draws: list[float] = kept[1]

    def draw(times: int) -> None:
        rng = np.random.default_rng()
        draws.extend(simulate(scores, planned, rng).threshold for _ in range(times))
        del draws[:-MOST_KEPT]

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
        f"{price_in_ranks(planned):.1f} ranks higher, so that even an unlucky draw keeps the promise on average."
    )
    if not draws:
        return
    times = "once" if len(draws) == 1 else f"{len(draws)} times"
    st.write(
        f"Drawn {times} (simulated, not released): last ŝ = {draws[-1]:.4f}, so a diagnosis with a probability of "
        f"{1 - draws[-1]:.4f} or more is in the set; mean ŝ = {np.mean(draws):.4f}."
    )
    if records.labelled is not None:
        private, plain = (
            evaluate(records.labelled.probabilities, records.labelled.labels, t) for t in (draws[-1], nonprivate)
        )
        st.write(
            f"With it, sets of all {len(records):,} records hold {private.mean_size:.2f} diagnoses on average and the "
            f"true one in {100 * private.coverage:.1f}%; without privacy {plain.mean_size:.2f} and "
            f"{100 * plain.coverage:.1f}%."
        )
