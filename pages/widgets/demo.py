"""The demo: one click to a calibrated state on the bundled public scores. It always works and says what it did."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np
import streamlit as st

import ppsets_core as pp
from pages.widgets import session
from pages.widgets.calibrate.sources import DEMO_BUDGET, DEMO_DATASET
from pages.widgets.diagnose.source import SYNTHETIC, start
from pages.widgets.text import as_text

ALPHA, EPSILON = 0.1, 1.0
_ATTEMPTS, _SECONDS = 6, 0.3
_SAID = "demo_sentence"


@dataclass(frozen=True)
class Demo:
    """The demo's calibration, the account it belongs to and a sentence on where it comes from."""

    calibration: pp.Calibration | pp.Simulation
    source: str
    sentence: str


def offer_demo() -> None:
    """One button: calibrate on public scores, then Diagnose with the synthetic X-rays and their sets."""
    if st.button(f"Try it: {len(SYNTHETIC)} X-rays", key="demo", type="primary", icon=":material/play_arrow:"):
        with st.spinner("Calibrating on the bundled public scores …"):
            demo = run_demo(session.open_ledger)
            session.set_active_calibration(demo.calibration, demo.source)
            st.session_state[_SAID] = demo.sentence
            start(None)
        st.switch_page("pages/diagnose.py")


def say_what_demo_did() -> None:
    """Once, on the screen that the demo leads to."""
    if sentence := st.session_state.pop(_SAID, ""):
        st.toast(as_text(sentence), duration="long")


def run_demo(open_ledger: Callable[[], pp.Ledger]) -> Demo:
    """One release a ledger, charged once and used again from then on.

    Without a working ledger nothing may be released, so the threshold is simulated, which public scores allow, and
    marked so. A ledger that another session is busy with is tried again first.
    """
    records = pp.one_per_patient(session.bundled_scores("calibration"))
    why = ""
    for _ in range(_ATTEMPTS):
        try:
            return _released(open_ledger(), records)
        except pp.AccessError as error:
            why = str(error)
            break
        except pp.LedgerError as error:
            why = str(error)
            time.sleep(_SECONDS)
    simulated = pp.simulate(records, _plan(records), np.random.default_rng())
    sentence = f"{why} So the demo's threshold is simulated: the scores are public, but it is no private release."
    return Demo(simulated, "the demo, simulated", sentence)


def _released(ledger: pp.Ledger, records: pp.Records) -> Demo:
    """The account's last release, else a new one; in an account of another name where others released under its own.

    Sessions that click at once ask for the same request, so that they share one charge."""
    for number in count(1):
        name = DEMO_DATASET if number == 1 else f"{DEMO_DATASET}-{number}"
        made = ledger.releases(name)
        drawn = [one.calibration for one in made if one.calibration is not None]
        if any((one.n, one.model) != (len(records), records.model) for one in drawn):
            continue
        if drawn:
            return Demo(drawn[-1], name, f"Using the practice release of '{name}' again, for free.")
        account = ledger.account_for(records, name) or ledger.account_for(records, name, DEMO_BUDGET)
        assert account is not None
        request = f"demo {records.model} {name} {len(made)}"  # another one where a charge was made and nothing drawn
        released = ledger.release(records, _plan(records), account, request=request, reason="the demo")
        return Demo(released, name, f"Calibrated on public scores: a practice release, charged to '{name}'.")
    raise AssertionError


def _plan(records: pp.Records) -> pp.Plan:
    return pp.plan(len(records), ALPHA, EPSILON)
