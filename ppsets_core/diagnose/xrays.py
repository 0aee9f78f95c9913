"""A folder of X-rays as records, with what only X-rays have: doubts, small pictures, whose a DICOM image is."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from ppsets_core.data.records import Records
from ppsets_core.files import Refused
from ppsets_core.model.folder_records import records_of
from ppsets_core.model.gate import why_not_a_chest_xray
from ppsets_core.xrays import Picture, XrayFolder
from ppsets_core.xrays.shades import unused_bits

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel

SHORTER, LONGER = 320, 960


@dataclass(frozen=True, eq=False)
class XrayRecords:
    """Every X-ray that could be read, in the folder's order, and what could not be.

    doubts: why a picture does not look like a chest X-ray, '' where it does.
    thumbnails: small JPEGs, b'' where none were asked for.
    identities: whom a DICOM image says that it is of; for the structured report about it, and nothing else.
    """

    records: Records
    doubts: tuple[str, ...]
    thumbnails: tuple[bytes, ...] = field(repr=False)
    identities: tuple[Mapping[str, str], ...] = field(repr=False)
    refused: tuple[Refused, ...] = ()

    def __len__(self) -> int:
        return len(self.records)


def examine(
    model: "XrayModel",
    folder: XrayFolder,
    *,
    thumbnails: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> XrayRecords:
    """Classify a folder while it is read, and look at each picture with the gate.

    progress: called with (looked at, total) from the start on; may raise to cancel.
    """
    from ppsets_core.model import predict_folder

    def look(picture: Picture) -> tuple[str, bytes, Mapping[str, str]]:
        small = thumbnail_of(picture) if thumbnails else b""
        return why_not_a_chest_xray(picture), small, picture.header.identity

    found = predict_folder(model, folder, look=look, progress=progress)
    records, _ = records_of("X-rays", model, found, labels="optional")
    doubts, small, identities = zip(*found.looks, strict=True) if found.looks else ((), (), ())
    return XrayRecords(records, doubts, small, identities, found.refused)


def thumbnail_of(picture: Picture) -> bytes:
    """The X-ray as a grey JPEG of at most 320 pixels on the shorter side, as bright as its bits allow."""
    white = 255 * 2 ** unused_bits(picture.grey)
    image = Image.fromarray((picture.grey * white).round().astype(np.uint8))
    scale = min(1.0, SHORTER / min(image.size), LONGER / max(image.size))
    width, height = (max(1, round(side * scale)) for side in image.size)
    out = io.BytesIO()
    image.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0).save(out, "JPEG", quality=88)
    return out.getvalue()
