"""Labelled X-rays by seed, of no patient: bundled ones, each a little turned, cropped, toned and noisy."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from ppsets_core.places import ASSETS

CLEAR = (1, 2, 7, 9, 10, 11, 12)
"""Those of the twelve that the bundled model recognises and finds familiar."""


@dataclass(frozen=True, eq=False)
class DrawnXray:
    """`grey` float32 (rows, columns) in [0, 1], and its class."""

    grey: np.ndarray
    label: str

    @property
    def pixels(self) -> np.ndarray:
        """As 8-bit greys."""
        return np.round(self.grey * 255).astype(np.uint8)


def draw_xrays(count: int, seed: int, label: str | None = None) -> list[DrawnXray]:
    """`count` X-rays, the classes in turn or all of class `label`; the i-th depends on the seed and i alone."""
    classes = sorted(bundled())
    labels = [label or classes[i % len(classes)] for i in range(count)]
    return [DrawnXray(_varied(name, np.random.default_rng([seed, i])), name) for i, name in enumerate(labels)]


def write_folder(path: str | Path, count: int, seed: int) -> list[Path]:
    """Write `count` X-rays as `path`/<class>/xray_00001.png, the classes in turn; return the files."""
    files = []
    for number, xray in enumerate(draw_xrays(count, seed), start=1):
        files.append(Path(path) / xray.label / f"xray_{number:05d}.png")
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(xray.pixels).save(files[-1])
    return files


@cache
def bundled() -> dict[str, list[Image.Image]]:
    """The clear bundled X-rays by class, which is the end of their names."""
    found: dict[str, list[Image.Image]] = {}
    for number in CLEAR:
        (file,) = ASSETS.glob(f"synthetic_{number:02d}_*.png")
        found.setdefault(file.stem.split("_")[2], []).append(Image.open(file).convert("L"))
    return found


def _varied(label: str, rng: np.random.Generator) -> np.ndarray:
    image = bundled()[label][rng.integers(len(bundled()[label]))]
    turned = image.rotate(rng.uniform(-1, 1), Image.Resampling.BICUBIC)
    left, top = (int(side * rng.uniform(0.01, 0.03)) for side in image.size)
    right, bottom = (int(side * rng.uniform(0.97, 0.99)) for side in image.size)
    grey = np.asarray(turned.crop((left, top, right, bottom)), np.float32) / 255
    grey = grey ** rng.uniform(0.95, 1.05) + 0.003 * rng.standard_normal(grey.shape)
    return grey.clip(0, 1).astype(np.float32)
