"""Learns the gate: `python -m tools.learn_gate coronahack --out models/chest_xray_gate.npz`.

Only upright chest X-rays of CoronaHack's `train` split are needed. The limits come from X-rays of patients whom the
Gaussian was not fitted to (five folds), so that they hold for new patients too.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from ppsets_core.gate.misfit import SIDE, Fit, fit_gaussian, save_fit
from tools.training_xrays import TrainingXrays, read_training_xrays

COPIES, FOLDS, SEED = 3, 5, 0
SLACK, BEYOND, BELOW = 1.2, 0.001, 0.004
"""The limit is SLACK times the misfit that a share BEYOND of new patients' X-rays exceeds, the margin is what a share
BELOW of them falls short of. The slack is for X-rays framed otherwise; the margin stops most other pictures."""
CANVAS, PAD = 64, 16


def learn_fit(xrays: TrainingXrays) -> Fit:
    """A Gaussian of the X-rays and of moved copies of them, with limits set on patients left out of it."""
    rows, copies = xrays.at(SIDE), moved_copies(xrays)
    folds = _patient_folds(xrays.patients)
    as_is, otherwise = np.empty(len(rows)), np.empty(len(rows))
    for fold in range(FOLDS):
        inside, outside = folds != fold, folds == fold
        fit = fit_gaussian(np.concatenate([rows[inside], *copies[:, inside]]))
        as_is[outside] = fit.misfit(rows[outside])
        otherwise[outside] = np.min([fit.misfit(view) for view in other_views(rows[outside])], axis=0)
    limit, margin = SLACK * np.quantile(as_is, 1 - BEYOND), np.quantile(otherwise / as_is, BELOW)
    return replace(fit_gaussian(np.concatenate([rows, *copies])), limit=limit, margin=max(margin, 1.0))


def other_views(rows: np.ndarray) -> list[np.ndarray]:
    """The pictures turned by 90°, 180°, 270°, and the negatives of these and of the pictures themselves."""
    squares = rows.reshape(-1, SIDE, SIDE)
    turned = [np.rot90(squares, turn, axes=(1, 2)).reshape(len(rows), -1) for turn in range(4)]
    return turned[1:] + [-view for view in turned]


def moved_copies(xrays: TrainingXrays) -> np.ndarray:
    """Copies of every X-ray (COPIES, N, SIDE²) as others might frame it: shifted, scaled, tilted, mirrored."""
    rng = np.random.default_rng(SEED)
    canvases = xrays.at(CANVAS).reshape(-1, CANVAS, CANVAS)
    return np.stack([[_moved(canvas, rng) for canvas in canvases] for _ in range(COPIES)])


def _moved(canvas: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    angle, scale = rng.uniform(-0.16, 0.16), np.exp(rng.uniform(-0.35, 0.2, 2))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix = scale[:, None] * turn * [rng.choice([-1, 1]), 1]
    middle = np.full(2, CANVAS / 2)
    offset = middle + rng.uniform(-0.09, 0.09, 2) * CANVAS - matrix @ middle + PAD
    padded = Image.fromarray(np.pad(canvas, PAD, mode=rng.choice(["edge", "constant"])))
    numbers = (*matrix[0], offset[0], *matrix[1], offset[1])
    moved = padded.transform((CANVAS, CANVAS), Image.Transform.AFFINE, numbers, Image.Resampling.BILINEAR)
    return np.asarray(moved.resize((SIDE, SIDE), Image.Resampling.BOX)).ravel()


def _patient_folds(patients: np.ndarray) -> np.ndarray:
    """A fold number for every X-ray, the same for all X-rays of a patient."""
    names, index = np.unique(patients, return_inverse=True)
    return np.random.default_rng(SEED).permutation(len(names))[index] % FOLDS


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learns the chest X-ray gate from the train split.")
    parser.add_argument("data", type=Path, help="folder with CoronaHack's pictures")
    parser.add_argument("--out", type=Path, required=True, help="where to write the gate's numbers (.npz)")
    arguments = parser.parse_args()
    xrays = read_training_xrays(arguments.data)
    learnt = learn_fit(xrays)
    save_fit(learnt, arguments.out)
    print(f"{arguments.out}: from {len(xrays.greys):,} X-rays, limit {learnt.limit:.2f}, margin {learnt.margin:.3f}")
