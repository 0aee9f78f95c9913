"""The words that the screens use, explained where they are met."""

import streamlit as st

from ppsets_core.places import DOCS

WORDS = DOCS / "glossary.md"


def show_glossary() -> None:
    with st.popover("What the words mean", icon=":material/menu_book:"):
        st.markdown(WORDS.read_text(encoding="utf-8"))
