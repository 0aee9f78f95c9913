"""Files that could not be used, listed with the reason for each."""

import streamlit as st

from ppsets_core.files import Refused


def show_refused(refused: tuple[Refused, ...]) -> None:
    """Every file that was left out, with its reason; names as text."""
    if refused:
        count = "1 file was" if len(refused) == 1 else f"{len(refused):,} files were"
        with st.expander(f"{count} left out, and why"):
            rows = [{"file": one.name, "reason": one.reason} for one in refused]
            st.dataframe(rows, hide_index=True, alt="Files left out, with the reason for each")
