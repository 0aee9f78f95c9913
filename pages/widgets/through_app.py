"""Every screen is shown by app.py, with its guard and sidebar, also the first that a new server is asked for.

Streamlit takes a folder named `pages` for its older kind of app and, until st.navigation has been called once, runs a
file of it on its own where the address names one.
"""

from streamlit.runtime.pages_manager import PagesManager

from ppsets_core.places import APP


def shown_by_app() -> bool:
    """True where app.py shows this screen; else run app.py, which shows it, and return False."""
    if not PagesManager.uses_pages_directory:
        return True
    exec(compile(APP.read_text(encoding="utf-8"), APP, "exec"), {"__name__": "__main__", "__file__": str(APP)})
    return False
