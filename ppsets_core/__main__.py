"""`ppsets VERB`, also `python -m ppsets_core VERB`: the command line, one file per verb in `commands/`."""

import argparse
import errno
import io
import os
import sys
from contextlib import suppress
from importlib import import_module

from ppsets_core import __version__
from ppsets_core.errors import EXTRAS, PpsetsError, missing

VERBS = ("app", "plan", "score", "calibrate", "predict", "check", "ledger", "train", "experiment", "report")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(argv: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ε that cannot be encoded must not lose a release
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        return _run(argv)
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
    except BrokenPipeError:  # `ppsets ledger | head -1`: its reader has seen enough
        _discard_output()
        return 128 + 13  # as shells say of programs that SIGPIPE ended
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        _discard_output()
        print(f"ppsets: the output could not be written: {os.strerror(error.errno)}.", file=sys.stderr)
        return 2


def _run(argv: list[str] | None) -> int:
    """Run a command and write out all that it printed, so that a failure to do so is noticed here."""
    try:
        arguments = _parser().parse_args(argv)
        return arguments.run(arguments)
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()


def _discard_output() -> None:
    """Drop what is still to be written: Python would try again on its way out, and fail again."""
    with suppress(io.UnsupportedOperation), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


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
