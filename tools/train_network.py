"""Train a whole ResNet-18 on labelled X-rays: `python -m tools.train_network DATA --out network.safetensors`.

It can be watched, stopped and resumed after each epoch. `--from imagenet` starts from the weights that torchvision
learnt on ImageNet, as the paper does; they are downloaded once. `ppsets train --from network.safetensors` then
fits the last layer to other X-rays.
"""

import argparse
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from ppsets_core.errors import FileError, InputError, PpsetsError
from ppsets_core.model.network import Preprocessing, build_resnet18, import_torchvision
from ppsets_core.model.report import Epoch, Watcher
from ppsets_core.model.training_set import (
    TrainingSet,
    accuracy_and_recall,
    class_weights,
    fit_temperature,
    read_training_set,
)
from ppsets_core.model.weights import XrayModel, load_model, round_as_saved, save_model
from ppsets_core.xrays import read_folder
from tools.augmentation import augment


@dataclass(frozen=True)
class Recipe:
    """AdamW, one cycle, smoothed labels, averaged weights. From scratch the first epochs (`coarse_share` of them) see
    smaller views (`coarse_size` pixels), which cost a third."""

    epochs: int = 22
    batch_size: int = 32
    learning_rate: float = 2e-3
    weight_decay: float = 0.05
    label_smoothing: float = 0.05
    held_out: float = 0.08
    average: float = 0.995
    coarse_share: float = 0.65
    coarse_size: int = 96
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model with its accuracy and recall on the held-out patients."""

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
    """Train on all but the held-out patients, from scratch or from `base`.

    resume: folder for each epoch's state, to go on from. Each epoch has its own seed, so that a resumed run ends where
        an unbroken one does. watch: called after each epoch; what it raises ends the training."""
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


def keep(folder: Path, parts: dict[str, Any], recipe: Recipe, epochs_done: int) -> None:
    """Write the state of `parts` (network, optimiser, …); a break while writing harms nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / "checkpoint.part"
    states = {name: part.state_dict() for name, part in parts.items()}
    torch.save({"recipe": asdict(recipe), "epochs_done": epochs_done, **states}, unfinished)
    unfinished.replace(folder / "checkpoint.pt")


def restore(folder: Path, parts: dict[str, Any], recipe: Recipe) -> int:
    """Put `parts` back as they were kept and return the number of epochs done, 0 if nothing was kept."""
    path = folder / "checkpoint.pt"
    if not path.exists():
        return 0
    try:
        kept = torch.load(path, weights_only=True)
        same = kept["recipe"] == asdict(recipe)
        if same:
            for name, part in parts.items():
                part.load_state_dict(kept[name])
    except Exception as error:  # a damaged or foreign file fails in many ways
        raise FileError(f"{path} is not the state of this training. Give another --resume folder.") from error
    if not same:
        raise FileError(f"{path} belongs to other settings. Give the same settings or another --resume folder.")
    return kept["epochs_done"]


def imagenet_model() -> XrayModel:
    """torchvision's ImageNet network, to be fine-tuned; downloaded once."""
    import_torchvision()
    from torchvision.models import ResNet18_Weights

    weights = ResNet18_Weights.IMAGENET1K_V1
    try:
        state = torch.hub.load_state_dict_from_url(weights.url, check_hash=True, progress=False, weights_only=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise FileError("torchvision's ImageNet weights could not be downloaded. Use --from bundled.") from error
    network = build_resnet18(len(weights.meta["categories"]))
    network.load_state_dict(state)
    view = weights.transforms()
    preprocessing = Preprocessing(view.crop_size[0], tuple(view.mean), tuple(view.std))
    return XrayModel(tuple(weights.meta["categories"]), preprocessing, 1.0, network.eval())


def starting_model(start: str) -> XrayModel | None:
    """The model that `--from` names; None from scratch."""
    if start == "scratch":
        return None
    return imagenet_model() if start == "imagenet" else load_model(None if start == "bundled" else start)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train a whole ResNet-18 on labelled X-rays.")
    parser.add_argument("data", help="directory or zip of labelled X-rays")
    parser.add_argument("--labels", help="CSV with columns file,label[,patient]; else sub-folder names or a CSV inside")
    parser.add_argument("--split", help="only the X-rays with this value in the labels CSV's column `split`")
    parser.add_argument("--out", required=True, help="safetensors file to write")
    parser.add_argument(
        "--from", dest="start", default="scratch", help="scratch (default), imagenet, bundled or a safetensors file"
    )
    parser.add_argument("--resume", type=Path, help="folder for each epoch's state; go on from it")
    for name, kind in (("epochs", int), ("batch-size", int), ("learning-rate", float), ("seed", int)):
        parser.add_argument(f"--{name}", type=kind)
    args = parser.parse_args(arguments)
    given = {name: getattr(args, name) for name in ("epochs", "batch_size", "learning_rate", "seed")}
    recipe = replace(Recipe(), **{name: value for name, value in given.items() if value is not None})
    try:
        base = starting_model(args.start)
        folder = read_folder(args.data, labels=args.labels, split=args.split, to_learn=True)
        data, _ = read_training_set(folder, (base.preprocessing if base else Preprocessing()).side)
        save_model(train_model(data, recipe, base=base, resume=args.resume, watch=print).model, args.out)
    except PpsetsError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
