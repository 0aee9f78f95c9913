"""Entry: the gate before every request; page configuration, navigation, and what every screen shares."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import streamlit as st

from pages.widgets.calibration_card import one_line, take_up_last_release
from pages.widgets.guard import guarded
from pages.widgets.person import OPEN_TO, admitted, may, may_open, show_person
from pages.widgets.server.start import protection, while_serving
from pages.widgets.session import active_calibration, calibration_source
from pages.widgets.shelf import keep_choice
from pages.widgets.streamlit_parts import is_script_run, note_shown_uploads
from pages.widgets.text import as_text
from ppsets_core.access import VIEWER
from ppsets_core.places import DOCS
from ppsets_core.wording import NOT_A_DEVICE

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

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
@media (min-width: 769px) and (max-width: 1400px) {
  .stMainBlockContainer { padding-left: 2.5rem; padding-right: 2.5rem; }
}
.stMainBlockContainer { padding-top: 4rem; }
[data-testid=stCaptionContainer], [data-testid=stCaptionContainer] p { color: inherit; }
[data-testid=stCaptionContainer] { opacity: 0.8; }
[data-testid^=stBaseButton-primary]:not(:disabled) { background-color: #0072B2; border-color: #0072B2; }
@media (max-width: 768px) {
  .stMainBlockContainer { padding-left: 1rem; padding-right: 1rem; }
  [data-testid=stToastContainer] { top: auto; bottom: 1rem; }
}
</style>"""
# There the sidebar lies over the screen: a screen that was chosen in it would stay hidden.
FOLD_AFTER_CHOICE = """<script>
if (!window.foldsAfterChoice) {
  window.foldsAfterChoice = true;
  document.addEventListener("click", (event) => {
    if (window.innerWidth <= 768 && event.target.closest("[data-testid=stSidebarNavLink]"))
      document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  });
}
</script>"""


def main() -> None:
    screen = st.navigation([_page(name) for name in SCREENS], position="sidebar" if may(VIEWER) else "hidden")
    st.set_page_config(page_title=f"{screen.title} · ppsets", page_icon=LOGO, layout="wide")
    note_shown_uploads()
    st.logo(LOGO, size="large")
    st.html(STYLE)
    with guarded():
        if admitted():
            keep_choice()
            take_up_last_release()
            _show(screen.title.lower(), screen.run)


def _page(name: str) -> "StreamlitPage":
    seen: Literal["visible", "hidden"] = "visible" if may_open(name) else "hidden"
    path, is_home = f"pages/{name}.py", name == "home"
    return st.Page(path, title=name.title(), icon=SCREENS[name], default=is_home, visibility=seen)


def _show(name: str, run: Callable[[], None]) -> None:
    with st.sidebar:
        st.html(FOLD_AFTER_CHOICE, unsafe_allow_javascript=True)
        calibration = active_calibration()
        if calibration is None:
            st.markdown(":small[No calibration yet.]")
        else:
            st.markdown(f":small[{as_text(f'Calibrated with {calibration_source()}: {one_line(calibration)}.')}]")
        st.markdown(f":small[**{NOT_A_DEVICE}**]")
        with st.popover("Glossary", icon=":material/menu_book:"):
            st.markdown((DOCS / "glossary.md").read_text(encoding="utf-8").removeprefix("# Glossary\n"))
        show_person()
    with st.container(key="narrow_notice"):
        st.markdown(f":small[**{NOT_A_DEVICE}**]")
    if may_open(name):
        run()
    else:
        st.title(name.title())
        st.info(f"This screen is for a {' or a '.join(OPEN_TO[name])}. Ask this server's administrator for it.")


if not is_script_run():
    app = st.App(__file__, middleware=protection(), lifespan=while_serving)  # for the server, which finds it by name
else:
    main()
