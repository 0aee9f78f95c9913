"""Learn the gate: `python -m tools.learn_gate coronahack --out models/chest_xray_gate.npz`.

It learns from upright chest X-rays of CoronaHack's `train` split, from turned and inverted copies of them, and from
other pictures drawn in code. The limit comes from patients who were left out, so that it holds for new patients too.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ppsets_core.model.gate import GAUSSIAN, KINDS, NETWORK, SIDE, Fit, Kind, KindNetwork, standardised
from ppsets_core.xrays.frame import to_model_square
from tools.draw_others import CANVAS, draw_others
from tools.training_xrays import TrainingXrays, patient_folds, read_training_xrays

COMPONENTS = 160
COPIES, OTHERS, LEFT_OUT, SEED = 3, 9000, 5, 0
BEYOND = 0.001
"""Share of new patients' X-rays whose misfit exceeds the limit."""
HIDDEN, STEPS, BATCH, RATE, DECAY = 64, 4000, 256, 3e-3, 0.3
BENT = 0.5
PAD = 24


def learn_fit(xrays: TrainingXrays, *, others: int = OTHERS, steps: int = STEPS) -> Fit:
    """A Gaussian of the X-rays and moved copies of them, its limit set on patients left out of it, and the network."""
    canvases = np.stack([to_model_square(grey.astype(np.float32), CANVAS) for grey in xrays.greys])
    rows, copies = _small(canvases), moved_copies(canvases)
    outside = patient_folds(xrays.patients, LEFT_OUT, SEED) == 0
    first = fit_gaussian(np.concatenate([rows[~outside], *copies[:, ~outside]]))
    limit = np.quantile(first.misfit(rows[outside]), 1 - BEYOND)
    everything = np.concatenate([rows, *copies])
    network = learn_kinds(everything, _small(draw_others(others, canvases, np.random.default_rng(SEED))), steps)
    return replace(fit_gaussian(everything), limit=limit, network=network)


def fit_gaussian(rows: np.ndarray) -> Fit:
    """The Gaussian of these pictures, without limit and network yet."""
    mean, components, variances = principal_components(standardised(rows), COMPONENTS)
    residual = variances[COMPONENTS:].sum()
    return Fit(mean, components, variances[:COMPONENTS], residual, np.array(np.inf))


def principal_components(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean (p,), the leading components (count, p) and all variances, in descending order.

    A component's sign is free; its largest entry is made positive, so that learning again gives the same file."""
    mean = rows.mean(axis=0)
    centred = rows - mean
    wide = len(rows) < rows.shape[1]
    variances, vectors = np.linalg.eigh((centred @ centred.T if wide else centred.T @ centred) / len(rows))
    variances, vectors = np.maximum(variances[::-1], 0), vectors[:, ::-1][:, :count]
    components = (vectors.T @ centred) if wide else vectors.T
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)
    return mean, components * np.sign(largest), variances


def misplaced(square: np.ndarray, kind: Kind) -> np.ndarray:
    """An upright square as one of this kind: the reverse of `set_upright`."""
    return np.rot90(1 - square if kind.inverted else square, -kind.quarters)


def save_fit(fit: Fit, path: Path) -> None:
    """Write compressed arrays only, no pickles."""
    arrays: dict[str, Any] = {name: np.asarray(getattr(fit, name), dtype=np.float32) for name in GAUSSIAN}
    arrays |= {name: np.asarray(getattr(fit.network, name), dtype=np.float32) for name in NETWORK}
    large = {name: arrays[name].astype(np.float16) for name in ("components", "first")}
    np.savez_compressed(path, **arrays | large)


def learn_kinds(rows: np.ndarray, others: np.ndarray, steps: int) -> KindNetwork:
    """The network that tells upright X-rays (`rows`) from the same misplaced and from `others`."""
    import torch
    from torch.nn import functional as F

    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    places = np.arange(SIDE**2, dtype=np.float32).reshape(SIDE, SIDE)
    turned = [misplaced(places, kind).ravel().astype(int) for kind in KINDS[:4]]
    layers = torch.nn.Sequential(
        torch.nn.Linear(SIDE**2, HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.1),
        torch.nn.Linear(HIDDEN, len(KINDS) + 1),
    )
    optimiser = torch.optim.AdamW(layers.parameters(), RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    for _ in range(steps):
        labels = rng.choice(len(KINDS) + 1, BATCH, p=[0.25, *[0.35 / 7] * 7, 0.4])
        greys = np.empty((BATCH, SIDE**2), dtype=np.float32)
        for label in np.unique(labels):
            chosen = labels == label
            if label == len(KINDS):
                greys[chosen] = others[rng.integers(len(others), size=chosen.sum())][:, turned[rng.integers(4)]]
            else:
                upright = rows[rng.integers(len(rows), size=chosen.sum())]
                greys[chosen] = (1 - upright if KINDS[label].inverted else upright)[:, turned[KINDS[label].quarters]]
        bent = np.clip(greys, 1e-4, 1) ** np.exp(rng.uniform(-BENT, BENT, (BATCH, 1)))
        loss = F.cross_entropy(
            layers(torch.from_numpy(standardised(bent.astype(np.float32)))), torch.from_numpy(labels)
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    first, second = layers[0], layers[3]
    arrays = first.weight.T, first.bias, second.weight.T, second.bias
    return KindNetwork(*(np.ascontiguousarray(array.detach().numpy()) for array in arrays))


def moved_copies(canvases: np.ndarray) -> np.ndarray:
    """Copies of every X-ray (COPIES, N, SIDE²) as others might frame it: shifted, scaled, tilted, mirrored."""
    rng = np.random.default_rng(SEED)
    return np.stack([[_moved(canvas, rng) for canvas in canvases] for _ in range(COPIES)])


def _small(canvases: np.ndarray) -> np.ndarray:
    step = canvases.shape[1] // SIDE
    return canvases.reshape(-1, SIDE, step, SIDE, step).mean(axis=(2, 4), dtype=np.float32).reshape(len(canvases), -1)


def _moved(canvas: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    angle, scale = rng.uniform(-0.2, 0.2), np.exp(rng.uniform(-0.35, 0.35) + rng.uniform(-0.15, 0.15, 2))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix = scale[:, None] * turn * [rng.choice([-1, 1]), 1]
    middle = np.full(2, CANVAS / 2)
    offset = middle + rng.uniform(-0.09, 0.09, 2) * CANVAS - matrix @ middle + PAD
    padded = Image.fromarray(np.pad(canvas, PAD, mode=rng.choice(["edge", "constant"])))
    numbers = (*matrix[0], offset[0], *matrix[1], offset[1])
    moved = padded.transform((CANVAS, CANVAS), Image.Transform.AFFINE, numbers, Image.Resampling.BILINEAR)
    return np.asarray(moved.resize((SIDE, SIDE), Image.Resampling.BOX)).ravel()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learns the chest X-ray gate from the train split.")
    parser.add_argument("data", type=Path, help="folder with CoronaHack's pictures")
    parser.add_argument("--out", type=Path, required=True, help="where to write the gate's numbers (.npz)")
    arguments = parser.parse_args()
    xrays = read_training_xrays(arguments.data)
    learnt = learn_fit(xrays)
    save_fit(learnt, arguments.out)
    print(f"{arguments.out}: from {len(xrays.greys):,} X-rays, limit {learnt.limit:.2f}")
