"""ResNet-18 for chest X-rays: weights, prediction, training, Grad-CAM. torch is loaded by the first name asked for."""

from importlib import import_module
from typing import TYPE_CHECKING

from ppsets_core.errors import need

if TYPE_CHECKING:
    from ppsets_core.model.prediction import FolderPrediction, predict, predict_folder
    from ppsets_core.model.weights import XrayModel, load_model, save_model

_HOME = {
    "FolderPrediction": "prediction",
    "XrayModel": "weights",
    "load_model": "weights",
    "predict": "prediction",
    "predict_folder": "prediction",
    "save_model": "weights",
}
__all__ = ["FolderPrediction", "XrayModel", "load_model", "predict", "predict_folder", "save_model"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    need("torch", "torchvision", "safetensors")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
