"""A model's fingerprint: which weights and class names a calibration belongs to. Needs no torch.

It is drawn at random when a model is trained, and kept in its file. Computed from the weights, it would let anyone who
sees a release test guesses about the X-rays behind them, and plain fine-tuning does not protect those."""

import hashlib
import json
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Any

from ppsets_core.errors import FileError
from ppsets_core.places import MODELS

BUNDLED_WEIGHTS = MODELS / "resnet18_xray.safetensors"
LENGTH = 16
FINGERPRINT = f"[0-9a-f]{{{LENGTH}}}"
LONGEST_HEADER = 200_000  # a ResNet-18's has 15,000 bytes, and a parser may take a thousand times that for a long one


def new_fingerprint() -> str:
    """A random fingerprint for a model that was just trained; it reveals nothing about the training data."""
    return secrets.token_hex(LENGTH // 2)


@lru_cache(maxsize=1)
def bundled_fingerprint() -> str | None:
    """The bundled model's fingerprint, or its file's hash: its X-rays are public. None where the file is missing."""
    facts = bundled_facts()
    if facts is None:
        return None
    return facts.get("fingerprint") or hashlib.sha256(BUNDLED_WEIGHTS.read_bytes()).hexdigest()[:LENGTH]


@lru_cache(maxsize=1)
def bundled_facts() -> dict[str, Any] | None:
    """What the bundled weights say of themselves (classes, picture size, …); None where they are missing."""
    if not BUNDLED_WEIGHTS.is_file():
        return None
    header = json.loads(header_of(BUNDLED_WEIGHTS))
    return json.loads(header["__metadata__"]["ppsets"])


def header_of(path: Path) -> bytes:
    """A safetensors file's header, unparsed. FileError, without the file's name, if it is longer than any model's."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > LONGEST_HEADER:
            raise FileError("is not a whole safetensors file: its header would be longer than any ResNet-18's.")
        return file.read(length)
