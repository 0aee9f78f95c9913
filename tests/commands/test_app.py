"""`ppsets app`: the dashboard with its own settings, whatever folder or environment it is started in."""

import json
import os
import subprocess
import sys
import tomllib

from ppsets_core.places import APP
from tests.pages.driving import ROOT

SETTLED = """
import json, sys
from streamlit import config
from streamlit.web import bootstrap
names = sys.argv[1].split()
def run(script, *rest):
    print(json.dumps({"script": script, **{name: config.get_option(name) for name in names}}))
bootstrap.run_asgi_app = run
from ppsets_core.__main__ import main
main(["app", *sys.argv[2:]])
"""
"""Starts `ppsets app` up to the point where Streamlit would serve, and prints what it would serve with."""
HOSTILE = '[server]\naddress = "0.0.0.0"\nallowedHosts = []\n[browser]\ngatherUsageStats = true\n'


def settled(folder, names: list[str], *options: str, **environment: str) -> dict:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), **environment}
    command = [sys.executable, "-c", SETTLED, " ".join(names), *options]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def bundled_settings() -> dict[str, object]:
    """The settings of the app's own config.toml, by their full names."""
    found: dict[str, object] = {}
    waiting = list(tomllib.loads((APP.parent / ".streamlit" / "config.toml").read_text(encoding="utf-8")).items())
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{name}.{key}", below) for key, below in value.items()]
        else:
            found[name] = value
    return found


def test_our_settings_hold_in_any_folder_and_telemetry_stays_off(tmp_path):
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text(HOSTILE)
    ours = bundled_settings()
    assert ours["browser.gatherUsageStats"] is False
    chosen = {"server.port": 8765, "server.headless": True}
    options, names = ("--port", "8765", "--no-browser"), [*ours, *chosen]
    found = settled(tmp_path, names, *options, STREAMLIT_BROWSER_GATHER_USAGE_STATS="true")
    assert found == ours | chosen | {"script": str(APP)}
