"""Entry: the gate before every request; page configuration, navigation, and what every screen shares."""

from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.widgets.calibration_card import one_line
from pages.widgets.glossary import show_glossary
from pages.widgets.guard import guarded
from pages.widgets.server.start import browser_opened, protection
from pages.widgets.session import active_calibration, calibration_source
from pages.widgets.text import as_text
from pages.widgets.uploads import drop_uploads_of_no_widget
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


def main() -> None:
    st.set_page_config(page_title="ppsets", page_icon=LOGO, layout="wide")
    drop_uploads_of_no_widget()
    st.logo(LOGO, size="large")
    st.html(STYLE)
    screen = st.navigation(
        [
            st.Page(f"pages/{name}.py", title=name.title(), icon=SCREENS[name], default=name == "home")
            for name in SCREENS
        ]
    )
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


if get_script_run_ctx(suppress_warning=True) is None:
    app = st.App(__file__, middleware=protection(), lifespan=browser_opened)  # for the server, which finds it by name
else:
    main()
