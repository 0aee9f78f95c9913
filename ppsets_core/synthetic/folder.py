"""Synthetic X-rays as files: a labelled folder of PNGs, each saying in its name and inside that it is synthetic."""

from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from ppsets_core.synthetic.drawing import SyntheticXray, iter_xrays


def write_folder(path: str | Path, count: int, seed: int) -> list[Path]:
    """Writes `count` X-rays as `path`/<class>/synthetic_00001.png, the classes in turn; returns the files."""
    files = []
    for number, xray in enumerate(iter_xrays(count, seed), start=1):
        file = Path(path) / xray.label / f"synthetic_{number:05d}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_png(file, xray, seed, number)
        files.append(file)
    return files


def write_png(file: Path, xray: SyntheticXray, seed: int, number: int) -> None:
    """8-bit grey, with what it is and how to draw it again in its text fields."""
    text = PngInfo()
    text.add_text("Description", f"synthetic chest X-ray ({xray.label}); not of a patient")
    text.add_text("Source", f"ppsets synthetic X-ray {number} of seed {seed}")
    text.add_text("synthetic", "true")
    Image.fromarray(np.round(xray.grey * 255).astype(np.uint8)).save(file, optimize=True, pnginfo=text)
