"""DICOM to grey: MONOCHROME1 inverted, rescale and window (or lookup tables) applied as DICOM PS3.3 C.11 says."""

import re
from collections.abc import Mapping

import numpy as np
from PIL import Image
from pydicom import dcmread
from pydicom.dataset import Dataset
from pydicom.encaps import get_frame
from pydicom.pixels import get_decoder
from pydicom.pixels.decoders.base import Decoder
from pydicom.uid import (
    UID,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    JPEGLossless,
    JPEGLosslessSV1,
    JPEGLSTransferSyntaxes,
    JPEGTransferSyntaxes,
    RLELossless,
)
from pydicom.valuerep import PersonName

from ppsets_core.errors import FileError
from ppsets_core.files.names import shown_name
from ppsets_core.xrays import quiet_dicom  # noqa: F401
from ppsets_core.xrays.decoder_limits import TOO_MANY_PARTS, FewReads, check_scans, jpeg_size
from ppsets_core.xrays.greyscale import grey_and_chroma
from ppsets_core.xrays.header import NOBODY, PATIENT_AND_STUDY, UIDS, Header
from ppsets_core.xrays.limits import check_pixels, room_for
from ppsets_core.xrays.window import shown_greys

PIXEL_DATA = 0x7FE00010
DEFLATED = b"1.2.840.10008.1.2.1.99"
MAX_RLE_BYTES = 32_000_000  # run lengths can expand 64-fold, and are decoded in Python
MAX_TAG_BYTES = 1_000_000  # a lookup table has 131,072 at most; a list of numbers becomes an object each
MAX_DICOM_READS = 40_000  # an X-ray has some hundred elements, and each item of a sequence is a large object
USED = [
    *("BitsAllocated", "BitsStored", "Columns", "HighBit", "NumberOfFrames", "PhotometricInterpretation", "PixelData"),
    *("PixelRepresentation", "PlanarConfiguration", "Rows", "SamplesPerPixel"),
    *("ModalityLUTSequence", "RescaleIntercept", "RescaleSlope"),
    *("VOILUTFunction", "VOILUTSequence", "WindowCenter", "WindowWidth"),
    *("BodyPartExamined", "Modality", "ViewPosition", "SpecificCharacterSet", *UIDS, *PATIENT_AND_STUDY),
]
LOSSLESS_JPEG = (JPEGLossless, JPEGLosslessSV1)
VALID_UID = r"(0|[1-9]\d*)(\.(0|[1-9]\d*))*"
LONGEST = 64 * 3  # a name's letters, in each of its three scripts
EXPORT = "Export it as 'Explicit VR Little Endian' (uncompressed) or as PNG."


def decode_dicom(data: bytes) -> tuple[np.ndarray, float, Header]:
    """Grey in [0, 1], chroma and header of a DICOM file's one frame. FileError for whatever cannot be an X-ray."""
    if DEFLATED in data:
        raise FileError(f"Deflated DICOM could expand without bound, so it is not read. {EXPORT}")
    dataset = _read(data)
    with room_for(*_size(dataset)):
        return *_decoded(dataset), _header(dataset)


def stored_values(data: bytes) -> tuple[np.ndarray, Dataset, bool]:
    """The values as the file stores them, its header, and whether low ones are bright; of a file that was decoded."""
    dataset = _read(data)
    with room_for(*_size(dataset)):
        return _pixels(dataset), dataset, dataset.get("PhotometricInterpretation") == "MONOCHROME1"


def _decoded(dataset: Dataset) -> tuple[np.ndarray, float]:
    pixels = _pixels(dataset)
    photometric = dataset.get("PhotometricInterpretation", "")
    if pixels.ndim == 3:
        return grey_and_chroma(Image.fromarray((pixels >> max(0, int(dataset.BitsStored) - 8)).astype(np.uint8)))
    if photometric not in ("MONOCHROME1", "MONOCHROME2"):
        raise FileError(f"Its colours are '{shown_name(str(photometric))}', which no X-ray uses. Export it as PNG.")
    return shown_greys(pixels, dataset, inverted=photometric == "MONOCHROME1"), 0.0


def _header(dataset: Dataset) -> Header:
    said = (dataset.get(name) for name in ("Modality", "BodyPartExamined", "ViewPosition"))
    modality, body_part, view = (value.strip().upper() if isinstance(value, str) else "" for value in said)
    return Header(modality, body_part, view, _identity(dataset))


def _identity(dataset: Dataset) -> Mapping[str, str]:
    """What the file says of its patient and study, where it has identifiers that another file can refer to."""
    uids = {name: str(dataset.get(name, "")) for name in UIDS}
    if not all(len(uid) <= 64 and re.fullmatch(VALID_UID, uid) for uid in uids.values()):
        return NOBODY
    values = {name: dataset.get(name) for name in PATIENT_AND_STUDY}
    return uids | {name: str(v) for name, v in values.items() if isinstance(v, str | PersonName) and len(v) <= LONGEST}


def _read(data: bytes) -> Dataset:
    """The tags that are used, each checked by its length before pydicom makes anything of it."""
    file = FewReads(data, MAX_DICOM_READS)
    try:
        dataset = dcmread(file, force=True, specific_tags=USED)
    except OSError as error:
        raise FileError(TOO_MANY_PARTS) if file.left < 0 else error from None
    for tag in dataset.keys() - {PIXEL_DATA}:
        if len(getattr(dataset.get_item(tag), "value", None) or b"") > MAX_TAG_BYTES:
            raise FileError(f"One of its tags is longer than any of an X-ray. {EXPORT}")
    return dataset


def _size(dataset: Dataset) -> tuple[int, int]:
    """Width and height of the one picture, checked."""
    if "PixelData" not in dataset:
        raise FileError("This DICOM file holds no picture (a report, a directory or a removed one).")
    if (frames := int(dataset.get("NumberOfFrames") or 1)) > 1:
        raise FileError(f"It holds {frames} frames (a film or a volume); an X-ray has one. Export the frame you mean.")
    size = int(dataset.Columns), int(dataset.Rows)
    check_pixels(*size)
    return size


def _pixels(dataset: Dataset) -> np.ndarray:
    """The stored values: (rows, columns), or (rows, columns, 3) for colour."""
    syntax = _transfer_syntax(dataset)
    if syntax == RLELossless and len(dataset.PixelData) > MAX_RLE_BYTES:
        raise FileError(f"Its run-length compressed picture is too large. {EXPORT}")
    if not (decoder := _decoder(syntax)):
        raise FileError(
            f"Compressed as '{shown_name(syntax.name)}', for which no decoder is installed. {_remedy(syntax)}"
        )
    if syntax.is_compressed and syntax != RLELossless:
        _check_compressed(dataset, syntax)
    plugin = "pillow" if "pillow" in decoder.available_plugins else ""  # the same greys whatever else is installed
    return decoder.as_array(dataset, index=0, decoding_plugin=plugin)[0]


def _remedy(syntax: UID) -> str:
    if syntax in LOSSLESS_JPEG:
        return f"'pip install python-gdcm' adds one. Or: {EXPORT[0].lower()}{EXPORT[1:]}"
    return EXPORT


def _check_compressed(dataset: Dataset, syntax: UID) -> None:
    """The compressed picture's own header must not announce another size than the tags that were checked."""
    frame = get_frame(dataset.PixelData, 0, number_of_frames=1)
    if syntax in (*LOSSLESS_JPEG, *JPEGLSTransferSyntaxes):  # of more than 8 bits, which Pillow does not know
        size = jpeg_size(frame)
    else:
        with Image.open(FewReads(frame), formats=("JPEG", "JPEG2000")) as image:
            size = image.size
    check_pixels(*size)
    if syntax in JPEGTransferSyntaxes:
        check_scans(frame, *size)


def _decoder(syntax: UID) -> Decoder | None:
    try:
        decoder = get_decoder(syntax)
    except NotImplementedError:
        return None
    return decoder if decoder.is_available else None


def _transfer_syntax(dataset: Dataset) -> UID:
    """The declared one; files without a preamble do not say, and are as they parsed."""
    if declared := dataset.file_meta.get("TransferSyntaxUID"):
        return declared
    implicit, little = dataset.original_encoding
    syntax = ImplicitVRLittleEndian if implicit else ExplicitVRLittleEndian if little else ExplicitVRBigEndian
    dataset.file_meta.TransferSyntaxUID = syntax
    return syntax
