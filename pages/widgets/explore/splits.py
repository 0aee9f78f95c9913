"""Coverage and set size over random splits against ε, bins or records: run in the background, then drawn."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.widgets.explore.shared import PublicRecords, alpha_slider, epsilon_slider, take_away
from pages.widgets.jobs import JobKey, is_running, latest, start_job
from pages.widgets.text import as_text
from ppsets_core import InputError
from ppsets_core.explore import label_of, sweeps
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.style import AXES
from ppsets_core.progress import JobProgress
from ppsets_core.wording import with_margin

OVER = {"epsilon": "ε", "m": "bins m", "n": "records n"}
_JOB, _DONE = JobKey["Experiment"]("explore_job"), "explore_sweep"
LEAST = 100


@dataclass(frozen=True, eq=False)
class Experiment:
    """A sweep, the digest of its records, and its settings in words."""

    sweep: sweeps.Sweep
    alpha: float
    records: str
    words: str
    id: str = field(default_factory=lambda: uuid4().hex)


def show_splits(records: PublicRecords | None) -> None:
    if records is None:
        return
    data = records.need_labelled()
    if len(records) < 2 * LEAST:
        raise InputError(f"Random splits need at least {2 * LEAST} records; there are {len(records)}.")
    _choose_and_start(records, data)
    done = latest(_JOB, _DONE, "Splits:")
    if done is not None and done.records != records.digest:
        st.info(as_text(f"The last run was on other records ({done.words}) and is not shown for these."))
    elif done is not None:
        _draw(done)


def _choose_and_start(records: PublicRecords, data: Labelled) -> None:
    left, middle, right = st.columns(3)
    over = left.segmented_control(
        "Vary", list(OVER), default="epsilon", required=True, format_func=OVER.__getitem__, key="explore_over"
    )
    repetitions = left.select_slider("Random splits", [20, 50, 100, 200, 500, 1000], 100, key="explore_repetitions")
    alpha = alpha_slider(middle)
    sweep, fixed = _choose_sweep(over, data, right)
    label = "Run again" if _DONE in st.session_state else "Run"
    if st.button(label, type="primary", key="explore_run", icon=":material/play_arrow:", disabled=is_running(_JOB)):
        digest, words = records.digest, f"{records.name}, α = {alpha:g}, {fixed}, {repetitions:,} random splits"

        def work(progress: JobProgress) -> Experiment:
            swept = sweep(repetitions, np.random.default_rng(0), alpha=alpha, progress=progress)
            return Experiment(swept, alpha, digest, words)

        start_job(_JOB, work)


def _choose_sweep(over: str, data: Labelled, where: DeltaGenerator) -> tuple[Callable[..., sweeps.Sweep], str]:
    """The sweep, which still takes the number of splits and α, and what it holds fixed in words."""
    most = len(data) - LEAST
    fixed: dict[str, Any] = {}
    if over != "epsilon":
        fixed["epsilon"] = epsilon_slider(where)
    if over != "n":
        fixed["n"] = where.slider("Calibration records n", LEAST, most, 2 * len(data) // 3, key=f"explore_n_{most}")
    values = {"epsilon": sweeps.EPSILONS, "m": sweeps.BINS, "n": sweeps.record_counts(LEAST, most, 8)}[over]
    words = [f"{'ε' if name == 'epsilon' else name} = {value:,.6g}" for name, value in fixed.items()]
    return partial(sweeps.sweep, data, over, values, **fixed), ", ".join(words)


def _draw(experiment: Experiment) -> None:
    swept = experiment.sweep
    st.caption(as_text(experiment.words) + ". Bands: middle 90% of splits; hollow marks: too few records.")
    along = {"Coverage": sweeps.sweep_figure(swept, "coverage"), "Set size": sweeps.sweep_figure(swept, "mean_size")}
    for column, (title, fig) in zip(st.columns(2), along.items(), strict=True):
        column.header(title, anchor=False)
        column.plotly_chart(fig, key=f"explore_along_{title}", alt=f"{title} against {swept.over}")
    here = _draw_point(experiment)
    rows = _table(swept)
    with st.expander("The numbers"):
        st.dataframe(rows, hide_index=True, alt="Mean coverage and set size at each point")
    take_away("Random splits", {**along, **here}, experiment.words, rows)


def _draw_point(experiment: Experiment) -> dict[str, go.Figure]:
    """One value of the sweep, split by split; its figures by title."""
    swept = experiment.sweep
    st.header("One of these points, split by split", anchor=False)
    value = st.select_slider(
        AXES[swept.over].capitalize(),
        swept.values,
        swept.values[len(swept.values) // 2],
        format_func=lambda v: f"{v:,g}",
        key=f"explore_point_{experiment.id}",
    )
    with st.container(horizontal=True, gap="medium", key="explore_mean_sizes"):
        place = swept.values.index(value)
        for name, trend in sweeps.trends(swept, "mean_size").items():
            size = with_margin(trend.mean[place], trend.margin[place])
            st.metric(f"Set size, {label_of(name)}", size, width="content")
    results = swept.at(value)
    outcomes = sweeps.outcomes_of(results)
    figures = {
        "Coverage": sweeps.histogram_figure(outcomes, "coverage", experiment.alpha),
        "Mean set size": sweeps.histogram_figure(outcomes, "mean_size", experiment.alpha),
        "Diagnoses in a set": sweeps.size_figure(results),
    }
    for column, (title, fig) in zip(st.columns(3), figures.items(), strict=True):
        column.markdown(f"**{title}**")
        column.plotly_chart(fig, key=f"explore_{title}", alt=f"{title} at {value:g}, share by share")
    return {f"{title} at {value:g}": fig for title, fig in figures.items()}


def _table(swept: sweeps.Sweep) -> list[dict[str, float]]:
    coverage, size = sweeps.trends(swept, "coverage"), sweeps.trends(swept, "mean_size")
    rows: list[dict[str, float]] = []
    for place, value in enumerate(swept.values):
        row = {OVER[swept.over]: value}
        for name in coverage:
            row[f"coverage, {label_of(name)}"] = round(float(coverage[name].mean[place]), 4)
            row[f"set size, {label_of(name)}"] = round(float(size[name].mean[place]), 4)
            row[f"±, {label_of(name)}"] = round(float(size[name].margin[place]), 4)
        rows.append(row)
    return rows
