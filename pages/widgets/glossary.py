"""Ten words that the screens use, explained where they are met."""

from pathlib import Path

import streamlit as st

WORDS = Path(__file__).resolve().parents[2] / "docs" / "glossary.md"


def show_glossary() -> None:
    with st.popover("What the words mean", icon=":material/menu_book:"):
        st.markdown(WORDS.read_text(encoding="utf-8"))
