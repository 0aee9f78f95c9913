"""What if: sliders for α, ε and n, curves that follow them, and X-rays with how often each diagnosis is in the set."""

import html
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.widgets import session
from pages.widgets.guard import guarded
from pages.widgets.person import may_open
from pages.widgets.settings import apply_alpha, apply_epsilon, choose_alpha, choose_epsilon, choose_radio, kept
from pages.widgets.text import as_text
from ppsets_core import plan, prediction_sets
from ppsets_core.data.bundled import SYNTHETIC, bundled_xrays
from ppsets_core.diagnose.novelty import public_threshold
from ppsets_core.diagnose.xrays import thumbnail_of
from ppsets_core.explore.expected_sets import ExpectedSets, chances_in_set
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.style import GREEN, Look, look_of
from ppsets_core.explore.sweeps import QUANTITIES
from ppsets_core.explore.what_if import GRIDS, Choice, Outlook, outlook, outlook_figure
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.method.rules import DEFAULT
from ppsets_core.scores import LAC, ClassScore
from ppsets_core.wording import class_names
from ppsets_core.xrays import read_picture

NUMBERS = (50, 100, 200, 300, 500, 1000, 2000, 3000, 5000, 10_000, 30_000)
MOST, A_ROW = 6, 3
ALWAYS = 0.995
FREE = "Free: simulations on public data, no release."
AGAINST = {"epsilon": "ε", "alpha": "α", "n": "n"}
_LINES = """<style>.line { margin-right: 1rem; white-space: nowrap; font-size: .85rem }
.line span { display: inline-block; width: 1.8rem; margin-right: .4rem; vertical-align: middle }</style>"""
_STYLE = """<style>
.what-if img { display: block; width: 100%; height: 8.5rem; object-fit: cover; background: #000; border-radius: .4rem }
.chances { font-size: .85rem; line-height: 1.25; margin: .15rem 0 .6rem }
.chances div { display: flex; justify-content: space-between }
.chances .track { height: .5rem; border-radius: .25rem; background: rgba(128, 128, 128, .2); margin-bottom: .3rem }
.chances .fill { height: 100%; border-radius: .25rem; background: #0072B2 }
.chances .never { opacity: .8 }
</style>"""


@dataclass(frozen=True, eq=False)
class Shown:
    """X-rays to follow: small JPEGs, names and probabilities."""

    pictures: tuple[bytes, ...]
    names: tuple[str, ...]
    probabilities: np.ndarray


@st.fragment
@guarded()
def show_what_if(key: str, shown: Shown | None = None) -> None:
    """The bundled X-rays are followed where none are given. A fragment: a slider draws this and nothing else."""
    xrays = shown or _bundled()
    if shown is not None:
        st.caption(FREE)
    records = Labelled.of(session.bundled_scores())
    left, middle, right = st.columns(3)
    alpha, epsilon = choose_alpha(left, f"{key}_alpha"), choose_epsilon(middle, f"{key}_epsilon")
    n = right.select_slider(
        *("Records (n)", NUMBERS, kept(f"{key}_n", 1000), "{:,}".format, f"{key}_n"),
        persist_state="session",
    )
    choice = Choice(n, alpha, epsilon)
    left, right = st.columns([2, 3], gap="large")
    with right:
        here = expected(choice)[DEFAULT]
        st.markdown(
            f"**{here.mean_size:.2f} diagnoses** a set on average, coverage **{100 * here.coverage:.1f}%**. "
            "Bars: how often a diagnosis is in the set."
        )
        calibration = _comparable()
        compare = calibration is not None and st.toggle("Compare with my calibration", key=f"{key}_compare")
        chances = chances_in_set(records, plan(n, alpha, epsilon), xrays.probabilities, np.random.default_rng(0))
        _cards(xrays, chances, calibration if compare else None)
        if may_open("calibrate") and st.button("Calibrate with these", key=f"{key}_take", icon=":material/tune:"):
            apply_alpha(alpha)
            apply_epsilon(epsilon)
            st.switch_page("pages/calibrate.py")
    with left:
        over = choose_radio("Curves against", list(AGAINST), f"{key}_against", AGAINST.__getitem__)
        show_curves(choice, over, key)


def expected(choice: Choice, score: ClassScore = LAC) -> dict[str, ExpectedSets]:
    """What to expect of each rule, and without privacy, on the bundled scores."""
    return _outlook(choice, "epsilon", (choice.epsilon,), score).points[choice.epsilon]


def show_curves(choice: Choice, over: str, key: str, score: ClassScore = LAC, *, beside: bool = False) -> None:
    """Set size and coverage against ε, α or n, with a mark at the choice, and which line is whose."""
    here, neutral = getattr(choice, over), choice.at(over, GRIDS[over][0])  # moving along a curve leaves the curve
    curve, point = _outlook(neutral, over, GRIDS[over], score), _outlook(neutral, over, (here,), score)
    ahead = Outlook(over, curve.points | point.points)
    places = st.columns(len(QUANTITIES)) if beside else [st.container() for _ in QUANTITIES]
    for place, (quantity, title) in zip(places, QUANTITIES.items(), strict=True):
        place.plotly_chart(
            outlook_figure(ahead, quantity, here, alpha=choice.alpha),
            key=f"{key}_{quantity}",
            config={"displayModeBar": False},
            alt=f"{title.capitalize()} against {AGAINST[over]} for each rule, with a mark at {here:g}",
        )
    looks = [*map(look_of, point.points[here]), Look("asked for", GREEN, "dash", "")]
    st.html("".join(f'<span class="line">{_line(look)}</span>' for look in looks) + _LINES)


def _line(look: Look) -> str:
    stroke = {"dot": "dotted", "dash": "dashed"}.get(look.dash, "solid")
    return f'<span style="border-top: 3px {stroke} {look.colour}"></span>{html.escape(look.name)}'


@st.cache_data(show_spinner=False, max_entries=500)
def _outlook(choice: Choice, over: str, values: tuple[float, ...], score: ClassScore) -> Outlook:
    return outlook(Labelled.of(session.bundled_scores(), score), choice, over, values)


def _comparable() -> BaseCalibration | None:
    """This session's calibration, if it is for the bundled model's probabilities and all patients together."""
    calibration = session.active_calibration()
    if calibration is None or session.why_not_for_xrays(calibration) or calibration.group_names:
        return None
    return calibration


def _cards(xrays: Shown, chances: np.ndarray, calibration: BaseCalibration | None) -> None:
    classes = session.bundled_scores().classes
    members = None if calibration is None else prediction_sets(xrays.probabilities, calibration)
    if calibration is not None:
        words = (
            f"● in the set of {session.calibration_source()}: α = {calibration.alpha:g}, ε = {calibration.epsilon:g}"
        )
        st.caption(as_text(words))
    st.html(_STYLE)
    for start in range(0, len(xrays.pictures), A_ROW):
        for column, place in zip(st.columns(A_ROW), range(start, len(xrays.pictures)), strict=False):
            picture = b64encode(xrays.pictures[place]).decode("ascii")
            name = html.escape(xrays.names[place])
            column.html(f'<div class="what-if"><img alt="{name}" src="data:image/jpeg;base64,{picture}"></div>')
            inside = None if members is None else members[place]
            column.html(_bars(classes, xrays.probabilities[place], chances[place], inside))


def _bars(classes: Sequence[str], probabilities: np.ndarray, chances: np.ndarray, inside: np.ndarray | None) -> str:
    """Likeliest diagnosis first; the bar is the share of releases with it in the set."""
    lines = []
    names = class_names(classes)
    for y in np.argsort(-probabilities, kind="stable"):
        chance = float(chances[y])
        words = "always" if chance >= ALWAYS else "never" if chance <= 1 - ALWAYS else f"{100 * chance:.0f}%"
        mark = "● " if inside is not None and inside[y] else ""
        lines.append(
            f'<div class="{words if words == "never" else ""}"><span>{mark}{html.escape(names[y])}</span>'
            f'<span>{words}</span></div><div class="track"><div class="fill" style="width: {100 * chance:.1f}%"></div>'
            "</div>"
        )
    return f'<div class="chances">{"".join(lines)}</div>'


@st.cache_resource(show_spinner=False)
def _bundled() -> Shown:
    """Familiar ones whose second likeliest diagnosis is in doubt at usual settings: here a choice shows."""
    records = bundled_xrays()
    assert records.probabilities is not None
    doubt = np.abs(np.sort(records.probabilities, axis=1)[:, -2] - 0.25)
    if records.novelty is not None and (threshold := public_threshold(records.model)) is not None:
        doubt[threshold.unlike(records.novelty)] = 1
    rows = np.sort(np.argsort(doubt, kind="stable")[:MOST])
    files = records.identifiers["file"][rows].tolist()
    names = tuple(f"Synthetic X-ray {row + 1}" for row in rows)
    pictures = tuple(thumbnail_of(read_picture(SYNTHETIC.parent / file, file)) for file in files)
    return Shown(pictures, names, records.probabilities[rows])
