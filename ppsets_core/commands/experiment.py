"""`experiment`: one of the paper's experiments or ours, or all: tables on screen, numbers as JSON, figures."""

import argparse
import shlex
from importlib import import_module
from pathlib import Path

from ppsets_core.commands import say
from ppsets_core.commands.files import make_folder
from ppsets_core.commands.options import add_json
from ppsets_core.errors import FileError, InputError
from ppsets_core.progress import ProgressBar

HELP = "run one of the paper's experiments or ours: numbers as JSON, figures as a page"
NAMES = {
    "levels": "level against n and against ε",
    "two-by-two": "private or plain training × private or plain calibration",
    "bins": "coverage and set size against the number of bins",
    "epsilons": "coverage and set size against ε",
    "coronahack": "coverage and set size over random splits of the bundled scores",
    "per-diagnosis": "coverage of each diagnosis: a promise for all together, or for each",
    "peers": "our rules, P-COQS and no privacy, at equal privacy",
    "three-xrays": "three X-rays with their ranked sets",
    "audit": "exact privacy loss of every rule and of the research code's scaling",
}
WITH_SPLITS = ("two-by-two", "bins", "epsilons", "coronahack", "per-diagnosis", "peers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name, what in (NAMES | {"all": "all of them, one after the other"}).items():
        options = names.add_parser(name, help=what, description=what)
        options.add_argument("--seed", type=int, default=0, help="of every random draw (default 0)")
        options.add_argument("--out", type=Path, help=f"folder to write to (default runs/{name})")
        add_json(options, "the JSON on standard output, instead of tables")
        if name in WITH_SPLITS:
            options.add_argument("--splits", type=int, help="number of random splits (default: as in the docs)")
        if name == "three-xrays":
            options.add_argument("--xrays", help="X-rays to show: a folder, a zip or a file; else synthetic ones")


def run(args: argparse.Namespace) -> int:
    if args.seed < 0:
        raise InputError("The seed must be 0 or a positive whole number.")
    out = args.out or Path("runs") / args.name
    make_folder(out)
    for name in NAMES if args.name == "all" else [args.name]:
        run_one(name, args, out)
    return 0


def run_one(name: str, args: argparse.Namespace, out: Path) -> None:
    """Compute, write `NAME.json` and `NAME.html`, and print what was found."""
    from ppsets_core.explore.page import whole_page

    given = {option: getattr(args, option, None) for option in ("splits", "xrays")}
    given = {option: value for option, value in given.items() if value is not None}
    experiment = import_module(f"ppsets_core.experiments.{name.replace('-', '_')}")
    result = experiment.run(seed=args.seed, progress=ProgressBar(name), **given)
    findings, figures = experiment.findings(result), experiment.figures(result)
    words = [f"--{option} {shlex.quote(str(value))}" for option, value in {"seed": args.seed, **given}.items()]
    text = findings.as_json(" ".join(["python -m ppsets_core experiment", name, *words]))
    page = out / f"{name}.html"
    try:
        page.with_suffix(".json").write_text(text, encoding="utf-8")
        page.write_text(whole_page(findings.title, figures), encoding="utf-8")
    except OSError as error:
        raise FileError(f"{out} cannot be written to ({error.strerror}). Choose another folder with --out.") from error
    print(text if args.json else findings.as_text(), end="")
    say(f"Written: {page.with_suffix('.json')}, {page}")
