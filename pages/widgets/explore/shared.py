"""What the views share: public, simulated or uploaded records, the sliders, and downloads."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.widgets.choose_files import choose_one, choose_score_file
from pages.widgets.session import bundled_cifar10, bundled_scores, open_ledger
from pages.widgets.settings import choose_alpha, choose_epsilon
from pages.widgets.text import as_text, offer_download
from ppsets_core import InputError, Records, read_scores
from ppsets_core.data.records import chosen
from ppsets_core.explore.labelled import Labelled, simulated_records
from ppsets_core.explore.page import csv_of_rows, numbers_of, whole_page
from ppsets_core.method.sets import conformity_scores
from ppsets_core.scores import LAC
from ppsets_core.wording import class_names

CORONAHACK, CIFAR10, SIMULATED, FILE = "CoronaHack X-rays", "CIFAR-10", "Simulated", "A public file"
MOST = 20_000
SIGNAL_HELP = "0 is guessing; at 3 it is almost never wrong. Its probabilities are always exactly right."
PAGE_HELP = "One file that opens in any browser, without a network. For a picture, use the camera above a figure."
alpha_slider = partial(choose_alpha, key="explore_alpha")
epsilon_slider = partial(choose_epsilon, key="explore_epsilon")
_UPLOADED, _IS_PUBLIC = "explore_uploaded", "explore_is_public"


@dataclass(frozen=True, eq=False)
class PublicRecords:
    """Scores, and where the source has them the probabilities and labels that set sizes need."""

    name: str
    scores: np.ndarray
    labelled: Labelled | None
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.scores)

    def need_labelled(self) -> Labelled:
        """Refuse records that have scores only."""
        if self.labelled is None:
            raise InputError("Set sizes need a probability for each diagnosis and a label; this file has scores only.")
        return self.labelled

    @property
    def digest(self) -> str:
        """Distinguishes these records from others, even of the same name."""
        return hashlib.sha256(np.ascontiguousarray(self.scores).tobytes()).hexdigest()


def choose_records() -> PublicRecords | None:
    """The records that every view uses; None while there are none."""
    label = "Records to explore"
    sources = {CORONAHACK: _coronahack, CIFAR10: _cifar10, SIMULATED: _simulated, FILE: _uploaded}
    return sources[choose_one(label, list(sources), "explore_source")]()


def _coronahack() -> PublicRecords:
    records = bundled_scores()
    st.caption(f"{len(records):,} public X-rays, held out of training.")
    return _from_file(records)


def _cifar10() -> PublicRecords:
    records = bundled_cifar10()
    st.caption(f"{len(records):,} public test images, classified by a small network as in the paper.")
    return _from_file(records)


def _simulated() -> PublicRecords:
    left, middle, right = st.columns(3)
    count = left.select_slider(
        "Simulated records", [500, 1000, 2000, 5000, 10_000], 2000, key="explore_count", persist_state="session"
    )
    classes = middle.slider("Diagnoses", 2, 20, 3, key="explore_classes", persist_state="session")
    look = ("How good the model is", 0.0, 4.0, 1.6, 0.1)
    signal = right.slider(*look, key="explore_signal", persist_state="session", help=SIGNAL_HELP)
    labelled = simulated_records(count, classes, signal, np.random.default_rng(0))
    correct = f"{100 * labelled.top_accuracy():.0f}%"
    st.caption(f"Simulated: no patient is behind these records. This model is right {correct} of the time.")
    names = tuple(f"diagnosis {number + 1}" for number in range(classes))
    return PublicRecords(SIMULATED, conformity_scores(labelled.probabilities, labelled.labels), labelled, names)


def _uploaded() -> PublicRecords | None:
    file = choose_score_file("explore_file", on_change=_forget)
    if file is None or not st.checkbox(
        "These records are public or made up: what is shown about them need not be private.",
        key=_IS_PUBLIC,
        persist_state="session",
    ):
        st.info("Explore shows exact numbers of the records. Private records belong on Calibrate.")
        return None
    if _UPLOADED not in st.session_state:
        st.session_state[_UPLOADED] = _not_in_the_ledger(read_scores(file, score=LAC))
    records = st.session_state[_UPLOADED]
    st.warning(
        as_text(f"{records.source}: {len(records):,} records, used as public. Nothing shown about them is private."),
        icon=":material/visibility:",
    )
    return _from_file(records)


def _not_in_the_ledger(records: Records) -> Records:
    """Refuse records under the name of a privacy budget, whatever is ticked. Only the name is compared: an answer about
    the records themselves would help to guess them."""
    if (known := open_ledger().account_for(records)) is not None:
        raise InputError(
            f"The ledger keeps a privacy budget under this file's name, '{known.name}', so Explore refuses it. "
            "If it is another file, and public, rename it."
        )
    return records


def _forget() -> None:
    """Ask again whether the records are public: another file is another promise."""
    st.session_state.pop(_UPLOADED, None)
    st.session_state[_IS_PUBLIC] = False


def _from_file(records: Records) -> PublicRecords:
    if len(records) > MOST:
        st.caption(f"Of these, {MOST:,} drawn at random are looked at.")
        records = chosen(records, np.sort(np.random.default_rng(0).choice(len(records), MOST, replace=False)))
    labelled = None if records.probabilities is None else Labelled.of(records)
    return PublicRecords(records.source, records.scores, labelled, class_names(records.classes))


def choose_setting() -> tuple[float, float, int]:
    """α, ε and a number of records n, side by side."""
    left, middle, right = st.columns(3)
    alpha, epsilon = alpha_slider(left), epsilon_slider(middle)
    n = right.number_input("Records n", 10, 200_000, 1000, 100, key="explore_planned_n", persist_state="session")
    return alpha, epsilon, int(n)


def take_away(
    name: str, figures: Mapping[str, go.Figure], setting: str, rows: Sequence[Mapping[str, object]] | None = None
) -> None:
    """Download the figures as a page that works offline and the numbers as CSV, both made only when asked for.

    setting: α, ε and the like in words, for the page's title.
    rows: the view's own table; by default the points that are drawn.
    """
    file = name.lower().replace(" ", "-")
    page = partial(whole_page, f"{name}: {setting}", figures)
    with st.container(horizontal=True):
        offer_download("Figures (HTML)", page, f"{file}.html", f"take_figures_{file}", PAGE_HELP)
        numbers = partial(_numbers, figures, rows)
        offer_download("Numbers (CSV)", numbers, f"{file}.csv", f"take_numbers_{file}")


def _numbers(figures: Mapping[str, go.Figure], rows: Sequence[Mapping[str, object]] | None) -> str:
    return csv_of_rows(numbers_of(figures) if rows is None else rows)
