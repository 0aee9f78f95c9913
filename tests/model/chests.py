"""Chest-like pictures drawn in code, and small models: light enough to train in a test."""

from pathlib import Path

import numpy as np
import torch
from PIL import Image

from ppsets_core.model.network import Preprocessing, build_resnet18
from ppsets_core.model.training_set import TrainingSet, square_grey
from ppsets_core.model.weights import XrayModel
from ppsets_core.xrays import Picture

CLASSES = ("bacterial-pneumonia", "normal", "viral-pneumonia")
SMALL = Preprocessing(side=32)


def chest(label: str = "normal", seed: int = 0, height: int = 180, width: int = 220) -> np.ndarray:
    """Two dark lungs in a bright body; bacterial: one bright lung; viral: both hazy and short."""
    noise = np.random.default_rng(seed)
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    grey = 0.75 - 0.2 * np.abs(x - 0.5) + 0.03 * noise.standard_normal((height, width))
    depth = {"normal": (0.5, 0.5), "bacterial-pneumonia": (0.5, 0.1), "viral-pneumonia": (0.25, 0.25)}[label]
    tall = 0.2 if label == "viral-pneumonia" else 0.33
    for centre, dark in zip((0.3, 0.7), depth, strict=True):
        away = ((x - centre - noise.uniform(-0.03, 0.03)) / 0.15) ** 2 + ((y - 0.5) / tall) ** 2
        grey -= dark * np.exp(-(away**2))
    return grey.clip(0, 1).astype(np.float32)


def picture(label: str = "normal", seed: int = 0, **shape: int) -> Picture:
    return Picture(f"{label}-{seed}.png", chest(label, seed, **shape), 0.0)


def png_folder(folder: Path, each: int) -> Path:
    """Labelled sub-folders with `each` X-rays a class."""
    for label in CLASSES:
        (folder / label).mkdir(parents=True)
        for seed in range(each):
            pixels = (chest(label, seed) * 255).round().astype(np.uint8)
            Image.fromarray(pixels).save(folder / label / f"{label}-{seed:03d}.png")
    return folder


def training_set(each: int, side: int = SMALL.side) -> TrainingSet:
    rows = [(label, seed) for label in CLASSES for seed in range(each)]
    return TrainingSet(
        torch.stack([square_grey(chest(label, seed), side) for label, seed in rows]),
        torch.tensor([CLASSES.index(label) for label, _ in rows]),
        tuple(f"{label}-{seed // 2}" for label, seed in rows),
        CLASSES,
    )


def small_model(seed: int = 0, classes: tuple[str, ...] = CLASSES) -> XrayModel:
    """A ResNet-18 with random weights that looks at 32 px."""
    torch.manual_seed(seed)
    return XrayModel(classes, SMALL, 1.0, build_resnet18(len(classes)).eval())
