"""The bundled CoronaHack scores: public data, so one reading serves every session."""

import streamlit as st

from ppsets_core.data import bundled

bundled_scores = st.cache_resource(show_spinner=False)(bundled.bundled_scores)
