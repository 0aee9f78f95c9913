"""The commands of docs/scale.md that start or use a cluster, as printed; only ports and the host's name are others."""

import contextlib
import os
import re
import shlex
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from PIL import Image

from tests.cluster.running import free_port, kill
from tests.data.data_sets import records_frame, write_parts
from tests.drawn_xrays import draw_xrays
from tests.pages.driving import ROOT

pytestmark = pytest.mark.cluster
BLOCKS = re.findall(r"```sh\n(dask .*?)```", (ROOT / "docs" / "scale.md").read_text(), re.DOTALL)
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def commands(block: str) -> tuple[list[list[str]], list[list[str]], int]:
    """The commands that stay, those that end, and the scheduler's port."""
    port = free_port()
    block = block.replace("8786", str(port)).replace("8787", str(free_port())).replace("//head:", "//127.0.0.1:")
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    staying = [[sys.executable, "-m", *line] for line in lines if line[0] == "dask"]
    if "--port" not in staying[0]:
        staying[0] += ["--port", str(port)]
    return staying, [[sys.executable, "-m", "ppsets_core", *line[1:]] for line in lines if line[0] == "ppsets"], port


def run(line: list[str], folder: Path) -> None:
    environment = ENVIRONMENT | {"PPSETS_HOME": str(folder / "home")}
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (line, done.stderr[-1500:])


@contextlib.contextmanager
def started(lines: list[list[str]], folder: Path):
    with (folder / "dask.log").open("w") as log:
        running = [subprocess.Popen(line, cwd=folder, env=ENVIRONMENT, stdout=log, stderr=log) for line in lines]
        try:
            yield running
        finally:
            for process in [*of_all(running), *running]:
                kill(process) if isinstance(process, subprocess.Popen) else process.kill()


def of_all(running: list[subprocess.Popen]) -> list[psutil.Process]:
    return [child for one in running for child in psutil.Process(one.pid).children(recursive=True)]


def listening(running: list[subprocess.Popen]) -> set[tuple[str, int]]:
    """The addresses at which they and their children wait for others."""
    processes = [*(psutil.Process(one.pid) for one in running), *of_all(running)]
    open_ports = [one for process in processes for one in process.net_connections("inet")]
    return {(one.laddr.ip, one.laddr.port) for one in open_ports if one.status == psutil.CONN_LISTEN}


def wait_for(running: list[subprocess.Popen], ports: int) -> set[tuple[str, int]]:
    end = time.monotonic() + 180
    while len(found := listening(running)) < ports and time.monotonic() < end:
        time.sleep(0.5)
    assert len(found) >= ports, found
    return found


def test_on_this_machine_alone_nothing_listens_to_the_network(tmp_path):
    for name, number in (("xrays", 24), ("new", 6)):
        for i, xray in enumerate(draw_xrays(number, len(name))):
            path = tmp_path / name / ("normal", "viral-pneumonia")[i % 2] / f"{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(xray.pixels).save(path)
    staying, ending, _ = commands(BLOCKS[0])
    with started(staying, tmp_path) as running:
        found = wait_for(running, 5)  # scheduler and its dashboard; nanny, worker and its dashboard
        for line in ending:
            run(line, tmp_path)
        assert {ip for ip, _ in found | listening(running)} == {"127.0.0.1"}
    assert list((tmp_path / "sets").glob("*.parquet"))


def test_between_machines_only_what_tls_guards_listens_to_the_network(tmp_path):
    write_parts(records_frame(300), tmp_path / "scores", 3)
    certificates(tmp_path)
    staying, ending, port = commands(BLOCKS[1])
    with started(staying, tmp_path) as running:
        found = wait_for(running, 5)
        for line in ending:
            run([*line, "--budget", "3"], tmp_path)
        for ip, number in found:
            if ip != "127.0.0.1":
                assert refuses_strangers(number), number
        assert port in {number for _, number in found}


def refuses_strangers(port: int) -> bool:
    """Whether a client without a certificate is shown out."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(("127.0.0.1", port), 60) as plain, context.wrap_socket(plain) as stranger:
            stranger.recv(1)
    except ssl.SSLError as error:
        return "CERTIFICATE_REQUIRED" in str(error)
    return False


def certificates(folder: Path) -> None:
    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new = ("-newkey", "rsa:2048", "-nodes", "-subj")
    openssl("req", "-x509", *new, "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2")
    for name in ("node", "me"):
        openssl("req", *new, f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.pem")
