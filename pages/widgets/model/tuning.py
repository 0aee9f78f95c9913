"""Fine-tuning the last layer: choose X-rays and settings, watch the loss, keep or use what came out."""

from pathlib import Path

import streamlit as st

from pages.widgets.choose_files import ChosenXrays, choose_labelled_xrays, proposed_name
from pages.widgets.jobs import JobKey, collect, is_running, show_progress, start_job
from pages.widgets.model.training import PrivacySettings, Settings, Tuned, choose_settings, fine_tuning
from pages.widgets.model.weights import bytes_of, switch_to
from pages.widgets.session import active_model, open_ledger
from pages.widgets.spend import Spending, Terms, choose_account, has_room, spend_step, spent_on
from pages.widgets.streamlit_parts import UploadedFile
from pages.widgets.text import as_text, offer_download, show_refused
from ppsets_core.explore.figures import training_figure
from ppsets_core.ledger.training import TrainingPayment
from ppsets_core.wording import ADDS_UP, PRIVATE_TRAINING, class_names

_JOB, _DONE, TRAINING = JobKey[Tuned]("tuning_job"), "tuned", "training"
USUAL_BUDGET = 5.0


def show_tuning() -> None:
    st.write(
        "Fit the network to X-rays of your own hospital: everything but its last layer stays as it is. "
        "With DP-SGD, the new layer is differentially private for the X-rays it learns from."
    )
    source, labels = choose_labelled_xrays("tune")
    settings = choose_settings()
    paid = spent_on(TRAINING, ())
    if source is not None and settings.privacy is not None and not is_running(_JOB):
        _pay_and_begin(source, labels, settings, settings.privacy)
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


def _pay_and_begin(
    source: ChosenXrays, labels: UploadedFile | None, settings: Settings, privacy: PrivacySettings
) -> None:
    """Choose who pays and confirm; the training charges it before it begins."""
    ledger = open_ledger()
    account = choose_account(ledger, proposed_name(source), USUAL_BUDGET, key=f"tune-{proposed_name(source)}")
    if account is None or not has_room(account, privacy.epsilon):
        return

    def begin(spending: Spending) -> TrainingPayment:
        price = (privacy.epsilon, privacy.delta)
        payment = TrainingPayment(ledger, account, *price, request=spending.request, reason=spending.reason)
        start_job(_JOB, fine_tuning(active_model(), source, labels, settings, payment))
        return payment

    price = f"ε = {privacy.epsilon:g} and δ = {privacy.delta:g}"
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
    st.subheader("What came out", anchor=False)
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
