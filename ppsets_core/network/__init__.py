"""ResNet-18 for chest X-rays: weights, prediction, training, Grad-CAM. torch is loaded by the first name asked for."""

from importlib import import_module

_HOME = {
    "FolderPrediction": "prediction",
    "XrayModel": "weights",
    "load_model": "weights",
    "predict": "prediction",
    "predict_folder": "prediction",
    "save_model": "weights",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
