"""Trains the whole ResNet-18, an epoch at a time, so that it can be watched, broken off and resumed."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from ppsets_core.errors import InputError
from ppsets_core.model.augmentation import augment
from ppsets_core.model.checkpoint import keep, restore
from ppsets_core.model.measures import accuracy_and_recall, class_weights, fit_temperature
from ppsets_core.model.preprocess import Preprocessing
from ppsets_core.model.recipe import Epoch, Recipe, Watcher
from ppsets_core.model.resnet import build_resnet18
from ppsets_core.model.training_set import TrainingSet
from ppsets_core.model.weights import XrayModel, round_as_saved


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model and how well it did on the held-out patients."""

    model: XrayModel
    accuracy: float
    macro_recall: float


def train_model(
    data: TrainingSet,
    recipe: Recipe,
    *,
    base: XrayModel | None = None,
    resume: Path | None = None,
    watch: Watcher | None = None,
) -> Trained:
    """Trains on all but the held-out patients, from scratch or from `base`. What `watch` raises ends it; `resume`
    keeps each epoch's state in that folder and goes on from it. Each epoch draws its order and its views from a seed
    of its own, so a resumed run ends where an unbroken one does."""
    preprocessing = base.preprocessing if base else Preprocessing()
    rest, held_out = map(data.take, data.rows_by_patient(recipe.held_out, recipe.seed))
    steps = len(rest) // recipe.batch_size
    if steps < 1:
        raise InputError(
            f"{len(rest)} X-rays are fewer than one batch of {recipe.batch_size}; give more, or a smaller batch."
        )
    torch.manual_seed(recipe.seed)
    network = _starting_network(data.classes, base)
    average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(recipe.average), use_buffers=True)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, recipe.learning_rate, total_steps=steps * recipe.epochs + 1
    )
    parts = {"network": network, "average": average, "optimiser": optimiser, "schedule": schedule}
    coarse_epochs = 0 if base else recipe.coarse_share * recipe.epochs
    first = restore(resume, parts, recipe) if resume else 0
    loss_of = nn.CrossEntropyLoss(class_weights(rest), label_smoothing=recipe.label_smoothing)
    for epoch in range(first, recipe.epochs):
        generator = torch.Generator().manual_seed(recipe.seed * 100_003 + epoch)
        size = recipe.coarse_size if epoch < coarse_epochs else preprocessing.side
        network.train()
        total = 0.0
        for rows in torch.randperm(len(rest), generator=generator)[: steps * recipe.batch_size].view(steps, -1):
            views = augment(rest.greys[rows].float() / 255, size, generator)
            inputs = preprocessing.normalise(views).contiguous(memory_format=torch.channels_last)
            loss = loss_of(network(inputs), rest.labels[rows])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            schedule.step()
            average.update_parameters(network)
            total += loss.item()
        if resume:
            keep(resume, parts, recipe, epoch + 1)
        shares = accuracy_and_recall(_logits(average.module, held_out, preprocessing), held_out.labels)
        if watch:
            watch(Epoch(epoch + 1, recipe.epochs, total / steps, *shares))
    round_as_saved(average.module)
    logits = _logits(average.module, held_out, preprocessing)
    temperature = fit_temperature(logits, held_out.labels)
    model = XrayModel(data.classes, preprocessing, temperature, average.module.eval())
    return Trained(model, *accuracy_and_recall(logits, held_out.labels))


def _starting_network(classes: tuple[str, ...], base: XrayModel | None) -> nn.Module:
    """Random weights, or `base`'s, whose last layer is kept only if it is for the same classes."""
    network = build_resnet18(len(classes))
    if base is not None:
        known = base.network.state_dict()
        if base.classes != classes:
            known = {name: value for name, value in known.items() if not name.startswith("fc.")}
        network.load_state_dict(known, strict=False)
    return network.to(memory_format=torch.channels_last)


@torch.inference_mode()
def _logits(network: nn.Module, data: TrainingSet, preprocessing: Preprocessing) -> Tensor:
    """The network's logits on every X-ray of `data`, seen as in prediction."""
    network.eval()
    pieces = [torch.zeros(0, len(data.classes))]
    for greys in data.greys.split(32):
        pieces.append(network(preprocessing.normalise(greys.float() / 255)))
    return torch.cat(pieces).clone()
