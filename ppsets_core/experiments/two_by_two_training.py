"""`two-by-two --train`: a small network trained twice on the `train` split, with and without DP-SGD; its softmax of the
others."""

import csv
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer
from torch.utils.data import DataLoader, TensorDataset

from ppsets_core.experiments.two_by_two import DELTA, EPSILON
from ppsets_core.model.train import Privacy, make_private
from ppsets_core.model.training_set import TrainingSet, read_training_set
from ppsets_core.progress import Progress
from ppsets_core.xrays.coronahack import HELD_OUT, read_coronahack

SIDE = 64


@dataclass(frozen=True)
class SmallRecipe:
    """Adam with one cycle of the learning rate. Private training wants large batches, to share the noise among many."""

    epochs: int
    batch_size: int
    learning_rate: float
    seed: int = 0


@dataclass(frozen=True, eq=False)
class SmallNetwork:
    """A trained network and the ε that its training spent, None without privacy."""

    network: nn.Module
    epsilon: float | None


def read_split(coronahack: Path, split: str, progress: Callable[[int], None] | None = None) -> TrainingSet:
    """The X-rays of one split of CoronaHack at 64 pixels."""
    return read_training_set(read_coronahack(coronahack, split), SIDE, progress=progress)[0]


def build(classes: int) -> nn.Module:
    """Four strided convolutions and one linear layer: group normalisation, as DP-SGD allows no batch statistics."""
    layers: list[nn.Module] = []
    for inside, outside in ((1, 16), (16, 32), (32, 64), (64, 64)):
        layers += [nn.Conv2d(inside, outside, 3, stride=2, padding=1), nn.GroupNorm(8, outside), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * (SIDE // 16) ** 2, classes))


def train_small(
    data: TrainingSet,
    recipe: SmallRecipe,
    privacy: Privacy | None = None,
    progress: Progress | None = None,
) -> SmallNetwork:
    """Train from scratch on all of `data`. The seed fixes the noise too, which only public X-rays allow.

    On one thread: layers so small gain nothing from more, and sums are then the same on every machine of a kind.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _train(data, recipe, privacy, progress)
    finally:
        torch.set_num_threads(threads)


def _train(data: TrainingSet, recipe: SmallRecipe, privacy: Privacy | None, progress: Progress | None) -> SmallNetwork:
    torch.manual_seed(recipe.seed)
    generator = torch.Generator().manual_seed(recipe.seed)
    network = build(len(data.classes))
    optimiser: Optimizer = torch.optim.Adam(network.parameters(), lr=recipe.learning_rate)
    loader = DataLoader(TensorDataset(data.greys, data.labels), recipe.batch_size, shuffle=True, generator=generator)
    spent = None
    trained, stepped = network, optimiser
    if privacy is not None:
        trained, stepped, loader, spent = make_private(network, optimiser, loader, recipe.epochs, privacy, generator)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, recipe.learning_rate, total_steps=len(loader) * recipe.epochs + 1
    )
    trained.train()
    for epoch in range(recipe.epochs):
        for greys, labels in loader:
            outputs = trained(_mirrored(_inputs(greys), generator))
            loss = F.cross_entropy(outputs, labels) if len(labels) else outputs.sum()
            stepped.zero_grad()
            loss.backward()
            stepped.step()
            schedule.step()
        if progress:
            progress(epoch + 1, recipe.epochs)
    return SmallNetwork(network.eval(), spent() if spent else None)


@torch.inference_mode()
def probabilities_of(model: SmallNetwork, data: TrainingSet) -> np.ndarray:
    """Softmax (N, K) of X-rays, in float64."""
    logits = [model.network(_inputs(greys)).double() for greys in data.greys.split(256)]
    return torch.softmax(torch.cat(logits), dim=1).numpy()


def _inputs(greys: Tensor) -> Tensor:
    return (greys.float() / 255 - 0.5) / 0.25


def _mirrored(inputs: Tensor, generator: torch.Generator) -> Tensor:
    """Half of the X-rays left to right, so that a small data set lasts longer."""
    flip = torch.rand(len(inputs), 1, 1, 1, generator=generator) < 0.5
    return torch.where(flip, inputs.flip(3), inputs)


RECIPES = {"plain": SmallRecipe(8, 64, 2e-3), "private": SmallRecipe(15, 256, 3e-3)}
PRIVACY = {"plain": None, "private": Privacy(EPSILON, DELTA, clip=1.0)}


def train_both(
    coronahack: Path,
    out: Path,
    seed: int,
    progress: Callable[[str], Progress],
    recipes: Mapping[str, SmallRecipe] = RECIPES,
) -> Path:
    """Write `two_by_two_softmax.csv`, and beside it as JSON how it was made. Rows are shuffled and name no patient."""
    data = read_split(coronahack, "train")
    held_out = [read_split(coronahack, split) for split in HELD_OUT]
    order = np.random.default_rng(seed).permutation(sum(map(len, held_out)))
    labels = np.concatenate([part.labels.numpy() for part in held_out])[order]
    rows: list[list[str]] = []
    facts: dict[str, Any] = {"trained on": len(data), "held out": len(labels), "pixels": 64, "seed": seed}
    for model, recipe in recipes.items():
        recipe = SmallRecipe(recipe.epochs, recipe.batch_size, recipe.learning_rate, seed)
        trained = train_small(data, recipe, PRIVACY[model], progress(f"training, {model}"))
        probabilities = np.concatenate([probabilities_of(trained, part) for part in held_out])[order]
        rows += [
            [model, data.classes[y], *(f"{p:.6f}" for p in row)] for y, row in zip(labels, probabilities, strict=True)
        ]
        spent = {} if trained.epsilon is None else {"epsilon spent": round(trained.epsilon, 3), "delta": DELTA}
        facts[model] = {name: value for name, value in asdict(recipe).items() if name != "seed"} | spent
    return _write(out, data, rows, facts)


def _write(out: Path, data: TrainingSet, rows: list[list[str]], facts: dict[str, Any]) -> Path:
    path = out / "two_by_two_softmax.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["model", "label", *data.classes], *rows])
    path.with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(f"Softmax of both networks: {path}", file=sys.stderr)
    return path
