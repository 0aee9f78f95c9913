"""Entry: page configuration and navigation."""

import streamlit as st

st.set_page_config(page_title="ppsets", layout="wide")
st.title("Private prediction sets for chest X-rays")
