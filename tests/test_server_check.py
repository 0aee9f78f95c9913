"""A server's configuration before it starts: one sentence for each fault, and none that repeats a secret."""

import http.server
import json
import threading
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import pytest

from ppsets_core.access import RoleRules
from ppsets_core.errors import InputError
from ppsets_core.server_check import METADATA, LoginSettings, claim_note, is_local, read_provider, read_secrets

AUTH = {
    "redirect_uri": "https://ppsets.example/oauth2callback",
    "cookie_secret": token_hex(32),
    "client_id": "ppsets",
    "client_secret": "kept quiet",
    "server_metadata_url": "https://id.example/.well-known/openid-configuration",
}
ROLES = {"claim": "groups", "viewer": ["readers"]}
PLACEHOLDER = "64 random hexadecimal digits: openssl rand -hex 32"
"""What docs/deploy.md once had in this place, for everybody to copy."""


def write_secrets(path: Path, **auth: str) -> None:
    """A secrets.toml in order, but for these settings of [auth]."""
    settings = [f'{name} = "{value}"' for name, value in {**AUTH, **auth}.items()]
    roles = ["[roles]", 'viewer = ["readers"]', 'curator = ["data"]', 'steward = ["office"]']
    path.touch(0o600)
    path.write_text("\n".join(["[auth]", *settings, *roles]), encoding="utf-8")


def test_what_is_in_order_is_taken_and_nothing_is_no_log_in():
    settings = LoginSettings.of({"auth": AUTH, "roles": ROLES})
    assert (settings.host, settings.rules.claim) == ("ppsets.example", "groups")
    assert LoginSettings.of({"auth": AUTH | {"redirect_uri": "http://localhost:{port}/oauth2callback"}, "roles": ROLES})
    assert LoginSettings.of({"other": 1}) is None


@pytest.mark.parametrize(
    ("secrets", "said"),
    [
        *(({"auth": AUTH | {name: None}}, rf"\[auth\] has no {name}") for name in AUTH),
        *(({"auth": AUTH | {name: 7}}, rf"\[auth\] has no {name}") for name in AUTH),
        *(
            ({"auth": AUTH | {"cookie_secret": secret}}, "openssl rand -hex 32")
            for secret in (PLACEHOLDER, token_hex(31), token_hex(32)[:-1] + "g", "0123456789abcdef" * 4, "0" * 64)
        ),
        ({"auth": AUTH | {"redirect_uri": "http://ppsets.example/oauth2callback"}}, "redirect_uri must be an https"),
        ({"auth": AUTH | {"redirect_uri": "https://ppsets.example/"}}, "ends in /oauth2callback"),
        ({"auth": AUTH | {"server_metadata_url": "id.example"}}, "server_metadata_url must be an https"),
        ({"auth": "x"}, r"no section \[auth\]"),
        ({"auth": None}, r"no section \[auth\]"),
        ({"roles": None}, r"no section \[roles\]"),
        ({"roles": ROLES | {"curater": ["data"]}}, "no 'curater'"),
        ({"roles": ROLES | {"claim": ["groups"]}}, "must name a claim"),
        ({"roles": {"claim": "groups"}}, "gives nobody a role"),
        ({"roles": ROLES | {"claim": ""}}, "must name a claim"),
        ({"roles": ROLES | {"viewer": 7}}, "must be a list of texts"),
        ({"roles": ROLES | {"viewer": [7]}}, "must be a list of texts"),
    ],
)
def test_each_fault_is_one_sentence_that_repeats_no_secret(secrets, said):
    given = {"auth": AUTH, "roles": ROLES, **secrets}
    with pytest.raises(InputError, match=said) as refused:
        LoginSettings.of({name: value for name, value in given.items() if value is not None})
    assert len(str(refused.value).splitlines()) == 1
    auth = given["auth"] if isinstance(given["auth"], dict) else {}
    assert [name for name in ("cookie_secret", "client_secret") if str(auth.get(name)) in str(refused.value)] == []


def test_several_faults_are_said_together():
    with pytest.raises(InputError) as refused:
        LoginSettings.of({"auth": {**AUTH, "client_id": "", "cookie_secret": "x"}, "roles": {"curater": []}})
    assert [line.split()[1] for line in str(refused.value).splitlines()] == ["has", "cookie_secret", "has"]


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (b"[auth]\nclient_id = ppsets\n", 0o600, r"not valid TOML: .*line 2, column 13"),
        (b'[auth]\nx = "\xff"', 0o600, "not UTF-8 at byte 13"),
        (b"[auth]\n", 0o640, "chmod 600"),
        (b"[roles]\n", 0o604, "chmod 600"),
        (None, 0, "is not there"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_place(tmp_path, content, mode, said):
    path = tmp_path / "secrets.toml"
    if content is not None:
        path.write_bytes(content)
        path.chmod(mode)
    with pytest.raises(InputError, match=said) as refused:
        read_secrets([str(path)], must_exist=True)
    assert str(path) in str(refused.value)


def test_later_files_win_and_those_that_nobody_named_may_be_missing(tmp_path):
    for name, text in (("a", "[auth]\nx = 1\n[other]\ny = 1"), ("b", "[auth]\nx = 2")):
        (tmp_path / f"{name}.toml").write_text(text)
        (tmp_path / f"{name}.toml").chmod(0o600)
    files = [str(tmp_path / f"{name}.toml") for name in ("a", "b", "c")]
    assert read_secrets(files, must_exist=False) == {"auth": {"x": 2}, "other": {"y": 1}}
    with pytest.raises(InputError, match="must be a"):
        read_secrets([str(tmp_path)], must_exist=False)


@contextmanager
def provider(status: int, body: bytes):
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("localhost", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/.well-known/openid-configuration"
        server.shutdown()


GOOD = dict.fromkeys(METADATA, "https://id.example/x")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (404, b"", "does not answer at .*Not Found"),
        (200, b"<html>", "it has no issuer"),
        (200, b"[]", "it has no issuer"),
        (200, json.dumps({**GOOD, "jwks_uri": ""}).encode(), "it has no jwks_uri"),
    ],
)
def test_a_provider_that_nobody_could_log_in_by(status, body, said):
    with provider(status, body) as url, pytest.raises(InputError, match=said):
        read_provider(url)
    with pytest.raises(InputError, match="does not answer"):
        read_provider(url)


def test_a_provider_that_does_not_list_the_claim_is_worth_a_note():
    rules = RoleRules.of({"claim": "realm_access.roles"})
    with provider(200, json.dumps({**GOOD, "claims_supported": ["sub", "groups"]}).encode()) as url:
        found = read_provider(url)
    assert "'realm_access.roles'" in claim_note(found, rules)
    assert claim_note(found, RoleRules.of({})) == claim_note(GOOD, rules) == ""
    assert claim_note({"claims_supported": ["realm_access"]}, rules) == ""


def test_addresses_of_this_machine_and_those_that_others_can_reach():
    assert all(map(is_local, ["localhost", "127.0.0.1", "127.3.2.1", "::1"]))
    assert not any(map(is_local, [None, "", "0.0.0.0", "::", "192.168.0.7", "ppsets.example"]))
