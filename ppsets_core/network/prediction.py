"""Class probabilities of X-rays, in batches, as they are read."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from ppsets_core.errors import InputError
from ppsets_core.files.refused import Refused
from ppsets_core.network.fast import BATCH_SIZE
from ppsets_core.network.weights import XrayModel
from ppsets_core.xrays.folder import Xray, XrayFolder
from ppsets_core.xrays.picture import Picture

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class FolderPrediction:
    """The probabilities of every readable X-ray of a folder, in its order, and what could not be read."""

    names: tuple[str, ...]
    labels: tuple[str | None, ...]
    patients: tuple[str | None, ...]
    probabilities: np.ndarray
    refused: tuple[Refused, ...]


@torch.inference_mode()
def predict(
    model: XrayModel, pictures: Iterable[Picture], *, batch_size: int = BATCH_SIZE, progress: Progress | None = None
) -> np.ndarray:
    """Softmax probabilities (N, K) in float64, one row per picture. `progress` hears how many are done."""
    if batch_size < 1:
        raise InputError(f"The batch size must be at least 1, not {batch_size}.")
    crop = model.preprocessing.crop
    batch = torch.zeros(batch_size, 3, crop, crop).contiguous(memory_format=torch.channels_last)
    rows, filled = [np.zeros((0, len(model.classes)))], 0
    done = 0

    def run() -> None:
        logits = model.fast_network(batch)[:filled].double() / model.temperature
        rows.append(torch.softmax(logits, dim=1).numpy())
        if progress:
            progress(done)

    for picture in pictures:
        batch[filled] = model.preprocessing.network_input(picture.grey)
        filled, done = filled + 1, done + 1
        if filled == batch_size:
            run()
            filled = 0
    if filled:
        run()
    return np.concatenate(rows)


def predict_folder(model: XrayModel, folder: XrayFolder, *, progress: Progress | None = None) -> FolderPrediction:
    """Predicts a folder while it is being read; memory does not grow with the number of files."""
    read: list[Xray] = []
    refused = list(folder.refused)

    def pictures() -> Iterator[Picture]:
        for xray, picture in folder.readable(refused, model.preprocessing.read_at_least):
            read.append(xray)
            yield picture

    probabilities = predict(model, pictures(), progress=progress)
    return FolderPrediction(
        tuple(xray.name for xray in read),
        tuple(xray.label for xray in read),
        tuple(xray.patient for xray in read),
        probabilities,
        tuple(refused),
    )
