"""A calibration as its reader needs it: threshold, promise, its files; and the last one, taken up again."""

import streamlit as st

from pages.widgets.session import active_calibration, open_ledger, set_active_calibration, warn_of_other_model
from pages.widgets.text import as_text, offer_download
from ppsets_core import Calibration, LedgerError, Simulation
from ppsets_core.ledger.accounts import WITHDRAWN
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.reports.calibration import calibration_report, payer_of
from ppsets_core.wording import SIMULATED, describe, familiar_or_not, guarantee, meaning, names_of, needed, scope

MOST_SHOWN = 6
_TAKEN_UP = "last_release_taken_up"
NEEDED = "1 − ŝ: the least probability that is in the set."
FAMILIAR_HELP = "τ̂: an X-ray whose novelty is above it is marked as unfamiliar. 0 is most familiar."


def show_calibration(calibration: Calibration | Simulation, source: str, key: str) -> None:
    """Numbers, sentences, the JSON and the report to keep, and the way on to Diagnose."""
    if isinstance(calibration, Simulation):
        st.warning(SIMULATED)
    warn_of_other_model(calibration)
    with st.container(horizontal=True, gap="medium"):
        _thresholds(calibration)
        if calibration.novelty is not None and not calibration.novelty.is_trivial:
            shown = f"{calibration.novelty_threshold:.4g}"
            st.metric("Familiar up to", shown, help=FAMILIAR_HELP, width="content")
        st.metric("ε spent", f"{calibration.epsilon_spent:g}", width="content")
    st.write(as_text(f"{meaning(calibration)} {_promise(calibration)}"))
    st.markdown(f":small[{as_text(scope(calibration))}]")
    if calibration.novelty is not None and not calibration.is_trivial:
        st.caption(as_text(familiar_or_not(calibration)))
    st.caption(as_text(f"From {source}: {describe(calibration)}."))
    ledger = open_ledger()
    with st.container(horizontal=True):
        offer_download("Download calibration (JSON)", calibration.to_json(), "calibration.json", key=f"{key}_json")
        offer_download(
            "Report to print (HTML)",
            lambda: calibration_report(calibration, payer_of(calibration, ledger)),
            "calibration-report.html",
            key=f"{key}_report",
        )
        if st.button("Go to Diagnose", key=f"{key}_diagnose", type="primary", icon=":material/arrow_forward:"):
            set_active_calibration(calibration, source)
            st.switch_page("pages/diagnose.py")


def _thresholds(calibration: BaseCalibration) -> None:
    if not calibration.has_cutoffs:
        shown = ", ".join(f"{threshold:.4g}" for threshold in calibration.thresholds[:MOST_SHOWN])
        st.metric("Threshold ŝ", shown, help=as_text(f"For the score {calibration.score}."), width="content")
        return
    if calibration.per is not None:
        each = zip(names_of(calibration), calibration.thresholds, calibration.cutoffs, strict=True)
        for name, threshold, cutoff in list(each)[:MOST_SHOWN]:
            st.metric(as_text(name), needed(cutoff), help=f"{NEEDED} ŝ = {threshold:.6g}.", width="content")
        return
    threshold_help = "A diagnosis is in the set if 1 − its probability is at most ŝ."
    st.metric("Threshold ŝ", f"{calibration.threshold:.6g}", help=threshold_help, width="content")
    st.metric("Cutoff", needed(calibration.cutoff), help=NEEDED, width="content")


def _promise(calibration: Calibration | Simulation) -> str:
    """A simulation covers as a release does, but protects nobody."""
    if isinstance(calibration, Calibration):
        return guarantee(calibration)
    return f"Planned coverage: at least {100 * calibration.coverage_lower:.4g}%. No record is protected."


def one_line(calibration: Calibration | Simulation) -> str:
    """For the sidebar."""
    kind = "" if isinstance(calibration, Calibration) else "Simulation, not a release: "
    each = "" if calibration.per is None else f" for each {calibration.per}"
    cutoff = f", cutoff {calibration.cutoff:.3f}" if calibration.has_cutoffs and calibration.per is None else ""
    return f"{kind}coverage ≥ {100 * calibration.coverage_lower:.3g}%{each}, ε = {calibration.epsilon:g}{cutoff}"


def take_up_last_release() -> None:
    """At the start of a session, such as after a reload: the last release is paid for, so it is used again."""
    if _TAKEN_UP in st.session_state:
        return
    st.session_state[_TAKEN_UP] = ""
    try:
        known = open_ledger().snapshot()
    except LedgerError:
        return  # the screen itself says what is wrong with the ledger
    withdrawn = {change.release: change.kind == WITHDRAWN for change in known.shelf_changes}
    released = [one for one in known.releases if one.calibration is not None and not withdrawn.get(one.id)]
    if released and active_calibration() is None:
        last = released[-1]
        st.session_state[_TAKEN_UP] = f"In use: {last.account}, released {last.time[:10]}."
        set_active_calibration(last.calibration, last.account)
        st.toast(as_text(taken_up()), icon=":material/history:")


def taken_up() -> str:
    """Which release this session began with, as plain text that is yet to be escaped; '' where it was none."""
    return st.session_state.get(_TAKEN_UP, "")
