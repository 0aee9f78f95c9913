"""Entry: page configuration, navigation, and what every screen shares."""

from pathlib import Path

import streamlit as st

from pages.widgets.calibration_card import one_line
from pages.widgets.glossary import show_glossary
from pages.widgets.guard import guarded
from pages.widgets.session import active_calibration, calibration_source
from pages.widgets.text import as_text
from pages.widgets.uploads import keep_uploads_in_memory
from ppsets_core.wording import NOT_A_DEVICE

HERE = Path(__file__).parent
LOGO = str(HERE / "assets" / "logo.svg")
SCREENS = {
    "home": ":material/home:",
    "calibrate": ":material/tune:",
    "diagnose": ":material/radiology:",
    "explore": ":material/query_stats:",
    "model": ":material/network_node:",
    "ledger": ":material/receipt_long:",
}
# On a narrow window the sidebar is folded away, so the notice stands above the page instead; never both.
STYLE = """<style>
@media (min-width: 769px) { .st-key-narrow_notice { display: none; } }
@media (max-width: 768px) { .stMainBlockContainer { padding-left: 1rem; padding-right: 1rem; } }
</style>"""

keep_uploads_in_memory()
st.set_page_config(page_title="ppsets", page_icon=LOGO, layout="wide")
st.logo(LOGO, size="large")
st.html(STYLE)
pages = [
    st.Page(f"pages/{name}.py", title=name.title(), icon=icon, default=name == "home") for name, icon in SCREENS.items()
]
screen = st.navigation(pages)
with st.sidebar:
    calibration = active_calibration()
    if calibration is None:
        st.markdown(":small[No calibration yet.]")
    else:
        st.markdown(f":small[{as_text(f'Calibrated with {calibration_source()}: {one_line(calibration)}.')}]")
    st.markdown(f":small[**{NOT_A_DEVICE}**]")
    show_glossary()
with st.container(key="narrow_notice"):
    st.markdown(f":small[**{NOT_A_DEVICE}**]")
with guarded():
    screen.run()
