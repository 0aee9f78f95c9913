"""Imports torchvision where its compiled operators do not load beside this torch build."""

import importlib
import sys
from types import ModuleType

import torch

_NMS_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def import_torchvision() -> ModuleType:
    """The torchvision package; if its operators are missing they are declared first (ResNet-18 needs none of them)."""
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
