"""Imports go one way: each part of the program knows those below it, and none above or beside it."""

import ast
from collections.abc import Iterator

import pytest

from tests.pages.driving import ROOT

LAYERS = (
    ("errors", "progress", "version"),
    ("run",),
    ("validation", "places", "files", "access", "web"),
    ("model_fingerprint", "inputs", "scores", "server_check"),
    ("method",),
    ("data", "xrays", "wording"),
    ("model",),
    ("ledger", "diagnose"),
    ("explore", "estimators"),
    ("experiments", "reports"),
    ("commands", "pages"),
)
LAYER = {part: number for number, layer in enumerate(LAYERS) for part in layer}
ENTRANCES = {"ppsets_core", "ppsets_core.__main__"}  # what others are given: it may name anything, and no part names it
OUTSIDE = ("pages", "tools", "tests", "app", "benchmarks")


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for root in ("ppsets_core", "pages")
    for path in (ROOT / root).rglob("*.py")
}


def imported(nodes: Iterator[ast.AST]) -> set[str]:
    """The modules that the statements name, by the longest name that is a module of ours."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be found"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in MODULES else str(node.module))
    return names


def part_of(module: str) -> str:
    top, _, rest = module.partition(".")
    return rest.split(".")[0] if top == "ppsets_core" else top


def wrong_imports(module: str, names: set[str]) -> list[str]:
    """Those names that the module may not import."""
    wrong = []
    for name in names:
        if name.startswith("ppsets_core.") or name.partition(".")[0] == "pages":
            own, other = part_of(module), part_of(name)
            if own != other and LAYER[other] >= LAYER[own]:
                wrong.append(name)
        elif name.partition(".")[0] in OUTSIDE or (name == "ppsets_core" and not module.startswith("pages")):
            wrong.append(name)
    return wrong


def test_every_part_has_its_place():
    parts = {part_of(module) for module in MODULES if module not in ENTRANCES}
    assert parts == set(LAYER), "say in LAYERS where a new part belongs, and take out one that is gone"


def test_imports_go_down():
    for module in MODULES.keys() - ENTRANCES:
        tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
        assert (module, wrong_imports(module, imported(ast.walk(tree)))) == (module, [])


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("ppsets_core.method.rules.paper", "ppsets_core.data.records"),
        ("ppsets_core.data.records", "ppsets_core.xrays.folder"),
        ("ppsets_core.method.plan", "ppsets_core"),
        ("ppsets_core.model.gate", "tools.learn_gate"),
        ("pages.ledger", "ppsets_core.commands.train"),
    ],
)
def test_an_import_upwards_or_sideways_would_be_noticed(module, name):
    assert wrong_imports(module, {name, "numpy", "ppsets_core.errors"}) == [name]
