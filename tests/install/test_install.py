"""The package as a user has it: installed into an empty environment, and used from a folder that is no checkout."""

import json
import os
import shutil
import subprocess
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ppsets_core import __version__
from tests.browser.server import WATCHED, App, free_port, left, wait_until_up
from tests.drawn_xrays import write_folder
from tests.pages.driving import ROOT

pytestmark = pytest.mark.install
XRAYS = 60
"""Enough for a set that leaves something out at ε = 2 and α = 0.1, and quick to draw and to score."""
BUNDLED = ("app.py", "pages/", "models/", "assets/", ".streamlit/config.toml", "docs/glossary.md")
RUN_SECONDS, INSTALL_SECONDS = 300, 1800


@dataclass(frozen=True)
class Installed:
    """A virtual environment with nothing but the package, and a folder to work in."""

    environment: Path
    folder: Path

    @property
    def scripts(self) -> Path:
        return self.environment / ("Scripts" if os.name == "nt" else "bin")

    @property
    def ppsets(self) -> str:
        return str(self.scripts / "ppsets")

    @property
    def variables(self) -> dict[str, str]:
        """No trace of this checkout, a ledger of its own, and no connection to anyone else."""
        mine = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PPSETS_"))}
        home, notes = str(self.folder / "home"), str(self.folder / "notes.txt")
        return mine | {"HOME": home, "PPSETS_HOME": home, "PYTHONPATH": str(WATCHED), "WATCH_NOTES": notes}

    def run(self, *words: str) -> subprocess.CompletedProcess:
        where = {"cwd": self.folder, "env": self.variables, "timeout": RUN_SECONDS}
        done = subprocess.run([self.ppsets, *words], capture_output=True, text=True, **where)
        assert done.returncode == 0, done.stderr
        return done

    def site(self) -> Path:
        return next(self.environment.glob("**/site-packages"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Iterator[Installed]:
    tree, environment, folder = (tmp_path_factory.mktemp(name) for name in ("tree", "environment", "elsewhere"))
    for name in _tracked():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tree / name)
    venv.create(environment, with_pip=True, clear=True)
    package = Installed(environment, folder)
    _install(package, tree, ".")
    _check_core(package)
    _install(package, tree, ".[app]")
    shutil.rmtree(tree)
    yield package
    shutil.rmtree(environment)  # 2 GB


def _install(package: Installed, tree: Path, what: str) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(package.scripts / "python"), "-m", "pip", "install", "-q", what]
    done = subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    assert done.returncode == 0, done.stderr


def _check_core(core: Installed) -> None:
    """Without extras tables are planned, calibrated and predicted (what else is asked for: tests/test_imports.py)."""
    assert not list(core.site().glob("torch")) + list(core.site().glob("streamlit"))
    rows = "".join(f"normal,{p / 1000},{1 - p / 1000}\n" for p in range(400, 1000))
    (core.folder / "table.csv").write_text(f"label,normal,viral\n{rows}")
    core.run("calibrate", "table.csv", "--epsilon", "1", "--budget", "1", "--out", "table.json")
    core.run("predict", "table.csv", "--calibration", "table.json", "--out", "sets.csv")
    assert (core.folder / "sets.csv").read_text().count("\n") >= 600


@pytest.fixture(scope="module")
def calibration(installed) -> Path:
    """Synthetic X-rays → scores → a release, each step by its command, in a folder of the user's own."""
    write_folder(installed.folder / "xrays", XRAYS, seed=1)
    scored = json.loads(installed.run("score", "xrays", "--out", "scores.csv", "--json").stdout)
    assert (scored["scored"], scored["refused"]) == (XRAYS, [])
    wanted = ("--epsilon", "2", "--budget", "3", "--method", "sharp", "--out", "cal.json")
    spent = installed.run("calibrate", "scores.csv", *wanted)
    assert "protected by 2-differential privacy" in spent.stdout
    assert "'scores': 3, of which releases under this name have cost 2" in spent.stderr
    return installed.folder / "cal.json"


def test_the_package_carries_the_screens_the_weights_and_the_demo_and_nothing_beside(installed):
    record = next(installed.site().glob("ppsets-*.dist-info")) / "RECORD"
    files = {line.split(",")[0] for line in record.read_text().splitlines()}
    inside = {name for name in files if not name.startswith("..")}
    assert {name.split("/")[0] for name in inside} == {"ppsets_core", record.parent.name}
    assert record.parent.name == f"ppsets-{__version__}.dist-info"
    assert {Path(name).stem for name in files - inside} == {"ppsets"}
    bundled = installed.site() / "ppsets_core" / "bundled"
    there = {file.relative_to(bundled).as_posix() for file in bundled.rglob("*") if file.is_file()}
    expected = {name for name in _tracked() if name.startswith(BUNDLED)}
    assert {name for name in there if "__pycache__" not in name} == expected
    assert {"models/resnet18_xray.safetensors", "assets/coronahack_softmax.csv", "pages/home.py"} <= expected
    assert (installed.site() / "ppsets_core" / "py.typed").is_file()


def test_the_command_has_a_version_and_lists_its_verbs(installed):
    assert installed.run("--version").stdout == f"ppsets {__version__}\n"
    told = installed.run("--help").stdout
    assert told.startswith("usage: ppsets ")
    assert [verb for verb in ("app", "plan", "score", "calibrate", "predict", "ledger") if verb not in told] == []
    module = [str(installed.scripts / "python"), "-m", "ppsets_core", "--version"]
    run = subprocess.run(module, cwd=installed.folder, env=installed.variables, capture_output=True, text=True)
    assert run.stdout == f"ppsets {__version__}\n"
    answer = json.loads(installed.run("plan", "--n", "1000", "--epsilon", "1", "--method", "sharp", "--json").stdout)
    assert (answer["n"], answer["is_trivial"]) == (1000, False)
    assert 0.9 <= answer["coverage_lower"] < 0.92


def test_score_calibrate_predict(installed, calibration):
    (target,) = json.loads(calibration.read_text(encoding="utf-8"))["targets"]
    xray = next((installed.folder / "xrays" / "normal").iterdir())
    answer = json.loads(installed.run("predict", str(xray), "--calibration", "cal.json", "--json").stdout)
    (one,) = answer["sets"]
    ranked = sorted(one["probabilities"], key=one["probabilities"].get, reverse=True)
    assert (one["file"], ranked[0]) == (xray.name, "normal")
    assert one["set"] == [name for name in ranked if one["probabilities"][name] >= 1 - target["threshold"]]
    assert "scores" in installed.run("ledger").stdout
    assert left(installed.folder / "notes.txt") == []


def test_app_answers_from_any_folder(installed):
    with _app(installed) as (url, log):
        with urllib.request.urlopen(f"{url}/", timeout=30) as page:
            assert page.status == 200
            assert b"<title>Streamlit</title>" in page.read()
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=30) as health:
            assert (health.status, health.read()) == (200, b"ok")
        assert "Try it" in _buttons_of_the_first_screen(installed)
    assert url in log.read_text()
    assert left(installed.folder / "notes.txt") == []


@contextmanager
def _app(installed: Installed) -> Iterator[tuple[str, Path]]:
    """The dashboard on a free port while the block lasts; its address and its log."""
    port, log_file = free_port(), installed.folder / "app.log"
    command = [installed.ppsets, "app", "--no-browser", "--port", str(port)]
    with log_file.open("w") as log:
        where = {"cwd": installed.folder, "env": installed.variables}
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, **where)
        app = App(f"http://localhost:{port}", installed.folder, installed.folder, log_file, process)
        try:
            wait_until_up(app)
            yield app.url, log_file
        finally:
            process.terminate()
            process.wait(timeout=30)


FIRST_SCREEN = """
from streamlit.testing.v1 import AppTest
from ppsets_core.places import APP
app = AppTest.from_file(str(APP), default_timeout=120).run()
assert not app.exception, app.exception
print([button.label for button in app.button])
"""


def _buttons_of_the_first_screen(installed: Installed) -> str:
    """The installed app's Home, run as one session of it, with the path that `streamlit run` would set."""
    variables = installed.variables | {"PYTHONPATH": str(installed.site() / "ppsets_core" / "bundled")}
    done = subprocess.run(
        [str(installed.scripts / "python"), "-c", FIRST_SCREEN],
        cwd=installed.folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _tracked() -> list[str]:
    """The files of the tree as a commit of it would have them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in listed if (ROOT / name).is_file()]
