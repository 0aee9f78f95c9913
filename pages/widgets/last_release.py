"""The release that was paid for last, offered again where a session has none: a reload must not cost a second ε."""

import streamlit as st

from pages.widgets.active_model import warn_of_other_model
from pages.widgets.guard import guarded
from pages.widgets.session import open_ledger, set_active_calibration
from pages.widgets.text import as_text
from ppsets_core.wording import describe


@guarded()
def offer_last_release() -> None:
    """Says nothing where nothing was released yet."""
    released = [release for release in open_ledger().releases() if release.calibration is not None]
    if not released or (calibration := released[-1].calibration) is None:
        return
    last = released[-1]
    with st.container(border=True, key="last_release"):
        st.markdown(as_text(f"Released last, on {last.time[:10]}, from {last.account}:"))
        st.caption(as_text(f"{describe(calibration, calibration.unit)}. It is paid for: using it again costs nothing."))
        warn_of_other_model(calibration)
        with st.container(horizontal=True):
            if st.button("Use this release again", key="use_last", type="primary", icon=":material/history:"):
                set_active_calibration(calibration, last.account)
                st.rerun()
            if len(released) > 1:
                st.page_link("pages/ledger.py", label=f"All {len(released):,} releases", icon=":material/receipt_long:")
