"""Log-ins that were ended, also those of so many claims that a browser keeps them in several cookies."""

import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from pages.widgets.server import logged_out
from pages.widgets.server.logged_out import USER_COOKIE, is_logged_out, note_logged_out
from tests.pages.server.test_gate import HOST, asked, gate

SECRET = "0123456789abcdef0123456789abcdef"


def signed(secret: str = SECRET, **parts: str) -> dict[str, str]:
    """Cookies by the ends of their names."""
    names = {f"{USER_COOKIE}{end}": value for end, value in parts.items()}
    return {name: create_signed_value(secret, name, value).decode() for name, value in names.items()}


@pytest.fixture(autouse=True)
def server(monkeypatch):
    monkeypatch.setattr(logged_out, "cookie_secret", lambda: SECRET)
    monkeypatch.setattr(logged_out, "_ended", type(logged_out._ended)())


def test_a_log_in_in_several_cookies_is_ended_and_its_parts_are_worth_nothing_with_others():
    vera, carl = signed(**{"": "chunks-2", "_1": "vera"}), signed(**{"": "chunks-2", "_1": "carl"})
    carl[USER_COOKIE] = create_signed_value(SECRET, USER_COOKIE, "chunks-2 of another second").decode()
    header = "; ".join(f"{name}={value}" for name, value in vera.items())
    asked(gate(), "/auth/logout", HOST, ("cookie", f"other=1; {header}"))
    assert is_logged_out(vera)
    assert is_logged_out(vera | {USER_COOKIE: carl[USER_COOKIE]}), "with the first cookie of a log-in that goes on"
    assert not is_logged_out(carl)


def test_what_the_server_did_not_sign_has_no_log_out_forgotten(monkeypatch):
    monkeypatch.setattr(logged_out, "MOST", 3)
    vera = signed(**{"": "vera"})
    note_logged_out(vera)
    for number in range(10):
        note_logged_out({USER_COOKIE: f"made-up-{number}"})
        note_logged_out(signed("another server's", **{"": f"forged {number}"}))
    assert is_logged_out(vera)
