"""docs/deploy.md as an administrator follows it: its files hold what they promise, and its tests are there."""

import http.client
import json
import re
import shutil
import ssl
import subprocess
import tomllib
from collections.abc import Iterator

import pytest

from ppsets_core.errors import InputError
from ppsets_core.server_check import LoginSettings
from tests.browser.server import App, free_port, serve
from tests.browser.test_strangers import UPGRADE
from tests.pages.driving import ROOT
from tests.test_server_check import AUTH, GOOD, provider, write_secrets

PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
KEY = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-keyout"]


def block(kind: str) -> str:
    (found,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.S)
    return found


def test_secrets_toml_is_complete_but_for_the_secret_that_everyone_makes():
    secrets = tomllib.loads(block("toml"))
    with pytest.raises(InputError, match="64 random hexadecimal digits") as refused:
        LoginSettings.of(secrets)
    assert len(str(refused.value).splitlines()) == 1
    secrets["auth"]["cookie_secret"] = AUTH["cookie_secret"]
    assert LoginSettings.of(secrets).host in block("ini")


def test_every_promise_names_a_test_that_is_there():
    table = PAGE.split("## What the server promises")[1].split("\n## ")[0]
    rows = table.strip().splitlines()[2:]
    code = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        assert [name for name in named if f"def {name}(" not in code] == []


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed.")
def test_the_unit_is_one_that_systemd_takes_and_waits_for_the_ledgers_disk(tmp_path):
    unit = tmp_path / "ppsets.service"
    unit.write_text(re.sub("ExecStart=.*", "ExecStart=/bin/true", block("ini")))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert [line for line in done.stderr.splitlines() if "ppsets.service" in line] == []
    home = re.search("PPSETS_HOME=(.*)", block("ini"))[1]
    assert home in re.search("RequiresMountsFor=(.*)", block("ini"))[1].split()


@pytest.fixture
def behind_nginx(tmp_path) -> Iterator[tuple[App, int]]:
    """The app behind nginx as on the page, but for the port, the certificate and the host, which is localhost."""
    if not (nginx := shutil.which("nginx")):
        pytest.skip("nginx is not installed.")
    outer, inner = free_port(), free_port()
    subprocess.run([*KEY, tmp_path / "ppsets.key", "-out", tmp_path / "ppsets.pem"], check=True, capture_output=True)
    site = block("nginx").replace("443 ssl", f"{outer} ssl").replace("/etc/ssl/", f"{tmp_path}/")
    site = site.replace("ppsets.hospital.example", "localhost").replace("8501", str(inner))
    logs = f"error_log {tmp_path}/error.log; pid {tmp_path}/pid; events {{}}"
    (tmp_path / "nginx.conf").write_text(f"{logs} http {{ access_log off; {site} }}")
    with provider(200, json.dumps(GOOD).encode()) as url:
        redirect, secrets = f"https://localhost:{outer}/oauth2callback", tmp_path / "secrets.toml"
        write_secrets(secrets, redirect_uri=redirect, server_metadata_url=url)
        hosts = {"STREAMLIT_SERVER_ALLOWED_HOSTS": "localhost", "STREAMLIT_SECRETS_FILES": str(secrets)}
        with serve(tmp_path, inner, **hosts) as app:
            proxy = [nginx, "-c", tmp_path / "nginx.conf", "-p", tmp_path]
            subprocess.run(proxy, check=True)
            try:
                yield app, outer
            finally:
                subprocess.run([*proxy, "-s", "stop"], check=True)


def status(port: int, path: str, *, secure: bool = True, **headers: str) -> int:
    if secure:
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=30)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=headers)
    return connection.getresponse().status


@pytest.mark.faults
def test_through_the_proxy_a_page_reaches_its_socket_and_a_strangers_does_not(behind_nginx):
    app, port = behind_nginx
    own = f"https://localhost:{port}"
    assert status(port, "/_stcore/health") == 200
    assert status(port, "/_stcore/stream", Origin=own, **UPGRADE) == 101
    assert status(port, "/_stcore/stream", Origin="https://other.example", **UPGRADE) == 403
    assert status(port, "/_stcore/host-config", Origin="https://other.example") == 403
    inner = int(app.url.rpartition(":")[2])
    assert status(inner, "/_stcore/health", secure=False, Host="localhost") == 200
    assert status(inner, "/_stcore/health", secure=False) == 403
