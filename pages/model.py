"""Model: how good the network is, other weights, and fine-tuning its last layer."""

import streamlit as st

from pages.widgets.entry import shown_by_app
from pages.widgets.guard import guarded
from pages.widgets.modelling.card import show_card
from pages.widgets.modelling.switch import say_what_changed
from pages.widgets.modelling.tuning import show_tuning
from pages.widgets.modelling.weights import show_weights

VIEWS = {"Model card": show_card, "Weights": show_weights, "Fine-tune": show_tuning}


def main() -> None:
    st.title("Model")
    say_what_changed()
    for tab, show in zip(st.tabs(list(VIEWS), on_change="rerun", key="model_view"), VIEWS.values(), strict=True):
        if tab.open:
            with tab, guarded():
                show()


if shown_by_app():
    main()
