"""Model: how good the network is, other weights, and fine-tuning its last layer."""

import streamlit as st

from pages.widgets.guard import guarded
from pages.widgets.model.card import show_card
from pages.widgets.model.tuning import show_tuning
from pages.widgets.model.weights import say_what_changed, show_weights
from pages.widgets.person import may
from pages.widgets.session import who_it_is_for
from pages.widgets.streamlit_parts import run_through_app
from pages.widgets.text import as_text
from ppsets_core.access import CURATOR

VIEWS = {"Model card": show_card, "Weights": show_weights, "Fine-tune": show_tuning}


def main() -> None:
    st.title("Model")
    st.markdown(f":material/child_care: {as_text(who_it_is_for())}")
    say_what_changed()
    views = {name: show for name, show in VIEWS.items() if show is not show_tuning or may(CURATOR)}
    for tab, show in zip(st.tabs(list(views), on_change="rerun", key="model_view"), views.values(), strict=True):
        if tab.open:
            with tab, guarded():
                show()


if run_through_app():
    main()
