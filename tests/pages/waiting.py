"""Waiting for work that a click started, also where it ended within the click's own run."""

import time

import pytest
from streamlit.testing.v1 import AppTest

LONGEST = 300  # seconds: fine-tuning in a test takes some ten, and the machine may have other work


def finish(at: AppTest, key: str, seconds: float = LONGEST) -> AppTest:
    """Let the session's work under this name end, and draw the screen with what it found."""
    if key not in at.session_state:
        return at
    end = time.monotonic() + seconds
    while at.session_state[key].running:
        if time.monotonic() > end:
            pytest.fail(f"The work '{key}' did not end within {seconds:g} seconds.")
        time.sleep(0.02)
    return at.run()
