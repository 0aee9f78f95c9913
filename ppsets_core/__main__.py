"""`ppsets VERB`, also `python -m ppsets_core VERB`: the command line, one file per verb in `commands/`."""

import argparse
import io
import sys
from importlib import import_module

from ppsets_core import __version__
from ppsets_core.errors import PpsetsError
from ppsets_core.extras import EXTRAS, missing

VERBS = ("app", "plan", "score", "calibrate", "predict", "check", "ledger", "train", "experiment", "report")


def main(argv: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ε must not stop what was paid for from being told
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        arguments = _parser().parse_args(argv)
        return arguments.run(arguments)
    except PpsetsError as error:
        print(f"ppsets: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if not any(error.name in packages for packages in EXTRAS.values()):
            raise
        print(f"ppsets: {missing(error.name)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nppsets: stopped.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ppsets", description="Private prediction sets for chest X-rays.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for verb in VERBS:
        command = import_module(f"ppsets_core.commands.{verb}")
        options = verbs.add_parser(verb, help=command.HELP, description=command.HELP)
        command.add_arguments(options)
        options.set_defaults(run=command.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
