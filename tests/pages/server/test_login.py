"""Without a log-in the app is for this machine alone; with one, every name it has is said, and logging out counts."""

import os
import subprocess
import sys

import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from pages.widgets.server import login
from pages.widgets.server.login import USER_COOKIE, is_local, is_logged_out, note_logged_out
from tests.pages.driving import ROOT
from tests.pages.server.test_gate import HOST, asked, gate

START = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port", "0"]
SECRET = "0123456789abcdef0123456789abcdef"
SECRETS = f"""
[auth]
redirect_uri = "https://ppsets.example/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "ppsets"
client_secret = "secret"
server_metadata_url = "https://id.example/.well-known/openid-configuration"
"""


def ending_of(*options: str, **environment: str) -> str:
    """What a server that ends by itself says at its end."""
    variables = {**os.environ, **environment}
    done = subprocess.run([*START, *options], cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    return done.stderr.strip().splitlines()[-1]


def test_addresses_of_this_machine_and_those_that_others_can_reach():
    assert all(map(is_local, ["localhost", "127.0.0.1", "127.3.2.1", "::1"]))
    assert not any(map(is_local, [None, "", "0.0.0.0", "::", "192.168.0.7", "ppsets.example"]))


ALONE = "ppsets: Without a log-in this app listens on localhost"


@pytest.mark.faults
@pytest.mark.parametrize(
    ("said", "options", "variables"),
    [
        (ALONE, ("--server.address", "0.0.0.0"), {}),
        (ALONE, ("--server.address", "::"), {}),
        (ALONE, (), {"STREAMLIT_SERVER_ALLOWED_HOSTS": "ppsets.example"}),
        ("without *", (), {"STREAMLIT_SERVER_ALLOWED_HOSTS": "*.example"}),
        ("must be empty", (), {"STREAMLIT_SERVER_TRUSTED_USER_HEADERS": '{"X-User": "sub"}'}),
    ],
)
def test_without_a_log_in_it_listens_here_only_and_no_host_or_header_is_trusted(said, options, variables):
    assert said in ending_of(*options, **variables)


@pytest.mark.faults
def test_the_name_at_which_people_log_in_must_be_allowed(tmp_path):
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(SECRETS)
    said = ending_of("--server.address", "0.0.0.0", HOME=str(tmp_path))
    assert said.startswith("ppsets: People log in at 'ppsets.example'")


def signed(secret: str = SECRET, **parts: str) -> dict[str, str]:
    """Cookies by the ends of their names."""
    names = {f"{USER_COOKIE}{end}": value for end, value in parts.items()}
    return {name: create_signed_value(secret, name, value).decode() for name, value in names.items()}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(login, "cookie_secret", lambda: SECRET)
    monkeypatch.setattr(login, "_ended", type(login._ended)())


def test_a_log_in_in_several_cookies_is_ended_and_its_parts_are_worth_nothing_with_others(server):
    vera, carl = signed(**{"": "chunks-2", "_1": "vera"}), signed(**{"": "chunks-2", "_1": "carl"})
    carl[USER_COOKIE] = create_signed_value(SECRET, USER_COOKIE, "chunks-2 of another second").decode()
    header = "; ".join(f"{name}={value}" for name, value in vera.items())
    asked(gate(), "/auth/logout", HOST, ("cookie", f"other=1; {header}"))
    assert is_logged_out(vera)
    assert is_logged_out(vera | {USER_COOKIE: carl[USER_COOKIE]}), "with the first cookie of a log-in that goes on"
    assert not is_logged_out(carl)


def test_what_the_server_did_not_sign_has_no_log_out_forgotten(server, monkeypatch):
    monkeypatch.setattr(login, "MOST", 3)
    vera = signed(**{"": "vera"})
    note_logged_out(vera)
    for number in range(10):
        note_logged_out({USER_COOKIE: f"made-up-{number}"})
        note_logged_out(signed("another server's", **{"": f"forged {number}"}))
    assert is_logged_out(vera)
