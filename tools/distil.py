"""Train the bundled network: `python -m tools.distil coronahack --soft soft.npz --start start.safetensors --out OUT`.

A ResNet-18 learns from CoronaHack's `train` split, from the labels and from what tools/teachers.py says of each;
a part of the patients is held out to watch it and to set the temperature. `--start` is a ResNet-18 for these classes,
as tools/train_network.py writes it (models/README.md has the command).
"""

import argparse
import math
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from ppsets_core.model.network import Preprocessing, build_resnet18
from ppsets_core.model.training_set import (
    TrainingSet,
    accuracy_and_recall,
    class_weights,
    fit_temperature,
    read_training_set,
)
from ppsets_core.model.weights import XrayModel, save_model
from tools.augmentation import augment
from tools.coronahack import read_coronahack
from tools.teachers import KEPT, resized

EPOCHS, BATCH, RATE, DECAY, AVERAGE, WARM_UP = 34, 40, 4.5e-4, 0.05, 0.995, 150
LABELS = 0.45
"""How much the label of an X-ray counts beside what the teachers say of it."""
BESIDE = 0.5
"""How much it counts that the features also tell, by a layer that is thrown away, what the picture is like."""
COARSE, COARSE_SHARE = 128, 18 / 34
"""The first epochs see smaller views, which cost less."""
ROOM = 1.15
"""Views are taken from squares this much larger than themselves, so that zooming in finds detail."""
HELD_OUT, HARDNESS, SEED = 0.08, 5, 1


def distil(
    data: TrainingSet,
    soft: Tensor,
    components: Tensor,
    network: nn.Module,
    *,
    view: Preprocessing = Preprocessing(),
    epochs: int = EPOCHS,
    seed: int = SEED,
) -> XrayModel:
    """The network, its weights averaged over the steps, with the temperature that fits the held-out patients."""
    rest, held_out = data.rows_by_patient(HELD_OUT, 0)
    targets = LABELS * F.one_hot(data.labels, len(data.classes)) + (1 - LABELS) * soft
    generator = torch.Generator().manual_seed(seed)
    network = network.to(memory_format=torch.channels_last)
    average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(AVERAGE), use_buffers=True)
    filters, others = ([w for w in network.parameters() if (w.dim() > 1) == matrix] for matrix in (True, False))
    beside, seen = nn.Linear(network.fc.in_features, components.shape[1]), {}
    network.avgpool.register_forward_hook(lambda _, __, features: seen.update(features=features.flatten(1)))
    optimiser = torch.optim.AdamW(
        [
            {"params": filters, "weight_decay": DECAY},
            {"params": others, "weight_decay": 0.0},
            {"params": list(beside.parameters()), "weight_decay": 0.0, "lr": 5 * RATE},
        ],
        lr=RATE,
        fused=True,
    )
    steps, weights = len(rest) // BATCH, class_weights(data)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, step / WARM_UP) * (0.505 + 0.5 * math.cos(math.pi * step / (steps * epochs)))
    )
    for epoch in range(epochs):
        network.train()
        size = COARSE if epoch < COARSE_SHARE * epochs else view.side
        for rows in rest[torch.randperm(len(rest), generator=generator)][: steps * BATCH].view(steps, -1):
            views = augment(resized(data.greys[rows], int(ROOM * size)), size, generator)
            inputs = view.normalise(views).contiguous(memory_format=torch.channels_last)
            loss = F.cross_entropy(network(inputs), targets[rows].float(), weight=weights)
            loss = loss + BESIDE * F.mse_loss(beside(seen["features"]), components[rows])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            optimiser.step()
            rate.step()
            average.update_parameters(network)
        logits = _logits(average.module, data.greys[held_out], view)
        accuracy, recall = accuracy_and_recall(logits, data.labels[held_out])
        print(f"epoch {epoch + 1}/{epochs}  held out: accuracy {accuracy:.3f}, macro recall {recall:.3f}", flush=True)
    temperature = fit_temperature(logits, data.labels[held_out], as_hard_as_all(data.labels, soft, held_out))
    return XrayModel(data.classes, view, temperature, average.module.eval())


def as_hard_as_all(labels: Tensor, soft: Tensor, rows: Tensor) -> Tensor:
    """Weights with which these X-rays are as hard as all: a few patients may be easier, and a temperature that fits
    them alone too sure. X-rays are alike that have the same label, to which the teachers give about the same chance."""
    chance = soft[torch.arange(len(labels)), labels].double()
    steps = torch.quantile(chance, torch.linspace(0, 1, HARDNESS + 1, dtype=torch.float64)[1:-1])
    kind = labels * HARDNESS + torch.bucketize(chance, steps)
    everywhere, here = (torch.bincount(which, minlength=int(kind.max()) + 1).double() for which in (kind, kind[rows]))
    return (everywhere / here.clamp(min=1))[kind[rows]]


@torch.inference_mode()
def _logits(network: nn.Module, greys: Tensor, view: Preprocessing) -> Tensor:
    network.eval()
    return torch.cat([network(view.normalise(resized(part, view.side))) for part in greys.split(32)]).clone()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains the bundled network from labels and teachers.")
    parser.add_argument("data", type=Path, help="folder with CoronaHack's pictures")
    parser.add_argument("--soft", type=Path, required=True, help="what tools/teachers.py wrote")
    parser.add_argument("--start", type=Path, required=True, help="weights from tools/train_network.py")
    parser.add_argument("--out", type=Path, required=True, help="safetensors file to write")
    arguments = parser.parse_args()
    xrays, _ = read_training_set(read_coronahack(arguments.data, "train"), KEPT)
    start = build_resnet18(len(xrays.classes))
    start.load_state_dict(load_file(arguments.start))
    taught = np.load(arguments.soft)
    soft, components = (torch.from_numpy(taught[name]) for name in ("soft", "components"))
    save_model(distil(xrays, soft, components, start), arguments.out)
