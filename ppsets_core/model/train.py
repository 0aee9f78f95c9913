"""Train the last layer on a network's 512 features, without privacy or with DP-SGD.

DP-SGD is Opacus's: Poisson sampling, clipped gradients, and just enough Gaussian noise for the ε asked for."""

import copy
import math
import secrets
import warnings
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.utils.data import DataLoader, TensorDataset

from ppsets_core.errors import InputError
from ppsets_core.model.network import BATCH_SIZE
from ppsets_core.model.report import Epoch, Watcher
from ppsets_core.model.training_set import TrainingSet, accuracy_and_recall, class_weights, fit_temperature
from ppsets_core.model.weights import XrayModel, round_as_saved
from ppsets_core.model_fingerprint import new_fingerprint

_ACCOUNTANT = "prv"
_TOLERANCE = 0.003
_RANDOM_STEPS = 2**24  # torch.rand's numbers are multiples of 1 / 2²⁴, so a batch is drawn at such a rate


@dataclass(frozen=True)
class Privacy:
    """(ε, δ) for each X-ray trained on, and the norm to which its gradient is clipped. A patient with k X-rays has a
    total ε of k · ε."""

    epsilon: float
    delta: float
    clip: float = 1.0

    def __post_init__(self) -> None:
        if not 0.05 <= self.epsilon <= 100:
            raise InputError(f"ε must be between 0.05 and 100, not {self.epsilon}.")
        if not 1e-12 <= self.delta < 0.1:
            raise InputError(f"δ must be between 1e-12 and 0.1, and below 1 / number of X-rays, not {self.delta}.")
        if not (math.isfinite(self.clip) and self.clip > 0):
            raise InputError(f"The clipping norm must be a number above 0, not {self.clip}.")


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
        if self.epochs < 1:
            raise InputError(f"The number of epochs must be at least 1, not {self.epochs}.")
        if self.batch_size < 2:
            raise InputError(f"The batch size must be at least 2, not {self.batch_size}.")
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise InputError(f"The learning rate must be a number above 0, not {self.learning_rate}.")


@dataclass(frozen=True, eq=False)
class FineTuned:
    """The model with its new last layer, its accuracy and recall on held-out patients (never private), and the ε spent
    (None: not private)."""

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
    charge: Callable[[Sequence[str | None]], None] | None = None,
) -> FineTuned:
    """A model for `data`'s classes on the features of `base`.

    privacy: (ε, δ) for one X-ray added or removed; the number of X-rays counts as public. Nothing else of the data
        shapes the weights: who is held out depends on each patient alone, the classes are `base`'s or `classes`, all
        epochs are run, class weights and temperature are left out, and no seed repeats the noise.
    watch: called after each epoch, with numbers that are not private. progress: called with the number of X-rays the
        network has seen. What either raises ends the training.
    charge: called once before private training begins, with the patient of each X-ray trained on."""
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
    network = copy.deepcopy(base.network)
    network.fc = final
    changed = {"network": network.eval(), "temperature": temperature, "fingerprint": new_fingerprint()}
    model = replace(base, classes=data.classes, **changed)
    return FineTuned(model, *shares, spent() if privacy else None)


@torch.no_grad()
def features(model: XrayModel, data: TrainingSet, progress: Callable[[int], None] | None = None) -> Tensor:
    """The last layer's inputs (N, 512): exactly one row per X-ray, no random views."""
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


def make_private(
    layer: nn.Module,
    optimiser: Optimizer,
    loader: DataLoader,
    epochs: int,
    privacy: Privacy,
    generator: torch.Generator,
) -> tuple[nn.Module, Optimizer, DataLoader, Callable[[], float]]:
    """Opacus's wrappers of the three, and a function that returns the ε spent so far.

    The steps and the sampling rate are given to the accountant, not left to Opacus, which derives both from 1 / batches
    in floating point."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from opacus import PrivacyEngine

        assert isinstance(loader.dataset, Sized)
        if privacy.delta >= 1 / len(loader.dataset):
            raise InputError(f"δ must be below 1 / {len(loader.dataset)}, one over the number of X-rays trained on.")
        batches = len(loader)
        rate = math.ceil(_RANDOM_STEPS / batches) / _RANDOM_STEPS
        noise = noise_for(privacy, rate, epochs * batches)
        engine = PrivacyEngine(accountant=_ACCOUNTANT)
        training, private_optimiser, batches_drawn = engine.make_private(
            module=layer,
            optimizer=optimiser,
            data_loader=loader,
            noise_multiplier=noise,
            max_grad_norm=privacy.clip,
            noise_generator=generator,
        )
        batches_drawn.batch_sampler.steps = batches
        private_optimiser.attach_step_hook(engine.accountant.get_optimizer_hook_fn(sample_rate=rate))
    warnings.filterwarnings("ignore", message="Full backward hook is firing")

    def spent() -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return engine.get_epsilon(privacy.delta)

    return training, private_optimiser, batches_drawn, spent


def noise_for(privacy: Privacy, rate: float, steps: int) -> float:
    """The noise with which so many steps at this sampling rate cost at most ε; refused where none would do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from opacus.accountants import create_accountant
        from opacus.accountants.utils import get_noise_multiplier

        noise = get_noise_multiplier(
            target_epsilon=privacy.epsilon,
            target_delta=privacy.delta,
            sample_rate=rate,
            steps=steps,
            accountant=_ACCOUNTANT,
            epsilon_tolerance=_TOLERANCE * privacy.epsilon,
        )
        planned = create_accountant(_ACCOUNTANT)
        planned.history = [(noise, rate, steps)]
        if not planned.get_epsilon(privacy.delta) <= privacy.epsilon:
            raise InputError(f"{steps} steps would cost more than ε = {privacy.epsilon}. Train fewer epochs.")
    return noise
