"""Imports torchvision where its compiled operators do not load beside this torch build."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import torch

_NMS_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_COMPILER = "torch._dynamo", "torch._dynamo.utils"


def import_torchvision() -> ModuleType:
    """The torchvision package; if its operators are missing they are declared first (ResNet-18 needs none of them)."""
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"]
    with _without_the_compiler():
        return _import_torchvision()


def _import_torchvision() -> ModuleType:
    try:
        return importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    for operator in ("nms", "qnms"):
        torch.library.define(f"torchvision::{operator}", _NMS_SCHEMA)
    return importlib.import_module("torchvision")


@contextmanager
def _without_the_compiler() -> Iterator[None]:
    """One of torchvision's operators asks torch's compiler at once whether it can compile, which takes longer to import
    than torch itself; it is told no, and whoever wants the compiler later gets the real one."""
    if _COMPILER[0] in sys.modules:
        yield
        return
    utils = ModuleType(_COMPILER[1])
    vars(utils)["is_compile_supported"] = lambda device: False
    stand_ins = dict(zip(_COMPILER, (ModuleType(_COMPILER[0]), utils), strict=True))
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
