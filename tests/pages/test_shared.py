"""What all screens share: text stays text, no traceback, a logarithmic ε, and no torch before it is needed."""

import logging
import re
import subprocess
import sys
import time

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.widgets.jobs import JobKey, _cancel, collect, start_job
from pages.widgets.settings import EPSILONS
from pages.widgets.text import as_text
from ppsets_core.wording import weak_budget
from tests.attacks.names import HOSTILE
from tests.pages.driving import ROOT

SPECIAL = r"[`*_{}\[\]()<>#+!|~$&^=-]"
HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\x00-\x09\x0b-\x1f]")
NO_TORCH = """
import sys
from streamlit.testing.v1 import AppTest
at = AppTest.from_file("app.py", default_timeout=60).run()
for name in ("calibrate", "diagnose", "ledger", "home"):
    at.switch_page(f"pages/{name}.py").run()
    assert not at.exception and not at.error, name
print("torch" in sys.modules)
"""


def test_text_keeps_its_letters_and_a_budget_that_protects_nobody_is_said_so():
    assert as_text("a\n# b\r\n\tc") == r"a \# b c"
    assert weak_budget(2) == weak_budget(10) == ""
    assert "60,000" in weak_budget(11)
    assert "10^300" in weak_budget(1000)
    assert all(np.diff(EPSILONS) > 0)
    assert {0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0} <= set(EPSILONS)


@pytest.mark.parametrize("name", HOSTILE)
def test_every_sign_that_markdown_knows_is_escaped(name):
    text = as_text(HOSTILE[name])
    assert not re.search(r"(?<!\\)(?:\\\\)*" + SPECIAL, re.sub(r"\\.", "", text))
    assert not HIDDEN.search(text)
    assert not re.search(r":\w|://|www\.|\w@", text.replace("\\", ""))


def test_guard_shows_what_is_refused_and_hides_what_was_not_foreseen(caplog):
    def page():
        import streamlit as st

        from pages.widgets.guard import guarded
        from ppsets_core import InputError

        with guarded():
            raise InputError("alpha must be *small*")
        with guarded():
            raise KeyError("patient 4711")
        st.write("The rest goes on.")

    with caplog.at_level(logging.ERROR, "ppsets"):
        at = AppTest.from_function(page).run()
    refused, unforeseen = (each.value for each in at.error)
    assert refused == r"alpha must be \*small\*"
    assert "4711" not in unforeseen + caplog.text
    assert "KeyError in" in caplog.text
    assert not at.exception
    assert at.markdown[0].value == "The rest goes on."


def test_work_that_ended_before_it_was_cancelled_is_handed_out():
    key = JobKey[str]("test_jobs")
    start_job(key, lambda report: "paid for")
    while st.session_state[key].running:
        time.sleep(0.01)
    _cancel(key)
    assert collect(key) == "paid for"


def test_torch_is_not_loaded_before_it_is_needed(home):
    out = subprocess.run([sys.executable, "-c", NO_TORCH], cwd=ROOT, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
