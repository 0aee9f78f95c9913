"""Pictures and archives made in code, as bytes."""

import io
import zipfile
from typing import Literal

import numpy as np
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, generate_uid

from ppsets_core.xrays import read_folder


def film(height: int = 48, width: int = 40, seed: int = 0) -> np.ndarray:
    """An 8-bit grey picture that uses 0 and 255 and looks different from every side."""
    rows, columns = np.mgrid[0:height, 0:width]
    grey = 200 * rows / height + 40 * columns / width + np.random.default_rng(seed).uniform(0, 15, (height, width))
    grey[:3, :3], grey[-3:, -3:] = 0, 255
    return grey.astype(np.uint8)


def png(pixels: np.ndarray | Image.Image, **options) -> bytes:
    return _saved(pixels, "PNG", **options)


def jpeg(pixels: np.ndarray | Image.Image, **options) -> bytes:
    return _saved(pixels, "JPEG", **{"quality": 95, **options})


def tiff(pixels: np.ndarray | Image.Image, **options) -> bytes:
    return _saved(pixels, "TIFF", **options)


def _saved(pixels: np.ndarray | Image.Image, file_format: str, **options) -> bytes:
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    buffer = io.BytesIO()
    image.save(buffer, file_format, **options)
    return buffer.getvalue()


def dicom(pixels: np.ndarray | None, *, syntax: str = ExplicitVRLittleEndian, bits: int | None = None, **tags) -> bytes:
    """A DICOM file with these stored values; any keyword is a tag of that name."""
    dataset = Dataset()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = syntax
    dataset.SOPClassUID, dataset.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.1.1", generate_uid()
    dataset.file_meta.MediaStorageSOPClassUID = dataset.SOPClassUID
    dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID
    if pixels is not None:
        dataset.Rows, dataset.Columns = pixels.shape[:2]
        dataset.SamplesPerPixel = 1 if pixels.ndim == 2 else 3
        dataset.PhotometricInterpretation = "MONOCHROME2" if pixels.ndim == 2 else "RGB"
        if pixels.ndim == 3:
            dataset.PlanarConfiguration = 0
        dataset.BitsAllocated = 8 * pixels.itemsize
        dataset.BitsStored = bits or dataset.BitsAllocated
        dataset.HighBit = dataset.BitsStored - 1
        dataset.PixelRepresentation = int(np.issubdtype(pixels.dtype, np.signedinteger))
        dataset.PixelData = pixels.tobytes()
    for name, value in tags.items():
        setattr(dataset, name, value)
    buffer = io.BytesIO()
    dataset.save_as(buffer, enforce_file_format=True)
    return buffer.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def upload(name: str, data: bytes) -> io.BytesIO:
    """What a web upload looks like: bytes in memory with a name."""
    file = io.BytesIO(data)
    file.name = name
    return file


def folder_of(files: dict[str, bytes | str] | str, labels: str | bytes | Literal[False] | None = None, **options):
    """A zip of these files, or of pictures a.png, b.png, … by their letters, as `read_folder` finds it."""
    files = {f"{name}.png": png(film()) for name in files} if isinstance(files, str) else files
    data = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    if isinstance(labels, str | bytes):
        labels = upload("labels.csv", labels.encode() if isinstance(labels, str) else labels)
    return read_folder(upload("x.zip", zipped(data)), labels=labels, **options)
