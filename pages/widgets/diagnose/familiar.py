"""How many of a batch are unlike the calibration's, and the alarm, or why that cannot be told."""

import streamlit as st

from ppsets_core.novelty import Alarm


def show_alarm(alarm: Alarm) -> None:
    """In red where it is on."""
    if alarm.is_on:
        st.error(alarm.words, icon=":material/notification_important:")
    else:
        st.caption(alarm.words)
