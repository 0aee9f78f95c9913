"""Without a log-in the app is for this machine alone; with one, every name it has is said."""

import os
import subprocess
import sys

import pytest

from pages.widgets.server.listening import is_local
from tests.pages.driving import ROOT

START = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port", "0"]
SECRETS = """
[auth]
redirect_uri = "https://ppsets.example/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
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


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1", "127.3.2.1", "::1"])
def test_addresses_of_this_machine(address):
    assert is_local(address)


@pytest.mark.parametrize("address", [None, "", "0.0.0.0", "::", "192.168.0.7", "ppsets.example"])
def test_addresses_that_others_can_reach(address):
    assert not is_local(address)


@pytest.mark.faults
@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_it_listens_nowhere_else_without_a_log_in(address):
    assert ending_of("--server.address", address).startswith("ppsets: Without a log-in this app listens on localhost")


@pytest.mark.faults
def test_it_has_no_other_name_without_a_log_in():
    said = ending_of(STREAMLIT_SERVER_ALLOWED_HOSTS="ppsets.example")
    assert said.startswith("ppsets: Without a log-in this app listens on localhost")


@pytest.mark.faults
def test_hosts_are_named_in_full_and_headers_are_not_trusted():
    assert "without *" in ending_of(STREAMLIT_SERVER_ALLOWED_HOSTS="*.example")
    assert "must be empty" in ending_of(STREAMLIT_SERVER_TRUSTED_USER_HEADERS='{"X-User": "sub"}')


@pytest.mark.faults
def test_the_name_at_which_people_log_in_must_be_allowed(tmp_path):
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(SECRETS)
    said = ending_of("--server.address", "0.0.0.0", HOME=str(tmp_path))
    assert said.startswith("ppsets: People log in at 'ppsets.example'")
