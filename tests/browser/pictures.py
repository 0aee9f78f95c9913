"""X-rays for the journeys, all synthetic, and things that are none."""

import io
import zipfile

import numpy as np
from PIL import Image
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage, generate_uid

from tests.drawn_xrays import draw_xrays


def png(name: str, grey: np.ndarray) -> dict:
    out = io.BytesIO()
    Image.fromarray((grey * 255).astype(np.uint8)).save(out, "PNG")
    return {"name": name, "mimeType": "image/png", "buffer": out.getvalue()}


def xray_pngs(count: int, seed: int) -> list[dict]:
    return [png(f"xray {number:02}.png", xray.grey) for number, xray in enumerate(draw_xrays(count, seed))]


def xray_archive(name: str, count: int, seed: int, labelled: bool = False) -> dict:
    """A zip of synthetic X-rays, in a folder a class if labelled."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number, xray in enumerate(draw_xrays(count, seed)):
            folder = f"{xray.label}/" if labelled else ""
            archive.writestr(f"{folder}{number:03}.png", png("", xray.grey)["buffer"])
    return {"name": name, "mimeType": "application/zip", "buffer": out.getvalue()}


def colour_photo(name: str) -> dict:
    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)).save(out, "PNG")
    return {"name": name, "mimeType": "image/png", "buffer": out.getvalue()}


def xray_dicom(name: str, seed: int) -> dict:
    grey = draw_xrays(1, seed)[0].grey
    meta = FileMetaDataset()
    meta.TransferSyntaxUID, meta.MediaStorageSOPClassUID = ExplicitVRLittleEndian, SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = generate_uid()
    dataset = FileDataset(name, {}, file_meta=meta, preamble=b"\0" * 128)
    dataset.Rows, dataset.Columns = grey.shape
    dataset.SamplesPerPixel, dataset.PhotometricInterpretation, dataset.PixelRepresentation = 1, "MONOCHROME2", 0
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 8, 8, 7
    dataset.PixelData = (grey * 255).astype(np.uint8).tobytes().ljust(grey.size + grey.size % 2, b"\0")
    out = io.BytesIO()
    dataset.save_as(out, enforce_file_format=True)
    return {"name": name, "mimeType": "application/dicom", "buffer": out.getvalue()}
