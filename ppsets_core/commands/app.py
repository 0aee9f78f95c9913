"""`app`: start the dashboard, from any folder, with the settings that come with it."""

import argparse
import os
import runpy
import sys

from ppsets_core.errors import InputError, need
from ppsets_core.places import APP, CHECK_ONLY

HELP = "start the dashboard"
HIGHEST_PORT = 65535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, help="port on this machine (default: 8501, or the next that is free)")
    parser.add_argument("--no-browser", action="store_true", help="open no browser, only say the address")
    parser.add_argument("--check", action="store_true", help="do not start; say whether it could, and what is wrong")


def run(args: argparse.Namespace) -> int:
    """Hands over to Streamlit, which reads `.streamlit/config.toml` beside the app whatever the current folder is."""
    if args.port is not None and not 1 <= args.port <= HIGHEST_PORT:
        raise InputError(f"port must be from 1 to {HIGHEST_PORT}, not {args.port}.")
    need("streamlit", "plotly", "torch")
    if args.check:
        os.environ[CHECK_ONLY] = "1"
    sys.argv = ["streamlit", "run", str(APP), *_flags(args)]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return 0


def _flags(args: argparse.Namespace) -> list[str]:
    """Flags win over environment variables, too, so that nothing can turn telemetry on by the way."""
    flags = ["--browser.gatherUsageStats", "false", "--server.showEmailPrompt", "false"]
    if args.port is not None:
        flags += ["--server.port", str(args.port)]
    if args.no_browser or args.check:
        flags += ["--server.headless", "true"]
    if args.check:
        flags += ["--logger.hideWelcomeMessage", "true"]
    return flags
