"""How many of a batch are unlike the calibration's: the alarm, where it is on."""

import streamlit as st

from ppsets_core.familiarity import Alarm


def show_alarm(alarm: Alarm | None) -> None:
    """The alarm in red, or how many are unlike and were to be expected; nothing where that cannot be told."""
    if alarm is not None and alarm.is_on:
        st.error(alarm.words, icon=":material/notification_important:")
    elif alarm is not None:
        st.caption(alarm.words)
