"""Class probabilities of X-rays, in batches, as they are read; and where the network looked (Grad-CAM)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from ppsets_core.errors import InputError
from ppsets_core.files import Refused
from ppsets_core.model.network import BATCH_SIZE, stretched
from ppsets_core.model.novelty import statistics_of
from ppsets_core.model.weights import XrayModel
from ppsets_core.xrays.folder import Xray, XrayFolder
from ppsets_core.xrays.picture import Picture

_COMPANY = 2
Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class FolderPrediction:
    """Probabilities and novelty of every readable X-ray of a folder, in its order, and what could not be read.

    looks: what `predict_folder` was asked to keep of each picture."""

    names: tuple[str, ...]
    labels: tuple[str | None, ...]
    patients: tuple[str | None, ...]
    probabilities: np.ndarray
    refused: tuple[Refused, ...]
    novelty: np.ndarray | None = None
    looks: tuple[Any, ...] = ()


def predict(
    model: XrayModel, pictures: Iterable[Picture], *, batch_size: int = BATCH_SIZE, progress: Progress | None = None
) -> np.ndarray:
    """Softmax probabilities (N, K) in float64, one row per picture. `progress` hears how many are done."""
    return classify(model, pictures, batch_size=batch_size, progress=progress)[0]


def classify(
    model: XrayModel, pictures: Iterable[Picture], *, batch_size: int = BATCH_SIZE, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Probabilities as `predict` gives them, and novelty in [0, 1] where the weights' statistics are known."""
    known = statistics_of(model.fingerprint)
    rows, novelty, done = [np.zeros((0, len(model.classes)))], [np.zeros(0)], 0
    for probabilities, features in batches(model, pictures, batch_size):
        rows.append(probabilities)
        novelty.append(known.novelty(features) if known else np.zeros(0))
        done += len(probabilities)
        if progress:
            progress(done)
    return np.concatenate(rows), np.concatenate(novelty) if known else None


@torch.inference_mode()
def batches(
    model: XrayModel, pictures: Iterable[Picture], batch_size: int = BATCH_SIZE
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Probabilities (n, K) of one batch after the other, and the features (n, 512) that the last layer was given. The
    first picture is a batch by itself, so that progress shows early.

    A picture's numbers do not depend on the other pictures: one changed X-ray may change one record only. So none goes
    through the network alone, where sums are taken in another order."""
    if batch_size < 1:
        raise InputError(f"The batch size must be at least 1, not {batch_size}.")
    view = model.preprocessing
    greys = torch.zeros(max(batch_size, _COMPANY), 1, view.side, view.side)
    filled, full = 0, 1

    def run() -> tuple[np.ndarray, np.ndarray]:
        given = greys[: max(filled, _COMPANY)]
        inputs = view.normalise(given)  # all at once: torch's threads would start for each picture, and spin
        logits, features = model.fast_network(inputs.contiguous(memory_format=torch.channels_last))
        probabilities = torch.softmax(logits[:filled].double() / model.temperature, dim=1)
        return probabilities.numpy(), features[:filled].numpy()

    for picture in pictures:
        greys[filled] = stretched(picture.grey, view.side, picture.frame)
        filled += 1
        if filled == full:
            yield run()
            filled, full = 0, batch_size
    if filled:
        yield run()


def predict_folder(
    model: XrayModel,
    folder: XrayFolder,
    *,
    look: Callable[[Picture], Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FolderPrediction:
    """Predict a folder while it is read; memory grows only by what `look` keeps of each picture.

    progress: called with (looked at, total) from the start on; may raise to cancel.
    """
    read: list[Xray] = []
    looks: list[Any] = []
    refused = list(folder.refused)

    def advance() -> None:
        if progress:
            progress(len(read) + len(refused) - len(folder.refused), len(folder.xrays))

    def pictures() -> Iterator[Picture]:
        for xray, picture in folder.readable(refused, model.preprocessing.read_at_least):
            read.append(xray)
            if look is not None:
                looks.append(look(picture))
            advance()
            yield picture

    advance()
    probabilities, novelty = classify(model, pictures(), progress=lambda _: advance())
    return FolderPrediction(
        tuple(xray.name for xray in read),
        tuple(xray.label for xray in read),
        tuple(xray.patient for xray in read),
        probabilities,
        tuple(refused),
        novelty,
        tuple(looks),
    )


def heat_map(model: XrayModel, picture: Picture, class_index: int) -> np.ndarray:
    """How much each place speaks for the class, in [0, 1], in the picture's shape; 0 on its margins.

    Grad-CAM: the last filters, weighted by how much they speak for the class."""
    if not 0 <= class_index < len(model.classes):
        raise InputError(f"There is no class {class_index}: this model has classes 0 to {len(model.classes) - 1}.")
    features = _last_filters(model, picture).requires_grad_()
    pooled = model.network.avgpool(features).flatten(1)
    (slope,) = torch.autograd.grad(model.network.fc(pooled)[0, class_index], features)
    heat = F.relu((features.detach() * slope.mean(dim=(2, 3), keepdim=True)).sum(dim=1, keepdim=True))
    return _into_picture(heat, picture)


@torch.no_grad()
def _last_filters(model: XrayModel, picture: Picture) -> torch.Tensor:
    """The activations after the last convolutional block, 1 × 512 × h × w."""
    net = model.network
    inputs = model.preprocessing.network_input(picture.grey, picture.frame)[None]
    stem = net.maxpool(net.relu(net.bn1(net.conv1(inputs))))
    return net.layer4(net.layer3(net.layer2(net.layer1(stem))))


def _into_picture(heat: torch.Tensor, picture: Picture) -> np.ndarray:
    """The heat, its peak made 1, laid on the frame of the picture, which is what the network sees."""
    whole = np.zeros(picture.grey.shape, dtype=np.float32)
    seen = picture.frame.of(whole)
    spread = F.interpolate(heat, seen.shape, mode="bilinear", align_corners=False)[0, 0]
    seen[:] = (spread / spread.max().clamp(min=1e-12)).numpy()
    return whole
