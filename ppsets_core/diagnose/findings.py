"""Classify a folder while it is read, keeping of each X-ray probabilities, a small picture and whose a DICOM one is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ppsets_core.diagnose.thumbnail import thumbnail_of
from ppsets_core.model.gate import why_not_a_chest_xray
from ppsets_core.xrays import Picture, Refused, Xray, XrayFolder
from ppsets_core.xrays.picture import NOBODY

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel


@dataclass(frozen=True, eq=False)
class Finding:
    """One X-ray: its softmax, why it does not look like a chest X-ray ('' if it does), a small JPEG if asked for.

    `novelty`: how unlike the X-rays that the model learnt from it is, in [0, 1]; None where that is not known.
    `identity`: whom a DICOM image says that it is of, for the structured report that refers to it, and nothing else.
    `label` and `patient`: the true diagnosis as the model calls it, and whose it is, where the files tell.
    """

    name: str
    probabilities: np.ndarray
    doubt: str
    thumbnail: bytes
    novelty: float | None = None
    identity: Mapping[str, str] = field(default_factory=lambda: NOBODY, repr=False)
    label: str | None = None
    patient: str | None = None


@dataclass(frozen=True, eq=False)
class Findings:
    """Every X-ray that could be read, in the folder's order, what could not be, and the fingerprint of the model."""

    classes: tuple[str, ...]
    xrays: tuple[Finding, ...]
    refused: tuple[Refused, ...]
    model: str | None = None


def examine(
    model: "XrayModel",
    folder: XrayFolder,
    *,
    thumbnails: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Look at each picture with the gate, then classify it. `progress` hears (looked at, total), from the first picture
    on, and may raise to cancel."""
    from ppsets_core.model.prediction import classify

    total = len(folder.xrays)
    seen: list[tuple[Xray, str, bytes, Mapping[str, str]]] = []
    own_names = {name.casefold(): name for name in model.classes}
    refused = list(folder.refused)

    def tell() -> None:
        if progress:
            progress(len(seen) + len(refused) - len(folder.refused), total)

    def pictures() -> Iterator[Picture]:
        for xray, picture in folder.readable(refused, model.preprocessing.read_at_least):
            small = thumbnail_of(picture) if thumbnails else b""
            seen.append((xray, why_not_a_chest_xray(picture), small, picture.header.identity))
            tell()
            yield picture

    tell()
    classified = classify(model, pictures(), progress=lambda _: tell())
    novelty = [None] * len(seen) if classified.novelty is None else classified.novelty.tolist()
    found = tuple(
        Finding(
            xray.name, row, doubt, small, familiar, whom, own_names.get((xray.label or "").casefold()), xray.patient
        )
        for (xray, doubt, small, whom), row, familiar in zip(seen, classified.probabilities, novelty, strict=True)
    )
    return Findings(model.classes, found, tuple(refused), model.fingerprint)
