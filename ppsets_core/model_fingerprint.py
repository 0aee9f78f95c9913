"""A model's fingerprint: which weights and class names a calibration belongs to. Needs no torch."""

import hashlib
from functools import lru_cache

from ppsets_core.places import MODELS

BUNDLED_WEIGHTS = MODELS / "resnet18_xray.safetensors"
LENGTH = 16
FINGERPRINT = f"[0-9a-f]{{{LENGTH}}}"


def fingerprint_of(safetensors: bytes) -> str:
    """The first digits of the SHA-256 of a safetensors file, which holds weights, class names and preprocessing."""
    return hashlib.sha256(safetensors).hexdigest()[:LENGTH]


@lru_cache(maxsize=1)
def bundled_fingerprint() -> str | None:
    """The bundled model's, read from its file; None where it is missing."""
    return fingerprint_of(BUNDLED_WEIGHTS.read_bytes()) if BUNDLED_WEIGHTS.is_file() else None
