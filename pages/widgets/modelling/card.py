"""The model card: how good the bundled weights are on X-rays they were not trained on, and what they are."""

from pathlib import Path

import streamlit as st

from pages.widgets.bundled import bundled_scores
from ppsets_core.figures.model import confusion_figure, reliability_figure
from ppsets_core.network.report import ModelReport, report

CARD = Path(__file__).resolve().parents[3] / "models" / "README.md"


def show_card() -> None:
    records = bundled_scores()
    found = report(records.probabilities, records.labels)
    st.write(
        f"The bundled ResNet-18, on {found.n:,} CoronaHack X-rays of patients that it was not trained on. "
        "Its most probable class is compared with the label; prediction sets come on top of it."
    )
    _numbers(found)
    left, right = st.columns(2)
    left.subheader("What it takes for what", anchor=False)
    left.plotly_chart(
        confusion_figure(records.classes, found.confusion), key="model_confusion", alt="Counts of true against said"
    )
    right.subheader("Is it as often right as it says?", anchor=False)
    right.plotly_chart(
        reliability_figure(found.reliability), key="model_reliability", alt="Share right against probability given"
    )
    recalls = zip(records.classes, found.recalls, found.confusion.sum(axis=1), strict=True)
    st.dataframe(
        [{"class": name, "X-rays": int(n), "recognised": f"{100 * recall:.1f}%"} for name, recall, n in recalls],
        hide_index=True,
        width="content",
        alt="Recall of each class",
    )
    if CARD.is_file():
        with st.expander("The full model card: data, training, limits"):
            st.markdown(CARD.read_text(encoding="utf-8"))


def _numbers(found: ModelReport) -> None:
    left, middle, right = st.columns(3)
    left.metric("Accuracy", f"{100 * found.accuracy:.1f}%")
    middle.metric("Mean recall of the classes", f"{100 * found.macro_recall:.1f}%")
    right.metric(
        "Calibration error",
        f"{found.calibration_error:.3f}",
        help="How far, on average, the probability it gives is from how often it is right (15 bins).",
    )
