"""`two-by-two --train`: the small network trained twice on the `train` split; its softmax of the others."""

import csv
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ppsets_core.experiments.small_network import SmallRecipe, probabilities_of, read_split, train_small
from ppsets_core.experiments.two_by_two import DELTA, EPSILON
from ppsets_core.explore.sweeps import Progress
from ppsets_core.model.dp_sgd import Privacy
from ppsets_core.model.training_set import TrainingSet
from ppsets_core.xrays.coronahack import HELD_OUT

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
