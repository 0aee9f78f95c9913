"""α, ε and whom the promise holds for: the choices behind every plan."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

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


def choose_alpha(where: DeltaGenerator, key: str = "alpha") -> float:
    st.session_state.setdefault(key, 0.1)
    label, limits = "Allowed miss rate (α)", (0.01, 0.5)
    alpha = where.slider(label, *limits, step=0.01, format="percent", key=key, help=ALPHA_HELP, persist_state="session")
    return round(alpha, 6)


def choose_epsilon(where: DeltaGenerator, key: str = "epsilon") -> float:
    """A logarithmic slider; an ε applied from elsewhere becomes one more stop of it."""
    st.session_state.setdefault(key, 1.0)
    options = sorted({*EPSILONS, st.session_state.get(f"{key}_applied", 1.0)})
    epsilon = where.select_slider(
        "Privacy loss (ε)", options, format_func="{:.6g}".format, key=key, help=EPSILON_HELP, persist_state="session"
    )
    with where.container(horizontal=True, horizontal_alignment="distribute", gap=None, wrap=False):
        st.caption("← more private", width="content")
        st.caption("smaller sets →", width="content")
    return epsilon


def apply_alpha(alpha: float, key: str = "alpha") -> None:
    """Set the slider to this α; for a button's `on_click`, or before the slider is drawn."""
    st.session_state[key] = round(float(alpha), 6)


def apply_epsilon(epsilon: float, key: str = "epsilon") -> None:
    """For a button's `on_click`: set the slider to this very ε."""
    st.session_state[f"{key}_applied"] = float(epsilon)
    st.session_state[key] = float(epsilon)
