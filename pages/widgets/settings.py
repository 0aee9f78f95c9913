"""α, ε and whom the promise holds for: the choices behind every plan."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

Value = TypeVar("Value")
# ISO 3's R″20: round numbers in equal steps of about 12%, so that the slider is logarithmic.
_STEPS = (10, 11, 12, 14, 16, 18, 20, 22, 25, 28, 30, 35, 40, 45, 50, 55, 60, 70, 80, 90)
EPSILONS = tuple(float(f"{step}e{power}") for power in (-3, -2, -1, 0) for step in _STEPS[: 7 if power == 0 else None])
TOGETHER, EACH = "all patients together", "each diagnosis"
ALPHA_HELP = (
    "How often the true diagnosis may be missing from the set. α = 10% asks for sets that hold it 9 times in 10."
)
EPSILON_HELP = (
    "How much the released threshold may reveal about any one record. Whatever someone believes about a record, "
    "the release shifts the odds by a factor of at most e to the ε: 1.1 at 0.1, 2.7 at 1, 150 at 5."
)


def kept(key: str, default: Value) -> Value:
    """A widget's value so far, to be given as its default.

    A widget that goes and comes back within a moment, as below an uploader whose file is replaced, shows its default in
    the browser whatever the session holds, and the next click would send that."""
    return st.session_state.get(key, default)


def choose_radio(
    label: str,
    options: Sequence[str],
    key: str,
    shown: Callable[[str], str] = str,
    help: str | None = None,
    hidden: bool = False,
) -> str:
    """One of a few in a row, kept for the session; the first unless another was chosen. hidden: the label, not read."""
    first = options.index(so_far) if (so_far := kept(key, options[0])) in options else 0
    look = (label, options, first, shown, key, help)
    return st.radio(
        *look, horizontal=True, persist_state="session", label_visibility="collapsed" if hidden else "visible"
    )


def choose_alpha(where: DeltaGenerator, key: str = "alpha") -> float:
    look = ("Allowed miss rate (α)", 0.01, 0.5, kept(key, 0.1), 0.01, "percent", key, ALPHA_HELP)
    return round(where.slider(*look, persist_state="session"), 6)


def choose_epsilon(where: DeltaGenerator, key: str = "epsilon") -> float:
    """A logarithmic slider; an ε applied from elsewhere becomes one more stop of it."""
    value = kept(key, 1.0)
    look = ("Privacy loss (ε)", sorted({*EPSILONS, value}), value, "{:.6g}".format, key, EPSILON_HELP)
    epsilon = where.select_slider(*look, persist_state="session")
    with where.container(horizontal=True, horizontal_alignment="distribute", gap=None, wrap=False):
        st.caption("← more private", width="content")
        st.caption("smaller sets →", width="content")
    return epsilon


def apply_alpha(alpha: float) -> None:
    """Set the slider to this α; for a button's `on_click`, or before the slider is drawn."""
    st.session_state["alpha"] = round(float(alpha), 6)


def apply_epsilon(epsilon: float) -> None:
    """For a button's `on_click`: set the slider to this very ε."""
    st.session_state["epsilon"] = float(epsilon)
