"""Files that journeys upload, all synthetic."""

import io

import numpy as np
from PIL import Image
from PIL.ImageFilter import GaussianBlur

from tests.drawn_xrays import draw_xrays
from tests.xrays.samples import dicom, zipped

CLASSES = ("bacterial-pneumonia", "normal", "viral-pneumonia")


def score_file(name: str, records: int, seed: int, patients: int | None = None) -> dict:
    """A CSV upload with probabilities, labels and, if asked for, patients, who are in no other file."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, records)
    logits = rng.normal(0, 1, (records, 3))
    logits[np.arange(records), labels] += 2
    rows = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    lines = [",".join([*(["patient"] if patients else []), "label", *CLASSES])]
    for number, (row, label) in enumerate(zip(rows, labels, strict=True)):
        patient = [f"{name} {number % patients}"] if patients else []
        lines.append(",".join([*patient, CLASSES[label], *map(repr, row.tolist())]))
    return csv_file(name, "\n".join(lines))


def csv_file(name: str, text: str) -> dict:
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode()}


def png(name: str, grey: np.ndarray) -> dict:
    out = io.BytesIO()
    Image.fromarray((grey * 255).astype(np.uint8)).save(out, "PNG")
    return {"name": name, "mimeType": "image/png", "buffer": out.getvalue()}


def xray_pngs(count: int, seed: int) -> list[dict]:
    return [png(f"xray {number:02}.png", xray.grey) for number, xray in enumerate(draw_xrays(count, seed))]


def unfamiliar(pixels: np.ndarray) -> np.ndarray:
    """An X-ray so blurred that the bundled model has seen none like it; the gate lets it pass."""
    return np.asarray(Image.fromarray(pixels).filter(GaussianBlur(14)))


def xray_archive(name: str, count: int, seed: int, labelled: bool = False) -> dict:
    """A zip of synthetic X-rays, in a folder a class if labelled."""
    files = {}
    for number, xray in enumerate(draw_xrays(count, seed)):
        folder = f"{xray.label}/" if labelled else ""
        files[f"{folder}{number:03}.png"] = png("", xray.grey)["buffer"]
    return zip_file(name, files)


def zip_file(name: str, files: dict[str, bytes]) -> dict:
    return {"name": name, "mimeType": "application/zip", "buffer": zipped(files)}


def colour_photo(name: str) -> dict:
    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)).save(out, "PNG")
    return {"name": name, "mimeType": "image/png", "buffer": out.getvalue()}


def xray_dicom(name: str, seed: int, **header: object) -> dict:
    grey = (draw_xrays(1, seed)[0].grey * 255).astype(np.uint8)
    return {"name": name, "mimeType": "application/dicom", "buffer": dicom(grey, **header)}
