"""Waiting for work that a click started, also where it ended within the click's own run."""

import time

from streamlit.testing.v1 import AppTest


def finish(at: AppTest, key: str) -> AppTest:
    """Let the session's work under this name end, and draw the screen with what it found."""
    if key not in at.session_state:
        return at
    while at.session_state[key].running:
        time.sleep(0.02)
    return at.run()
