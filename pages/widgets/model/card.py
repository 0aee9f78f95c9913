"""The model card: how good the bundled weights are on X-rays they were not trained on, and what they are."""

import streamlit as st

from pages.widgets.session import bundled_scores
from ppsets_core import Evaluation, evaluate, nonprivate_threshold
from ppsets_core.explore.figures import confusion_figure, reliability_figure
from ppsets_core.explore.labelled import Labelled
from ppsets_core.model.report import ModelReport, report
from ppsets_core.places import MODELS
from ppsets_core.wording import class_names

ALPHA = 0.1
ERROR_HELP = "How far, on average, the probability it gives is from how often it is right (15 bins)."
CARD = MODELS / "README.md"


def show_card() -> None:
    records = bundled_scores()
    labelled, classes = Labelled.of(records), class_names(records.classes)
    found = report(labelled.probabilities, labelled.labels)
    st.write(f"The bundled ResNet-18, on {found.n:,} CoronaHack X-rays of patients that it was not trained on.")
    _numbers(found)
    left, right = st.columns(2)
    left.header("Confusion matrix", anchor=False)
    confusion = confusion_figure(classes, found.confusion)
    left.plotly_chart(confusion, key="model_confusion", alt="Counts of true against said")
    right.header("Are its probabilities reliable?", anchor=False)
    reliability = reliability_figure(found.reliability)
    right.plotly_chart(reliability, key="model_reliability", alt="Share right against probability given")
    sets = _sets()
    recalls = zip(classes, found.recalls, found.confusion.sum(axis=1), sets.coverage_by_class, strict=True)
    st.dataframe(
        [
            {"class": name, "X-rays": int(n), "recognised": f"{100 * recall:.1f}%", "in its set": f"{100 * held:.1f}%"}
            for name, recall, n, held in recalls
        ],
        hide_index=True,
        width="content",
        alt="Of each class, how often it is recognised and how often it is in the prediction set",
    )
    st.caption(_average(sets))
    if CARD.is_file():
        with st.expander("The full model card: data, training, limits"):
            st.markdown(CARD.read_text(encoding="utf-8"))


def _sets() -> Evaluation:
    """Ordinary sets of 90%, calibrated on one public split and judged on the other."""
    calibration, validation = bundled_scores("calibration"), Labelled.of(bundled_scores("validation"))
    threshold = nonprivate_threshold(calibration.scores, ALPHA)
    return evaluate(validation.probabilities, validation.labels, threshold)


def _average(sets: Evaluation) -> str:
    return (
        f"In its set: how often ordinary prediction sets of {100 * (1 - ALPHA):.0f}% hold the class "
        f"({sum(sets.size_counts):,} X-rays)."
    )


def _numbers(found: ModelReport) -> None:
    left, middle, right = st.columns(3)
    left.metric("Accuracy", f"{100 * found.accuracy:.1f}%")
    middle.metric("Mean recall of the classes", f"{100 * found.macro_recall:.1f}%")
    right.metric("Calibration error", f"{found.calibration_error:.3f}", help=ERROR_HELP)
