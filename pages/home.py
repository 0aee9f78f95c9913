"""Home: what this is for, three steps, the state of this session, and the demo."""

import streamlit as st

from pages.widgets import session
from pages.widgets.calibration_card import offer_last_release, show_calibration
from pages.widgets.demo import Demo, run_demo
from pages.widgets.person import first_budget, may_open
from pages.widgets.shelf import choose_from_shelf
from pages.widgets.streamlit_parts import run_through_app
from pages.widgets.text import as_text
from ppsets_core import Simulation
from ppsets_core.ledger.amounts import shown

STEPS = (
    ("1 · Calibrate", "Give X-rays or scores with known diagnoses. Choose how sure, how private to be.", "calibrate"),
    ("2 · Diagnose", "Give new X-rays, or a table of probabilities. Each comes back with a ranked set.", "diagnose"),
    ("3 · Keep count", "Every release is charged to a privacy budget. See every budget and what was spent.", "ledger"),
)
MOST_ACCOUNTS = 5


def main() -> None:
    st.title("Private prediction sets for chest X\u2011rays")  # a hyphen at which no line ends
    st.markdown(
        "A neural network reads a chest X-ray and is often right, but never says when it is unsure. "
        "Here it answers with a **set of diagnoses** that holds the true one as often as you ask, say 9 times in 10. "
        "The patients whose X-rays set the threshold are protected by **differential privacy**: "
        "the release reveals almost nothing about any one of them."
    )
    st.caption("COVID-19 counts as viral pneumonia here: the bundled model has no class for it.")
    _steps()
    st.subheader("This session")
    _calibration()
    if may_open("ledger"):
        st.subheader("Privacy budgets")
        _budgets()


def _steps() -> None:
    for column, (name, sentence, page) in zip(st.columns(len(STEPS)), STEPS, strict=True):
        with column.container(border=True, height="stretch"):
            st.markdown(f"**{name}**")
            st.write(sentence)
            if may_open(page):
                st.page_link(f"pages/{page}.py", label=f"Open {page.title()}", icon=":material/arrow_forward:")


def _calibration() -> None:
    calibration = session.active_calibration()
    if calibration is None or session.fits_model(calibration) is not False:
        session.warn_of_other_weights()
    if st.button("Try the demo", key="demo", type="primary" if calibration is None else "secondary"):
        with st.spinner("Calibrating on the bundled public scores …"):
            demo = run_demo(session.open_ledger)
        st.session_state["demo_result"] = demo
        session.set_active_calibration(demo.calibration, demo.source)
        st.rerun()
    if calibration is None:
        st.write("Nothing is calibrated yet. The demo calibrates on bundled, public scores with one click.")
        offer_last_release()
        choose_from_shelf()
        return
    last: Demo | None = st.session_state.get("demo_result")
    if last is not None and last.calibration is calibration:
        show = st.warning if isinstance(calibration, Simulation) else st.success
        show(as_text(last.sentence))
    st.write("Active calibration:")
    show_calibration(calibration, session.calibration_source(), key="home")


def _budgets() -> None:
    accounts = session.open_ledger().accounts()
    if not accounts:
        st.write(f"None yet. {first_budget()}")
    for account in accounts[:MOST_ACCOUNTS]:
        share = min(1.0, float(account.spent / account.budget))
        st.progress(share, as_text(f"{account.name}: {shown(account.spent)} spent of {shown(account.budget)}"))
    if len(accounts) > MOST_ACCOUNTS:
        st.page_link("pages/ledger.py", label=f"All {len(accounts)} data sets")


if run_through_app():
    main()
