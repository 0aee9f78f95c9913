"""Who is logged in, as the screens say it: before the time is up, after it, and at the next log-in."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from pages.widgets import person
from pages.widgets.server import login
from ppsets_core.server_check import LoginSettings
from tests.pages.driving import ROOT, labels, texts
from tests.test_server_check import AUTH, ROLES

WHO = {"iss": "https://id.example", "sub": "vera", "groups": ["readers"], "is_logged_in": True}


@pytest.fixture
def log_in(monkeypatch):
    """Let the session's person have these claims, for so many seconds yet."""
    settings = LoginSettings.of({"auth": AUTH, "roles": ROLES})
    for module in (login, person):
        monkeypatch.setattr(module, "login_settings", lambda: settings)

    def give(lasts: float = 3600, **claims: object) -> None:
        found = WHO | {"exp": time.time() + lasts} | claims
        monkeypatch.setattr(person, "_claims", lambda: found)

    return give


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)


def test_a_warning_comes_before_the_time_is_up_and_then_only_the_log_in_is_left(log_in, app):
    log_in()
    assert "Logged in as vera: viewer." in texts(app.run())
    assert "ends in" not in texts(app)
    log_in(lasts=250)
    assert "Your log-in ends in about 4 minutes" in texts(app.run())
    app.session_state["kept"] = "an X-ray"
    log_in(lasts=-1)
    assert texts(app.run()) == person.EXPIRED
    assert labels(app) == ["Log in again"]
    assert "kept" not in app.session_state


def test_who_has_no_role_is_told_whether_the_claim_was_there(log_in, app):
    log_in(groups=["choir"])
    assert person.NO_ROLE in texts(app.run())
    log_in(groups=None)
    assert "no claim 'groups'" in texts(app.run())
    assert labels(app) == ["Log out"]


def test_marks_are_found_again_at_the_next_log_in_and_by_nobody_else(log_in, monkeypatch):
    kept = person.KeptMarks()
    monkeypatch.setattr(person, "_kept_marks", lambda: kept)
    log_in(lasts=10)
    first = person.marks_of_person()
    log_in(lasts=3600)
    assert person.marks_of_person() is first
    log_in(sub="carl")
    assert person.marks_of_person() is not first
    monkeypatch.setattr(person, "login_settings", lambda: None)
    assert person.marks_of_person() is not person.marks_of_person(), "one session's, where nobody logs in"
