"""Fine-tuning as work for a thread: its settings, and what comes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.widgets.session import model_name
from ppsets_core.background import JobProgress
from ppsets_core.errors import LedgerError
from ppsets_core.ledger.training import TrainingPayment
from ppsets_core.model.report import Epoch
from ppsets_core.xrays import Refused, read_folder
from ppsets_core.xrays.labels import Labels
from ppsets_core.xrays.listing import Source

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel
    from ppsets_core.model.train import FineTuned, Privacy

DELTAS = (1e-3, 1e-4, 1e-5, 1e-6)
EPSILON_HELP = "How much the weights may reveal about any one X-ray. The budgets for calibrations pay for it, too."
DELTA_HELP = "The chance that ε does not hold; well below one over the number of X-rays."
CLASSES_HELP = "With privacy the labels must not set them: one X-ray could add one. X-rays of others are left out."


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
    limits = (0.05, 100.0, 3.0, 0.5)
    epsilon = left.number_input("ε of the training", *limits, key="tune_epsilon", help=EPSILON_HELP)
    delta = middle.select_slider("δ", DELTAS, 1e-5, "{:g}".format, "tune_delta", DELTA_HELP)
    clip_help = "The most that one X-ray may pull in a step."
    clip = right.number_input("Clipping norm", 0.01, 100.0, 1.0, 0.1, key="tune_clip", help=clip_help)
    label, words = "Classes to learn, separated by commas", "those of the weights in use"
    named = st.text_input(label, key="tune_classes", placeholder=words, help=CLASSES_HELP)
    st.caption(
        "ε is for one X-ray and counts once for each that a patient has. X-rays that name no patient count for "
        "everyone in the account. The number of X-rays and the classes count as public. The loss "
        "and accuracy shown while it trains are not private: they are for the owner of the X-rays."
    )
    classes = tuple(name.strip() for name in named.split(",")) if named.strip() else None
    return Settings(epochs, batch, rate, PrivacySettings(epsilon, delta, clip, classes))


@dataclass(frozen=True, eq=False)
class Tuned:
    """A fine-tuned model and how it came about."""

    result: "FineTuned"
    privacy: "Privacy | None"
    epochs: tuple[Epoch, ...]
    xrays: int
    refused: tuple[Refused, ...]
    base: str
    payer: str | None


def fine_tuning(
    base: "XrayModel",
    source: Source,
    labels: Labels,
    settings: Settings,
    payment: TrainingPayment | None,
) -> Callable[[JobProgress], Tuned]:
    """Read the X-rays and train, reporting each epoch. Cancelled, nothing is kept.

    Private training needs a payment, which is charged before it begins."""
    name = model_name()
    if (settings.privacy is None) != (payment is None):
        raise LedgerError("Private training, and it alone, is paid for. Nothing was trained.")

    def work(report: JobProgress) -> Tuned:
        from ppsets_core.model.train import LastLayerRecipe, Privacy, fine_tune_last_layer
        from ppsets_core.model.training_set import read_training_set

        privacy, classes = None, None
        if (wanted := settings.privacy) is not None:
            privacy = Privacy(wanted.epsilon, wanted.delta, wanted.clip)
            classes = wanted.classes or base.classes
        report.stage = "X-rays read:"
        folder = read_folder(source, labels=labels, classes=classes or (), to_learn=True)
        total, side = len(folder.xrays), base.preprocessing.side
        data, refused = read_training_set(folder, side, classes=classes, progress=lambda done: report(done, total))
        report.stage = "X-rays seen by the network:"
        report(0, len(data))

        def watch(epoch: Epoch) -> None:
            report.stage = "Epochs:"
            report.said.append(epoch)
            report(epoch.epoch, epoch.epochs)

        def charge(patients: Sequence[str | None]) -> None:
            report.check()
            assert payment is not None
            payment.charge(patients)

        recipe = LastLayerRecipe(settings.epochs, settings.batch_size, settings.learning_rate)
        result = fine_tune_last_layer(
            *(base, data, recipe),
            privacy=privacy,
            classes=classes,
            watch=watch,
            progress=lambda done: report(done, len(data)),
            charge=None if payment is None else charge,
        )
        payer = None
        if payment is not None:
            payment.keep(result.model.fingerprint)
            payer = payment.payer
        return Tuned(result, privacy, tuple(report.said), len(data), refused, name, payer)

    return work
