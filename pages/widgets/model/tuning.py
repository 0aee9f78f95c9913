"""Fine-tuning the last layer: choose X-rays and settings, watch the loss, keep or use what came out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.widgets.choose_files import ChosenXrays, choose_labelled_xrays, proposed_name
from pages.widgets.jobs import JobKey, collect, is_running, show_progress, start_job
from pages.widgets.model.weights import bytes_of, switch_to
from pages.widgets.session import active_model, model_name, open_ledger
from pages.widgets.spend import Spending, Terms, choose_account, has_room, spend_step, spent_on
from pages.widgets.streamlit_parts import UploadedFile
from pages.widgets.text import as_text, offer_download, show_refused
from ppsets_core.errors import LedgerError
from ppsets_core.explore.figures import training_figure
from ppsets_core.ledger.training import TrainingPayment
from ppsets_core.model.report import Epoch
from ppsets_core.progress import JobProgress
from ppsets_core.wording import ADDS_UP, PRIVATE_TRAINING, class_names
from ppsets_core.xrays import Refused, read_folder
from ppsets_core.xrays.labels import Labels
from ppsets_core.xrays.listing import Source

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel
    from ppsets_core.model.train import FineTuned, Privacy

_JOB, _DONE, TRAINING = JobKey["Tuned"]("tuning_job"), "tuned", "training"
USUAL_BUDGET = 5.0
DELTAS = (1e-3, 1e-4, 1e-5, 1e-6)
EPSILON_HELP = "How much the weights may reveal about any one X-ray. The budgets for calibrations pay for it, too."
DELTA_HELP = "The chance that ε does not hold; well below one over the number of X-rays."
CLASSES_HELP = "With privacy the labels must not set them: one X-ray could add one. X-rays of others are left out."


@dataclass(frozen=True)
class Settings:
    """What fine-tuning needs to know. Without ε it is plain; without classes it learns those of the weights."""

    epochs: int
    batch_size: int
    learning_rate: float
    epsilon: float | None = None
    delta: float = 1e-5
    clip: float = 1.0
    classes: tuple[str, ...] | None = None


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
    return Settings(epochs, batch, rate, epsilon, delta, clip, classes)


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


def show_tuning() -> None:
    st.write(
        "Fit the network to X-rays of your own hospital: everything but its last layer stays as it is. "
        "With DP-SGD, the new layer is differentially private for the X-rays it learns from."
    )
    source, labels = choose_labelled_xrays("tune")
    settings = choose_settings()
    paid = spent_on(TRAINING, ())
    if source is not None and settings.epsilon is not None and not is_running(_JOB):
        _pay_and_begin(source, labels, settings, settings.epsilon)
    else:
        pressed = st.button("Fine-tune", type="primary", key="tune", disabled=source is None or is_running(_JOB))
        if pressed and source is not None:
            start_job(_JOB, fine_tuning(active_model(), source, labels, settings, None))
            st.rerun()
    if is_running(_JOB):
        show_progress(_JOB, "Working …", draw=lambda report: _draw_loss(report.said))
        return
    if paid is not None and paid.result.is_wasted:
        st.warning("The training was charged and then ended early. What it cost stays spent: the Ledger screen has it.")
    if (tuned := collect(_JOB)) is not None:
        st.session_state[_DONE] = tuned
    if _DONE in st.session_state:
        _show(st.session_state[_DONE])


def _pay_and_begin(source: ChosenXrays, labels: UploadedFile | None, settings: Settings, epsilon: float) -> None:
    """Choose who pays and confirm; the training charges it before it begins."""
    ledger = open_ledger()
    account = choose_account(ledger, proposed_name(source), USUAL_BUDGET, key=f"tune-{proposed_name(source)}")
    if account is None or not has_room(account, epsilon):
        return

    def begin(spending: Spending) -> TrainingPayment:
        price = (epsilon, settings.delta)
        payment = TrainingPayment(ledger, account, *price, request=spending.request, reason=spending.reason)
        start_job(_JOB, fine_tuning(active_model(), source, labels, settings, payment))
        return payment

    price = f"ε = {epsilon:g} and δ = {settings.delta:g}"
    terms = Terms(TRAINING, (), (_ids(source, labels), settings), account, price)
    words = (
        "Everyone whose X-rays are trained on is charged before the training begins, once for each X-ray. If someone "
        "has no room for it, after all releases under any name, nothing is trained and nothing charged. What is "
        f"charged stays charged, also if you cancel the training or leave this page. {ADDS_UP}"
    )
    spend_step(terms, begin, opens="Fine-tune …", verb="fine-tune", words=words)


def _draw_loss(epochs: list) -> None:
    if epochs:
        st.plotly_chart(training_figure(list(epochs)), key="tune_live", alt="Loss and held-out accuracy by epoch")


def _show(tuned: Tuned) -> None:
    st.header("What came out", anchor=False)
    left, middle, right = st.columns(3)
    held_out = "On patients held out of the training. Not private."
    left.metric("Accuracy", _percent(tuned.result.accuracy), help=held_out)
    middle.metric("Mean recall of the classes", _percent(tuned.result.macro_recall), help=held_out)
    if tuned.privacy is not None:
        spent = f"ε = {tuned.result.epsilon:.3g}"
        right.metric("Privacy spent", spent, help=f"At δ = {tuned.privacy.delta:g}, by Opacus's accountant.")
        st.caption(as_text(f"{PRIVATE_TRAINING} Charged to '{tuned.payer}' before it began."))
    st.caption(
        as_text(
            f"{tuned.xrays:,} X-rays, classes {', '.join(class_names(tuned.result.model.classes))}; from {tuned.base}."
        )
    )
    show_refused(tuned.refused)
    st.plotly_chart(training_figure(tuned.epochs), key="tune_loss", alt="Loss and held-out accuracy by epoch")
    with st.container(horizontal=True):
        if st.button("Use this model", type="primary", key="tune_use"):
            switch_to(tuned.result.model, "weights fine-tuned in this session")
        label, name = "Download the weights (safetensors)", "fine_tuned.safetensors"
        offer_download(label, lambda: bytes_of(tuned.result.model), name, key="tune_download")
    st.caption("Calibrate again after switching, with other X-rays than these: the model knows these too well.")


def _ids(source: ChosenXrays, labels: UploadedFile | None) -> tuple[str, ...]:
    """What tells these X-rays and labels from others."""
    files = [str(source)] if isinstance(source, Path) else [file.file_id for file in source]
    return (*files, "" if labels is None else labels.file_id)


def _percent(share: float) -> str:
    return "unknown" if share != share else f"{100 * share:.1f}%"


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
    if (settings.epsilon is None) != (payment is None):
        raise LedgerError("Private training, and it alone, is paid for. Nothing was trained.")

    def work(report: JobProgress) -> Tuned:
        from ppsets_core.model.train import LastLayerRecipe, Privacy, fine_tune_last_layer
        from ppsets_core.model.training_set import read_training_set

        privacy, classes = None, None
        if settings.epsilon is not None:
            privacy = Privacy(settings.epsilon, settings.delta, settings.clip)
            classes = settings.classes or base.classes
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
            payer = payment.account.name
        return Tuned(result, privacy, tuple(report.said), len(data), refused, name, payer)

    return work
