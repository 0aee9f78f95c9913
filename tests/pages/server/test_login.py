"""Without a log-in the app is for this machine alone; with one it starts only in order, and logging out counts."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from pages.widgets.server import gate as gates
from pages.widgets.server import login
from pages.widgets.server.login import USER_COOKIE, admits, is_logged_out, note_logged_out
from ppsets_core import Ledger
from ppsets_core.server_check import LoginSettings
from tests.pages.driving import ROOT
from tests.pages.server.test_gate import HOST, OWN, asked, gate
from tests.test_server_check import AUTH, GOOD, PLACEHOLDER, ROLES, provider, write_secrets

SECRET = AUTH["cookie_secret"]
ALONE = "Without a log-in this app listens on localhost"


def said_by(*options: str, **environment: str) -> tuple[int, str]:
    """The exit code of a server that ends by itself, and all that it says."""
    command = [sys.executable, "-m", "ppsets_core", "app", "--no-browser", *options]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.faults
@pytest.mark.parametrize(
    ("said", "environment"),
    [
        (ALONE, {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}),
        (ALONE, {"STREAMLIT_SERVER_ADDRESS": "::"}),
        (ALONE, {"STREAMLIT_SERVER_ALLOWED_HOSTS": "ppsets.example"}),
        ("without *", {"STREAMLIT_SERVER_ALLOWED_HOSTS": "*.example"}),
        ("must be empty", {"STREAMLIT_SERVER_TRUSTED_USER_HEADERS": '{"X-User": "sub"}'}),
        ("is not there", {"STREAMLIT_SECRETS_FILES": "/no/secrets.toml"}),
    ],
)
def test_without_a_log_in_it_listens_here_only_and_no_host_or_header_is_trusted(said, environment):
    code, words = said_by(**environment)
    assert code == 1
    assert f"ppsets: {said}" in words or said in words.splitlines()[-1]


@pytest.mark.faults
def test_check_says_in_a_sentence_each_what_a_start_would_refuse(home, tmp_path):
    secrets = tmp_path / "secrets.toml"
    environment = {"STREAMLIT_SERVER_ALLOWED_HOSTS": "ppsets.example", "STREAMLIT_SECRETS_FILES": str(secrets)}
    with provider(200, json.dumps(GOOD).encode()) as url:
        write_secrets(secrets, server_metadata_url=url)
        code, words = said_by("--check", **environment)
        assert (code, words.splitlines()[-1]) == (0, "ppsets: ready to start for ppsets.example")
        assert not home.exists(), "a check makes no ledger"
        Ledger(home / "ledger.sqlite")
        home.chmod(0o755)
        refused = {f"Other accounts can open {home}; run: chmod 700": said_by(**environment)}
        write_secrets(secrets, server_metadata_url=url, redirect_uri="https://other.example/oauth2callback")
        refused["People log in at 'other.example'"] = said_by(**environment)
    refused[f"The provider does not answer at {url}"] = said_by(**environment)
    secrets.write_text("[auth\n")
    refused[f"The secrets file {secrets} is not valid TOML: Expected ']'"] = said_by(**environment)
    for said, (code, words) in refused.items():
        assert code == 1
        assert f"ppsets: {said}" in words
    write_secrets(secrets, cookie_secret=PLACEHOLDER)
    secrets.write_text(secrets.read_text().replace("curator", "curater"))
    code, words = said_by("--check", **environment)
    begins = [line[8:32] for line in words.splitlines()]
    assert (code, begins) == (1, ["[auth] cookie_secret mus", "[roles] has no 'curater'", "Other accounts can open "])


@pytest.fixture
def server(monkeypatch):
    settings = LoginSettings.of({"auth": AUTH, "roles": ROLES})
    monkeypatch.setattr(login, "login_settings", lambda: settings)
    monkeypatch.setattr(login, "_ended", type(login._ended)())


def signed(secret: str = SECRET, **parts: str) -> dict[str, str]:
    """Cookies by the ends of their names."""
    names = {f"{USER_COOKIE}{end}": value for end, value in parts.items()}
    return {name: create_signed_value(secret, name, value).decode() for name, value in names.items()}


def claims(sub: str = "vera", lasts: float = 86_400, **others: object) -> str:
    who = {"iss": "https://id.example", "sub": sub, "groups": ["readers"], "exp": time.time() + lasts}
    return json.dumps({**who, "is_logged_in": True, **others})


def header(cookies: dict[str, str]) -> tuple[str, str]:
    return "cookie", "; ".join(f"{name}={value}" for name, value in cookies.items())


VERA = {"": claims()}
STRANGERS = {
    "nobody": {},
    "forged": signed("f" * 64, **VERA),
    "unsigned": {USER_COOKIE: claims()},
    "expired": signed(**{"": claims(lasts=-1)}),
    "roleless": signed(**{"": claims(groups=["choir"])}),
    "not logged in": signed(**{"": claims(is_logged_in=False)}),
    "no JSON": signed(**{"": "chunks-1", "_1": "{"}),
    "a part missing": signed(**{"": "chunks-2", "_1": claims()}),
}


@pytest.mark.parametrize("cookies", STRANGERS.values(), ids=STRANGERS)
def test_strangers_upload_nothing_fetch_nothing_and_no_fragment_is_drawn_for_them(server, monkeypatch, cookies):
    heard: list[BackMsg] = []

    async def noting(scope, receive, send):
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200})
        else:
            while (message := await receive())["type"] == "websocket.receive":
                heard.append(BackMsg.FromString(message["bytes"]))

    def sent_by(who: dict[str, str]) -> list[BackMsg]:
        heard.clear()
        asked(one, "/_stcore/stream", HOST, OWN, header(who), kind="websocket", messages=MESSAGES)
        return heard

    one = gates.Gate(noting, hosts=["localhost"])
    upload = ("/_stcore/upload_file/session/file", HOST, ("content-length", "10"))
    vera = signed(**VERA)
    assert asked(one, *upload, header(vera), method="PUT")[0]["status"] == 200
    assert len(sent_by(vera)) == len(MESSAGES)
    assert not admits(cookies)
    for method in ("PUT", "DELETE"):
        assert asked(one, *upload, header(cookies), method=method)[0]["status"] == 403
    (only,) = sent_by(cookies)
    assert (only.rerun_script.page_name, only.rerun_script.fragment_id) == ("diagnose", "")
    assert [widget.id for widget in only.rerun_script.widget_states.widgets] == ["$$ID-1-log_in"]
    monkeypatch.setattr(gates.MediaAccess, "knows", lambda *_: True)
    assert asked(one, "/media/x", HOST, header(cookies))[0]["status"] == 404
    assert asked(one, "/media/x", HOST, header(vera))[0]["status"] == 200


def messages() -> Iterator[bytes]:
    """One that runs a fragment, with pressed buttons and a box of text; then all else that a browser may send."""
    run = BackMsg()
    run.rerun_script.page_name, run.rerun_script.fragment_id, run.rerun_script.is_auto_rerun = "diagnose", "abc", True
    for name in ("$$ID-1-log_in", "$$ID-2-spend"):
        run.rerun_script.widget_states.widgets.add(id=name, trigger_value=True)
    run.rerun_script.widget_states.widgets.add(id="$$ID-3-log_in", string_value="x" * 1000)
    yield run.SerializeToString()
    yield BackMsg(clear_cache=True).SerializeToString()
    yield BackMsg(stop_script=True).SerializeToString()


MESSAGES = list(messages())


def test_no_spelling_of_a_cookie_is_logged_in_after_the_log_out(server):
    """The signature's last letter has spare bits, and what is no letter of it counts for nothing."""
    vera = signed(**VERA)[USER_COOKIE]
    ends = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spellings = [vera[:-1] + end for end in ends] + [vera + end for end in ("=", "==", "!", "\xe9", " ", "=A")]
    valid = [one for one in spellings if admits({USER_COOKIE: one})]
    assert len(valid) > 3
    asked(gate(), "/auth/logout", HOST, ("cookie", f'other=1; {USER_COOKIE}="{valid[-1]}"'))
    assert [one for one in spellings if admits({USER_COOKIE: one})] == []
    for one in valid:
        note_logged_out({USER_COOKIE: one})
    assert len(login._ended) == 1, "and they have no other log-out forgotten"


def test_a_log_in_in_several_cookies_is_ended_and_its_parts_are_worth_nothing_with_others(server):
    vera, carl = (
        signed(**{"": "chunks-2", "_1": claims(who)[:40], "_2": claims(who)[40:]}) for who in ("vera", "carl")
    )
    assert admits(vera)
    assert admits(carl)
    carl[USER_COOKIE] = create_signed_value(SECRET, USER_COOKIE, "chunks-2 of another second").decode()
    asked(gate(), "/auth/logout", HOST, header(vera))
    assert not admits(vera)
    assert is_logged_out(vera | {USER_COOKIE: carl[USER_COOKIE]}), "with the first cookie of a log-in that goes on"
    assert not is_logged_out(carl)


def test_what_the_server_did_not_sign_has_no_log_out_forgotten(server, monkeypatch):
    monkeypatch.setattr(login, "MOST_ENDED", 3)
    vera = signed(**{"": "vera"})
    note_logged_out(vera)
    for number in range(10):
        note_logged_out({USER_COOKIE: f"made-up-{number}"})
        note_logged_out(signed("another server's", **{"": f"forged {number}"}))
    assert is_logged_out(vera)
