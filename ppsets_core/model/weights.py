"""Reads and writes a network's weights as safetensors, with what prediction needs beside them. Never a pickle."""

import json
import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from ppsets_core.errors import FileError, InputError
from ppsets_core.files.names import shown_name
from ppsets_core.model.network import Preprocessing, build_resnet18, fused
from ppsets_core.model_fingerprint import (
    BUNDLED_WEIGHTS,
    FINGERPRINT,
    bundled_fingerprint,
    header_of,
    new_fingerprint,
)
from ppsets_core.validation import check_name

if TYPE_CHECKING:
    from torchvision.models import ResNet

_LARGEST_FILE = 64 * 2**20
_MOST_CLASSES = 100
_LARGEST_SIDE = 320  # work grows with its square: a batch costs a few times what ImageNet's 224 does, no more
_FIELDS = {"architecture", "classes", "side", "mean", "std", "temperature"}


@dataclass(frozen=True, eq=False)
class XrayModel:
    """A ResNet-18 with its classes, its preprocessing and the temperature that divides its logits.

    `fingerprint` is the name by which calibrations know it: whoever changes the weights takes a new one. None for
    weights of a version that gave none."""

    classes: tuple[str, ...]
    preprocessing: Preprocessing
    temperature: float
    network: "ResNet"
    fingerprint: str | None = field(default_factory=new_fingerprint)

    @cached_property
    def fast_network(self) -> nn.Module:
        """The network with fused layers, as prediction runs it."""
        return fused(self.network)


def load_model(path: str | Path | None = None, *, name: str | None = None) -> XrayModel:
    """The model in a safetensors file that `save_model` wrote; without a path, the bundled one.

    `name` is what messages call the file, if it lies under another name than its user knows."""
    path = Path(path) if path is not None else BUNDLED_WEIGHTS
    name = shown_name(name or path.name)
    _check_file(path, name)
    try:
        with safe_open(path, framework="pt") as file:
            classes, preprocessing, temperature, fingerprint = _read_metadata(file.metadata() or {}, name)
            network = build_resnet18(len(classes))
            network.load_state_dict(_checked(file, network, name))
    except FileError:
        raise
    except Exception as error:  # hostile bytes reach torch's constructors too
        raise FileError(
            f"{name} is not a whole safetensors file. Take it again from where it came, or train anew."
        ) from error
    if path == BUNDLED_WEIGHTS:
        fingerprint = bundled_fingerprint()
    network = network.eval().to(memory_format=torch.channels_last)
    return XrayModel(classes, preprocessing, temperature, network, fingerprint)


def save_model(model: XrayModel, path: str | Path) -> None:
    """Writes the model: matrices and filters as float16, the few numbers of the normalising layers as float32."""
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        tensors, metadata = _contents(model)
        save_file(tensors, part, metadata)
        part.replace(path)
    except (OSError, SafetensorError) as error:
        raise FileError(f"{path} cannot be written. Choose a folder that exists and that you may write to.") from error


def round_as_saved(layers: nn.Module) -> None:
    """To the digits that a file keeps, so that what is used and what is saved are one network."""
    for tensor in layers.state_dict().values():
        if tensor.dim() > 1:
            tensor.copy_(tensor.half())


def _contents(model: XrayModel) -> tuple[dict[str, Tensor], dict[str, str]]:
    """What is in a saved file: the tensors and the metadata."""
    facts = {
        "architecture": "resnet18",
        "classes": model.classes,
        "side": model.preprocessing.side,
        "mean": model.preprocessing.mean,
        "std": model.preprocessing.std,
        "temperature": model.temperature,
        **({"fingerprint": model.fingerprint} if model.fingerprint else {}),
    }
    tensors = {
        name: (tensor.half() if tensor.dim() > 1 else tensor).contiguous().clone()
        for name, tensor in model.network.state_dict().items()
    }
    return tensors, {"ppsets": json.dumps(facts)}


def _check_file(path: Path, name: str) -> None:
    if Path(name).suffix.lower() in {".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".bin"} or _is_pickle(path):
        raise FileError(
            f"{name} is a pickle, which can run any program when it is opened, so ppsets never opens one. "
            "Convert it to safetensors where you trust it, or train with `ppsets train`."
        )
    if not path.is_file():
        raise FileError(f"There are no weights at {path}. Give the path of a .safetensors file.")
    if path.stat().st_size > _LARGEST_FILE:
        raise FileError(f"{name} is larger than any ResNet-18 ({_LARGEST_FILE >> 20} MB); it was not opened.")
    try:
        header_of(path)
    except FileError as error:
        raise FileError(f"{name} {error}") from None


def _is_pickle(path: Path) -> bool:
    """By its first bytes, whatever it is called; safetensors have a brace after eight bytes of length."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(9)
    return head.startswith((b"PK\x03\x04", b"\x80")) and head[8:] != b"{"


def _read_metadata(metadata: dict[str, str], name: str) -> tuple[tuple[str, ...], Preprocessing, float, str | None]:
    """Classes, preprocessing, temperature and fingerprint, each checked: a wrong one would give wrong sets without a
    word."""
    try:
        facts = json.loads(metadata["ppsets"])
        fingerprint = facts.pop("fingerprint", None)
        classes, temperature = tuple(facts["classes"]), float(facts["temperature"])
        mean, std = (tuple(map(float, facts[key])) for key in ("mean", "std"))
        if not (
            set(facts) == _FIELDS
            and facts["architecture"] == "resnet18"
            and (fingerprint is None or re.fullmatch(FINGERPRINT, fingerprint))
            and all(label == shown_name(check_name(label)) for label in classes)
            and 2 <= len(set(classes)) == len(classes) <= _MOST_CLASSES
            and (isinstance(facts["side"], int) and 32 <= facts["side"] <= _LARGEST_SIDE)
            and (len(mean) == len(std) == 3 and all(map(math.isfinite, mean)) and all(0 < s < math.inf for s in std))
            and 0.01 <= temperature <= 100
        ):
            raise ValueError("metadata")
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, InputError) as error:
        raise FileError(
            f"{name} does not say its classes, picture size and temperature as ppsets writes them. "
            "Use weights that `ppsets train` wrote."
        ) from error
    return classes, Preprocessing(facts["side"], mean, std), temperature, fingerprint


def _checked(file: safe_open, network: nn.Module, name: str) -> dict[str, Tensor]:
    """The tensors as the network wants them; missing, extra, misshapen or non-finite ones are refused."""
    wanted = network.state_dict()
    if set(file.keys()) != set(wanted):
        raise FileError(f"{name} does not hold the layers of a ResNet-18. Use weights of a ResNet-18.")
    tensors = {}
    for key, like in wanted.items():
        if tuple(file.get_slice(key).get_shape()) != tuple(like.shape):
            raise FileError(f"{name}: layer {key} has another shape than its {len(wanted['fc.bias'])} classes ask for.")
        tensor = file.get_tensor(key)
        tensors[key] = tensor.to(like.dtype)
        fits = tensor.is_floating_point() == like.is_floating_point() and bool(torch.isfinite(tensors[key]).all())
        if not fits or (key.endswith("running_var") and bool((tensors[key] < 0).any())):
            raise FileError(f"{name}: layer {key} holds values that are not finite numbers. Train anew.")
    return tensors
