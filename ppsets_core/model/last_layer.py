"""Trains only the last layer on a network's 512 features, plainly or with differential privacy."""

import copy
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.utils.data import DataLoader, TensorDataset

from ppsets_core.errors import InputError
from ppsets_core.model.dp_sgd import Privacy, make_private
from ppsets_core.model.fast import BATCH_SIZE
from ppsets_core.model.measures import accuracy_and_recall, class_weights, fit_temperature
from ppsets_core.model.recipe import Epoch, Watcher, check_settings
from ppsets_core.model.training_set import TrainingSet
from ppsets_core.model.weights import XrayModel, round_as_saved
from ppsets_core.model_fingerprint import new_fingerprint


@dataclass(frozen=True)
class LastLayerRecipe:
    """How the last layer is trained. The seed sets who is held out and, without privacy, the order of the X-rays."""

    epochs: int = 30
    batch_size: int = 64
    learning_rate: float = 5e-3
    weight_decay: float = 0.01
    held_out: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(self.epochs, self.batch_size, self.learning_rate)


@dataclass(frozen=True, eq=False)
class FineTuned:
    """The model with its new last layer, how well it did on the held-out patients, the ε spent (None: not private).
    What the held-out patients tell is never private."""

    model: XrayModel
    accuracy: float
    macro_recall: float
    epsilon: float | None


def fine_tune_last_layer(
    base: XrayModel,
    data: TrainingSet,
    recipe: LastLayerRecipe,
    *,
    privacy: Privacy | None = None,
    classes: Sequence[str] | None = None,
    watch: Watcher | None = None,
    progress: Callable[[int], None] | None = None,
    charge: Callable[[Sequence[str]], None] | None = None,
) -> FineTuned:
    """A model for `data`'s classes on the features of `base`. `progress` hears how many X-rays the network has seen,
    `watch` each epoch; what either raises ends it. `charge` is called once before private training begins, with whose
    X-rays are trained on, one entry each.

    With `privacy` the weights are (ε, δ)-differentially private for one X-ray added or removed, of a number of X-rays
    that counts as public. So nothing else of the data shapes them: who is held out depends on each patient alone, the
    classes are `base`'s or `classes`, chosen without the data, all epochs are run, class weights and temperature are
    left out, and no seed repeats the noise. What `watch` hears is not private."""
    if privacy and data.classes != tuple(classes or base.classes):
        raise InputError(
            "With differential privacy the labels that occur must not set the classes, as one X-ray could add one. "
            "Keep those of the starting weights, or name yours."
        )
    split = data.rows_by_each_patient if privacy else data.rows_by_patient
    rest, held_out = split(recipe.held_out, recipe.seed)
    if len(rest) < recipe.batch_size:
        raise InputError(f"{len(rest)} X-rays are fewer than one batch of {recipe.batch_size}; give more X-rays.")
    inputs = features(base, data, progress)
    generator = torch.Generator().manual_seed(secrets.randbits(63) if privacy else recipe.seed)
    layer = _blank_layer(inputs.shape[1], len(data.classes))
    training: nn.Module = layer
    optimiser: Optimizer = AdamW(layer.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    rows = TensorDataset(inputs[rest], data.labels[rest])
    loader = DataLoader(rows, batch_size=recipe.batch_size, shuffle=True, generator=generator)
    if privacy:
        training, optimiser, loader, spent = make_private(layer, optimiser, loader, recipe.epochs, privacy, generator)
        if charge:
            charge([data.patients[row] for row in rest.tolist()])
    loss_of = nn.CrossEntropyLoss(None if privacy else class_weights(data.take(rest)), reduction="mean")
    for epoch in range(recipe.epochs):
        total = 0.0
        for batch, labels in loader:
            optimiser.zero_grad()
            outputs = training(batch)
            loss = loss_of(outputs, labels) if len(labels) else outputs.sum()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(labels)
        logits = _logits(layer, inputs[held_out])
        shares = accuracy_and_recall(logits, data.labels[held_out])
        if watch:
            watch(Epoch(epoch + 1, recipe.epochs, total / len(rest), *shares))
    final = _blank_layer(inputs.shape[1], len(data.classes))
    final.load_state_dict(layer.state_dict())
    round_as_saved(final)
    logits = _logits(final, inputs[held_out])
    temperature = 1.0 if privacy else fit_temperature(logits, data.labels[held_out])
    model = replace(
        base,
        classes=data.classes,
        temperature=temperature,
        network=_with_last_layer(base.network, final),
        fingerprint=new_fingerprint(),
    )
    return FineTuned(model, *shares, spent() if privacy else None)


@torch.no_grad()
def features(model: XrayModel, data: TrainingSet, progress: Callable[[int], None] | None = None) -> Tensor:
    """What the last layer sees of each X-ray (N, 512): exactly one row per X-ray, no random views."""
    side = model.preprocessing.side
    fast = model.fast_network
    batch = torch.zeros(BATCH_SIZE, 3, side, side).contiguous(memory_format=torch.channels_last)
    rows = []
    for greys in data.greys.split(BATCH_SIZE):
        batch[: len(greys)] = model.preprocessing.normalise(greys.float() / 255)
        rows.append(fast(batch)[1][: len(greys)].clone())
        if progress:
            progress(sum(map(len, rows)))
    return torch.cat(rows)


def _blank_layer(inputs: int, classes: int) -> nn.Linear:
    layer = nn.Linear(inputs, classes)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


@torch.no_grad()
def _logits(layer: nn.Linear, inputs: Tensor) -> Tensor:
    return nn.functional.linear(inputs, layer.weight, layer.bias)


def _with_last_layer(network: nn.Module, layer: nn.Module) -> nn.Module:
    changed = copy.deepcopy(network)
    changed.fc = layer
    return changed.eval()
