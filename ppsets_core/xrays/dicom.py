"""DICOM to grey: MONOCHROME1 inverted, rescale and window (or lookup tables) applied as DICOM PS3.3 C.11 says."""

import logging
import math
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image
from pydicom import config, dcmread, uid
from pydicom.dataset import Dataset
from pydicom.encaps import get_frame
from pydicom.pixels import get_decoder
from pydicom.pixels.decoders.base import Decoder
from pydicom.valuerep import PersonName

from ppsets_core.errors import FileError
from ppsets_core.files.names import shown_name
from ppsets_core.xrays import limits
from ppsets_core.xrays.picture import NOBODY, PATIENT_AND_STUDY, UIDS, Header, grey_and_chroma, unit_range

# pydicom and highdicom quote files, patients' names too, in warnings and logs: silence them.
config.settings.reading_validation_mode = config.IGNORE
logging.getLogger("pydicom").setLevel(logging.CRITICAL)
warnings.filterwarnings("ignore", module=r"(pydicom|highdicom)(\.|$)")

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
LOSSLESS_JPEG = (uid.JPEGLossless, uid.JPEGLosslessSV1)
VALID_UID = r"(0|[1-9]\d*)(\.(0|[1-9]\d*))*"
LONGEST = 64 * 3  # a name's letters, in each of its three scripts
EXPORT = "Export it as 'Explicit VR Little Endian' (uncompressed) or as PNG."


def decode_dicom(data: bytes) -> tuple[np.ndarray, float, Header]:
    """Grey in [0, 1], chroma and header of a DICOM file's one frame; FileError if it cannot be an X-ray."""
    if DEFLATED in data:
        raise FileError(f"Deflated DICOM could expand without bound, so it is not read. {EXPORT}")
    dataset = _read(data)
    with limits.room_for(*_size(dataset)):
        return *_decoded(dataset), _header(dataset)


def stored_values(data: bytes) -> tuple[np.ndarray, Dataset, bool]:
    """Stored values, header, and whether low values are bright, of a file that `decode_dicom` accepts."""
    dataset = _read(data)
    with limits.room_for(*_size(dataset)):
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
    values = (dataset.get(name) for name in ("Modality", "BodyPartExamined", "ViewPosition"))
    modality, body_part, view = (value.strip().upper() if isinstance(value, str) else "" for value in values)
    return Header(modality, body_part, view, _identity(dataset))


def _identity(dataset: Dataset) -> Mapping[str, str]:
    """Patient and study, if the file has identifiers that another file can refer to."""
    uids = {name: str(dataset.get(name, "")) for name in UIDS}
    if not all(len(one) <= 64 and re.fullmatch(VALID_UID, one) for one in uids.values()):
        return NOBODY
    values = {name: dataset.get(name) for name in PATIENT_AND_STUDY}
    return uids | {name: str(v) for name, v in values.items() if isinstance(v, str | PersonName) and len(v) <= LONGEST}


def _read(data: bytes) -> Dataset:
    """Read the tags that are used, checking each one's length before pydicom converts it."""
    file = limits.ReadLimitedBytes(data, MAX_DICOM_READS)
    try:
        dataset = dcmread(file, force=True, specific_tags=USED)
    except OSError as error:
        raise FileError(limits.TOO_MANY_PARTS) if file.left < 0 else error from None
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
    limits.check_pixels(*size)
    return size


def _pixels(dataset: Dataset) -> np.ndarray:
    """The stored values: (rows, columns), or (rows, columns, 3) for colour."""
    syntax = _transfer_syntax(dataset)
    if syntax == uid.RLELossless and len(dataset.PixelData) > MAX_RLE_BYTES:
        raise FileError(f"Its run-length compressed picture is too large. {EXPORT}")
    if not (decoder := _decoder(syntax)):
        gdcm = "'pip install python-gdcm' adds one, or: " if syntax in LOSSLESS_JPEG else ""
        raise FileError(f"Compressed as '{shown_name(syntax.name)}', for which no decoder is installed. {gdcm}{EXPORT}")
    if syntax.is_compressed and syntax != uid.RLELossless:
        _check_compressed(dataset, syntax)
    plugin = "pillow" if "pillow" in decoder.available_plugins else ""  # equal greys whatever else is installed
    return decoder.as_array(dataset, index=0, decoding_plugin=plugin)[0]


def _check_compressed(dataset: Dataset, syntax: uid.UID) -> None:
    """The compressed picture's own header must not announce another size than the tags that were checked."""
    frame = get_frame(dataset.PixelData, 0, number_of_frames=1)
    if syntax in (*LOSSLESS_JPEG, *uid.JPEGLSTransferSyntaxes):  # of more than 8 bits, unknown to Pillow
        size = limits.jpeg_size(frame)
    else:
        with Image.open(limits.ReadLimitedBytes(frame), formats=("JPEG", "JPEG2000")) as image:
            size = image.size
    limits.check_pixels(*size)
    if syntax in uid.JPEGTransferSyntaxes:
        limits.check_scans(frame, *size)


def _decoder(syntax: uid.UID) -> Decoder | None:
    try:
        decoder = get_decoder(syntax)
    except NotImplementedError:
        return None
    return decoder if decoder.is_available else None


def _transfer_syntax(dataset: Dataset) -> uid.UID:
    """The declared one; files without a preamble do not say, and are as they parsed."""
    if declared := dataset.file_meta.get("TransferSyntaxUID"):
        return declared
    implicit, little = dataset.original_encoding
    syntax = (
        uid.ImplicitVRLittleEndian if implicit else uid.ExplicitVRLittleEndian if little else uid.ExplicitVRBigEndian
    )
    dataset.file_meta.TransferSyntaxUID = syntax
    return syntax


def shown_greys(stored: np.ndarray, dataset: Dataset, *, inverted: bool) -> np.ndarray:
    """Greys in [0, 1]. Linear steps are folded into one pair (black, white), so a full-range window changes no bit."""
    slope, intercept = _rescale(dataset)
    black, white = _stored_range(dataset)
    if tables := dataset.get("ModalityLUTSequence"):
        stored, white = _look_up(stored, tables[0])
        black, slope, intercept = 0, 1.0, 0.0
    curved = False
    if tables := dataset.get("VOILUTSequence"):
        stored, white = _look_up(np.rint(stored * slope + intercept), tables[0])
        black = 0
    elif window := _window(dataset):
        black, white = ((edge - intercept) / slope for edge in window)
        curved = _window_function(dataset) == "SIGMOID"
    elif slope < 0:
        black, white = white, black
    if inverted:
        black, white = white, black
    if not 1e-6 < abs(white - black) < 1e12:
        raise FileError("Its window or rescale values make no sense. Export it as PNG.")
    return _sigmoid(stored, black, white) if curved else unit_range(stored, black, white)


def first_window(dataset: Dataset) -> tuple[float, float, float, float] | None:
    """Slope and intercept, and centre and width, as LINEAR defines them, of the header's first window, else of one over
    the full stored range; None if a lookup table is used instead."""
    if dataset.get("ModalityLUTSequence") or dataset.get("VOILUTSequence"):
        return None
    slope, intercept = _rescale(dataset)
    edges = _window(dataset) or sorted(slope * value + intercept for value in _stored_range(dataset))
    black, white = edges
    return slope, intercept, (black + white + 1) / 2, white - black + 1


def _stored_range(dataset: Dataset) -> tuple[float, float]:
    values = 2 ** int(dataset.BitsStored)
    lowest = -values // 2 if dataset.PixelRepresentation else 0
    return lowest, lowest + values - 1


def _rescale(dataset: Dataset) -> tuple[float, float]:
    slope, intercept = _number(dataset.get("RescaleSlope")), _number(dataset.get("RescaleIntercept"))
    return (slope, intercept or 0.0) if slope else (1.0, intercept or 0.0)


def _window(dataset: Dataset) -> tuple[float, float] | None:
    """The values shown black and white by the first window (PS3.3 C.11.2.1.2), or None if there is no usable one."""
    centre, width = _number(dataset.get("WindowCenter")), _number(dataset.get("WindowWidth"))
    if centre is None or width is None:
        return None
    if _window_function(dataset) == "LINEAR":
        centre, width = centre - 0.5, width - 1
    return (centre - width / 2, centre + width / 2) if width > 0 else None


def _window_function(dataset: Dataset) -> str:
    return str(dataset.get("VOILUTFunction") or "LINEAR")


def _sigmoid(stored: np.ndarray, black: float, white: float) -> np.ndarray:
    """1/(1 + exp(−4(x − centre)/width))."""
    away = (np.asarray(stored, np.float32) - np.float32((black + white) / 2)) / np.float32(white - black)
    return 1 / (1 + np.exp(np.clip(-4 * away, -80, 80)))


def _look_up(values: np.ndarray, item: Dataset) -> tuple[np.ndarray, int]:
    """Values through a lookup table, and the table's white. Values outside the table take its nearest entry."""
    entries, first, bits = (int(v) for v in item.LUTDescriptor)
    data = item.LUTData
    if isinstance(data, bytes):
        data = np.frombuffer(data, np.uint8 if len(data) in (entries, entries + 1) else np.dtype("<u2"))
    table = np.asarray(data, np.float32)[: entries or 2**16]
    index = np.clip(np.asarray(values, np.int64) - first, 0, len(table) - 1)
    return table[index], 2**bits - 1


def _number(value: Any) -> float | None:
    """The first of possibly several decimal strings, if it is a finite number."""
    if value is None or value == "" or isinstance(value, str):
        return None
    number = float(value[0] if hasattr(value, "__getitem__") else value)
    return number if math.isfinite(number) else None
