"""`two-by-two`: private or plain training × private or plain calibration. Which of the two privacies costs more?"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import CIFAR10_MODELS, bundled_cifar10
from ppsets_core.experiments.findings import Findings, Table, joined, outcome_numbers, standard_error, with_rule
from ppsets_core.explore import label_of, part_of
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.style import BLUE, GREY, ORANGE, VERMILLION, Look
from ppsets_core.explore.sweeps import QUANTITIES, histogram_figure
from ppsets_core.method.rules import RULES
from ppsets_core.method.simulate import Outcome, Setting, random_splits
from ppsets_core.places import ASSETS
from ppsets_core.progress import Progress

ALPHA, EPSILON, DELTA, N = 0.1, 8.0, 1e-5, 5000
PLAIN, PRIVATE = CIFAR10_MODELS
TRAINING_FACTS = "cifar10_training.json"
PAPERS_ACCURACY = {PLAIN: 0.73, PRIVATE: 0.67}


@dataclass(frozen=True, eq=False)
class TwoByTwo:
    """Outcomes by how the network was trained and which rule calibrated it (or `PLAIN`); how the networks were
    trained."""

    accuracy: dict[str, float]
    cells: dict[tuple[str, str], Outcome]
    training: dict[str, Any]

    def cost_of_training(self) -> float:
        """Classes added to the mean set by private training, calibration being plain."""
        return _size(self.cells[PRIVATE, PLAIN]) - _size(self.cells[PLAIN, PLAIN])

    def cost_of_calibration(self, rule: str) -> float:
        """Classes added to the mean set by private calibration, training being plain."""
        return _size(self.cells[PLAIN, rule]) - _size(self.cells[PLAIN, PLAIN])


def _size(outcome: Outcome) -> float:
    return float(outcome.mean_size.mean())


def run(*, seed: int = 0, splits: int = 1000, progress: Progress | None = None) -> TwoByTwo:
    """Random splits of CIFAR-10's test images, the same for both networks (trained by tools/train_cifar10.py)."""
    settings = [Setting(ALPHA, EPSILON, method) for method in RULES]
    cells: dict[tuple[str, str], Outcome] = {}
    accuracy: dict[str, float] = {}
    for place, model in enumerate(CIFAR10_MODELS):
        records = Labelled.of(bundled_cifar10(model))
        accuracy[model] = records.top_accuracy()
        step = part_of(progress, place, len(CIFAR10_MODELS))
        rng = np.random.default_rng(seed)
        results = random_splits(records.probabilities, records.labels, N, settings, splits, rng, progress=step)
        cells |= {(model, result.plan.method): result.private for result in results}
        cells[model, PLAIN] = results[0].nonprivate
    return TwoByTwo(accuracy, cells, json.loads((ASSETS / TRAINING_FACTS).read_text(encoding="utf-8")))


def findings(found: TwoByTwo) -> Findings:
    """Every rule's four cells, and which privacy costs more."""
    rows = tuple(
        (
            training,
            PLAIN if calibration == PLAIN else f"private, {label_of(calibration)}",
            PAPERS_ACCURACY[training],
            round(found.accuracy[training], 3),
            round(float(outcome.coverage.mean()), 4),
            f"±{standard_error(outcome.coverage):.4f}",
            round(float(np.median(outcome.coverage)), 4),
            round(_size(outcome), 3),
        )
        for (training, calibration), outcome in found.cells.items()
    )
    return Findings(
        "Private or plain training × private or plain calibration",
        {"alpha": ALPHA, "epsilon": EPSILON, "delta": DELTA, "n": N, "training": found.training},
        (Table("Means over the splits", _COLUMNS, rows),),
        (_cost_sentence(found), _training_sentence(found.training)),
        {
            "accuracy": found.accuracy,
            "cells": [
                {"training": training, "calibration": calibration, **outcome_numbers(outcome)}
                for (training, calibration), outcome in found.cells.items()
            ],
        },
    )


def _cost_sentence(found: TwoByTwo) -> str:
    training = found.cost_of_training()
    calibration = {rule: found.cost_of_calibration(rule) for rule in RULES}
    if training > max(calibration.values()):
        verdict = "Private training costs more"
    elif training < min(calibration.values()):
        verdict = "Private calibration costs more"
    else:
        verdict = "Which of the two costs more depends on the rule"
    costs = joined([f"{cost:.3f} {with_rule(rule)}" for rule, cost in calibration.items()])
    return f"{verdict}: private training adds {training:.3f} classes to the mean set, private calibration adds {costs}."


def _training_sentence(facts: dict[str, Any]) -> str:
    plain, private = (facts[model] for model in CIFAR10_MODELS)
    return (
        f"Each network was trained once on {facts['trained on']:,} images: {plain['epochs']} epochs without privacy, "
        f"{private['epochs']} with DP-SGD, which spent ε = {private['epsilon spent']:.3f} at δ = {private['delta']:g}."
    )


_COLUMNS = (
    "training",
    "calibration",
    "paper's accuracy",
    "accuracy",
    "mean coverage",
    "standard error",
    "median coverage",
    "mean size",
)


def figures(found: TwoByTwo) -> dict[str, go.Figure]:
    """The paper's figure for each rule: the four histograms of coverage, and of mean set size."""
    return {
        f"{title.capitalize()}, {label_of(rule)}": _histograms(found, rule, quantity)
        for rule in RULES
        for quantity, title in QUANTITIES.items()
    }


def _histograms(found: TwoByTwo, rule: str, quantity: str) -> go.Figure:
    looks = {
        (PLAIN, PLAIN): Look("plain training, plain calibration", GREY, "dash", "x"),
        (PLAIN, rule): Look("plain training, private calibration", BLUE, "solid", "circle"),
        (PRIVATE, PLAIN): Look("private training, plain calibration", ORANGE, "dot", "square"),
        (PRIVATE, rule): Look("private training, private calibration", VERMILLION, "longdash", "diamond"),
    }
    return histogram_figure({key: found.cells[key] for key in looks}, quantity, ALPHA, looks=looks, bins=40, height=400)
