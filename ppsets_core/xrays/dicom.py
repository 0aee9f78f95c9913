"""DICOM to grey: MONOCHROME1 inverted, rescale and window (or lookup tables) applied as DICOM PS3.3 C.11 says."""

import io

import numpy as np
from PIL import Image
from pydicom import dcmread
from pydicom.dataset import Dataset
from pydicom.pixels import get_decoder
from pydicom.uid import ExplicitVRBigEndian, ExplicitVRLittleEndian, ImplicitVRLittleEndian, RLELossless

from ppsets_core.errors import FileError
from ppsets_core.files.names import shown_name
from ppsets_core.xrays.grey import grey_and_chroma
from ppsets_core.xrays.limits import check_pixels
from ppsets_core.xrays.window import shown_greys

DEFLATED = b"1.2.840.10008.1.2.1.99"
MAX_RLE_BYTES = 32_000_000  # run lengths can expand 64-fold, and are decoded in Python
EXPORT = "Export it as 'Explicit VR Little Endian' (uncompressed) or as PNG."


def decode_dicom(data: bytes) -> tuple[np.ndarray, float]:
    """Grey in [0, 1] and chroma of a DICOM file's one frame. Raises FileError for whatever cannot be one X-ray."""
    if DEFLATED in data:
        raise FileError(f"Deflated DICOM could expand without bound, so it is not read. {EXPORT}")
    dataset = dcmread(io.BytesIO(data), force=True)
    pixels = _pixels(dataset)
    photometric = dataset.get("PhotometricInterpretation", "")
    if pixels.ndim == 3:
        return grey_and_chroma(Image.fromarray((pixels >> max(0, int(dataset.BitsStored) - 8)).astype(np.uint8)))
    if photometric not in ("MONOCHROME1", "MONOCHROME2"):
        raise FileError(f"Its colours are '{shown_name(str(photometric))}', which no X-ray uses. Export it as PNG.")
    return shown_greys(pixels, dataset, inverted=photometric == "MONOCHROME1"), 0.0


def _pixels(dataset: Dataset) -> np.ndarray:
    """The stored values: (rows, columns), or (rows, columns, 3) for colour."""
    if "PixelData" not in dataset:
        raise FileError("This DICOM file holds no picture (a report, a directory or a removed one).")
    if (frames := int(dataset.get("NumberOfFrames") or 1)) > 1:
        raise FileError(f"It holds {frames} frames (a film or a volume); an X-ray has one. Export the frame you mean.")
    check_pixels(int(dataset.Columns), int(dataset.Rows))
    syntax = _transfer_syntax(dataset)
    if syntax == RLELossless and len(dataset.PixelData) > MAX_RLE_BYTES:
        raise FileError(f"Its run-length compressed picture is too large. {EXPORT}")
    if not (decoder := _decoder(syntax)):
        raise FileError(f"Compressed as '{shown_name(syntax.name)}', for which no decoder is installed. {EXPORT}")
    return decoder.as_array(dataset, index=0)[0]


def _decoder(syntax):
    try:
        decoder = get_decoder(syntax)
    except NotImplementedError:
        return None
    return decoder if decoder.is_available else None


def _transfer_syntax(dataset: Dataset):
    """The declared one; files without a preamble do not say, and are as they parsed."""
    if declared := dataset.file_meta.get("TransferSyntaxUID"):
        return declared
    implicit, little = dataset.original_encoding
    syntax = ImplicitVRLittleEndian if implicit else ExplicitVRLittleEndian if little else ExplicitVRBigEndian
    dataset.file_meta.TransferSyntaxUID = syntax
    return syntax
