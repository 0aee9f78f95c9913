"""Classify a folder while it is read, keeping of each X-ray its probabilities and a small picture, nothing more."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ppsets_core.diagnosis.thumbnail import thumbnail_of
from ppsets_core.gate import why_not_a_chest_xray
from ppsets_core.xrays import Picture, Refused, XrayFolder

if TYPE_CHECKING:
    from ppsets_core.network import XrayModel


@dataclass(frozen=True, eq=False)
class Finding:
    """One X-ray: its softmax, why it does not look like a chest X-ray ('' if it does), a small JPEG if asked for."""

    name: str
    probabilities: np.ndarray
    doubt: str
    thumbnail: bytes


@dataclass(frozen=True, eq=False)
class Findings:
    """Every X-ray that could be read, in the folder's order, and what could not be."""

    classes: tuple[str, ...]
    xrays: tuple[Finding, ...]
    refused: tuple[Refused, ...]


def examine(
    model: "XrayModel",
    folder: XrayFolder,
    *,
    thumbnails: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Look at each picture with the gate, then classify it. `progress` hears (done, total) and may raise to cancel."""
    from ppsets_core.network import predict

    total = len(folder.xrays)
    seen: list[tuple[str, str, bytes]] = []
    refused = list(folder.refused)

    def pictures() -> Iterator[Picture]:
        for _, picture in folder.readable(refused, model.preprocessing.read_at_least):
            if progress:
                progress(len(seen) + len(refused) - len(folder.refused), total)
            small = thumbnail_of(picture) if thumbnails else b""
            seen.append((picture.name, why_not_a_chest_xray(picture), small))
            yield picture

    probabilities = predict(model, pictures())
    found = tuple(
        Finding(name, row, doubt, small) for (name, doubt, small), row in zip(seen, probabilities, strict=True)
    )
    return Findings(model.classes, found, tuple(refused))
