"""How the last layer is trained: few choices, each with a usable default."""

from dataclasses import dataclass

import streamlit as st

DELTAS = (1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class PrivacySettings:
    """What DP-SGD needs to know besides; without classes named, those of the weights are learnt."""

    epsilon: float
    delta: float
    clip: float
    classes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Settings:
    """What fine-tuning needs to know; without `privacy` it is plain."""

    epochs: int
    batch_size: int
    learning_rate: float
    privacy: PrivacySettings | None = None


def choose_settings() -> Settings:
    left, middle, right = st.columns(3)
    epochs = left.number_input("Epochs", 1, 500, 30, key="tune_epochs", help="How often every X-ray is looked at.")
    batch = middle.select_slider("X-rays per step", [8, 16, 32, 64, 128, 256], 64, key="tune_batch")
    rate = right.select_slider(
        "Learning rate", [1e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2], 5e-3, format_func="{:g}".format, key="tune_rate"
    )
    if not st.toggle("With differential privacy (DP-SGD)", key="tune_private"):
        return Settings(epochs, batch, rate)
    left, middle, right = st.columns(3)
    epsilon = left.number_input(
        "ε of the training",
        *(0.05, 100.0, 3.0, 0.5),
        key="tune_epsilon",
        help="How much the weights may reveal about any one X-ray. The same budgets pay for it as for a calibration.",
    )
    delta = middle.select_slider(
        "δ",
        DELTAS,
        1e-5,
        format_func="{:g}".format,
        key="tune_delta",
        help="The chance that ε does not hold; well below one over the number of X-rays.",
    )
    clip = right.number_input(
        "Clipping norm", 0.01, 100.0, 1.0, 0.1, key="tune_clip", help="The most that one X-ray may pull in a step."
    )
    named = st.text_input(
        "Classes to learn, separated by commas",
        key="tune_classes",
        placeholder="those of the weights in use",
        help="With privacy the labels must not set them, as one X-ray could add one. X-rays of others are left out.",
    )
    st.caption(
        "ε is for one X-ray and counts once for each that a patient has. The number of X-rays and the classes count as "
        "public. The loss and accuracy shown while it trains are not private: they are for the owner of the X-rays."
    )
    classes = tuple(name.strip() for name in named.split(",")) if named.strip() else None
    return Settings(epochs, batch, rate, PrivacySettings(epsilon, delta, clip, classes))
