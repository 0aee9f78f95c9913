"""Weights as bytes: what an upload brings and a download takes. No temporary file outlives its function."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel


def model_from(data: bytes, name: str = "The upload") -> "XrayModel":
    """The model in an uploaded safetensors file; anything else is refused."""
    from ppsets_core.model import load_model

    with TemporaryDirectory() as folder:
        path = Path(folder, "weights.safetensors")
        path.write_bytes(data)
        return load_model(path, name=name)


def bytes_of(model: "XrayModel") -> bytes:
    """The model as a safetensors file."""
    from ppsets_core.model import save_model

    with TemporaryDirectory() as folder:
        path = Path(folder, "weights.safetensors")
        save_model(model, path)
        return path.read_bytes()
