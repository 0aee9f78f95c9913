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
from ppsets_core.method.simulate import Outcome, Setting, SplitResult, random_splits
from ppsets_core.places import ASSETS
from ppsets_core.progress import Progress

ALPHA, EPSILON, DELTA, N = 0.1, 8.0, 1e-5, 5000
PLAIN, PRIVATE = CIFAR10_MODELS
TRAINING_FACTS = "cifar10_training.json"
PAPERS_ACCURACY = {PLAIN: 0.73, PRIVATE: 0.67}


@dataclass(frozen=True)
class Cell:
    """How the network was trained, and which rule calibrated the threshold, or that it was `PLAIN`."""

    training: str
    calibration: str
    outcome: Outcome

    @property
    def mean_size(self) -> float:
        return float(self.outcome.mean_size.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean coverage, over the splits."""
        return standard_error(self.outcome.coverage)


@dataclass(frozen=True, eq=False)
class TwoByTwo:
    """The cells by (training, calibration), four for each rule, plain ones shared; how the networks were trained."""

    accuracy: dict[str, float]
    cells: dict[tuple[str, str], Cell]
    training: dict[str, Any]

    def cost_of_training(self) -> float:
        """Classes added to the mean set by private training, calibration being plain."""
        return self.cells[PRIVATE, PLAIN].mean_size - self.cells[PLAIN, PLAIN].mean_size

    def cost_of_calibration(self, rule: str) -> float:
        """Classes added to the mean set by private calibration, training being plain."""
        return self.cells[PLAIN, rule].mean_size - self.cells[PLAIN, PLAIN].mean_size


def run(*, seed: int = 0, splits: int = 1000, progress: Progress | None = None) -> TwoByTwo:
    """Random splits of CIFAR-10's test images, the same for both networks (trained by tools/train_cifar10.py)."""
    settings = [Setting(ALPHA, EPSILON, method) for method in RULES]
    cells: dict[tuple[str, str], Cell] = {}
    accuracy: dict[str, float] = {}
    for place, model in enumerate(CIFAR10_MODELS):
        records = Labelled.of(bundled_cifar10(model))
        accuracy[model] = records.top_accuracy()
        step = part_of(progress, place, len(CIFAR10_MODELS))
        rng = np.random.default_rng(seed)
        results = random_splits(records.probabilities, records.labels, N, settings, splits, rng, progress=step)
        for cell in _cells(model, results):
            cells[cell.training, cell.calibration] = cell
    return TwoByTwo(accuracy, cells, json.loads((ASSETS / TRAINING_FACTS).read_text(encoding="utf-8")))


def _cells(model: str, results: list[SplitResult]) -> list[Cell]:
    private = [Cell(model, result.plan.method, result.private) for result in results]
    return [*private, Cell(model, PLAIN, results[0].nonprivate)]


def findings(found: TwoByTwo) -> Findings:
    """Every rule's four cells, and which privacy costs more."""
    rows = tuple(
        (
            cell.training,
            PLAIN if cell.calibration == PLAIN else f"private, {label_of(cell.calibration)}",
            PAPERS_ACCURACY[cell.training],
            round(found.accuracy[cell.training], 3),
            round(float(cell.outcome.coverage.mean()), 4),
            f"±{cell.standard_error:.4f}",
            round(float(np.median(cell.outcome.coverage)), 4),
            round(cell.mean_size, 3),
        )
        for cell in found.cells.values()
    )
    return Findings(
        "Private or plain training × private or plain calibration",
        {"alpha": ALPHA, "epsilon": EPSILON, "delta": DELTA, "n": N, "training": found.training},
        (Table("Means over the splits", _COLUMNS, rows),),
        (_cost_sentence(found), _coverage_sentence(found), _training_sentence(found.training)),
        {
            "accuracy": found.accuracy,
            "cells": [
                {"training": cell.training, "calibration": cell.calibration, **outcome_numbers(cell.outcome)}
                for cell in found.cells.values()
            ],
        },
    )


def _rules(found: TwoByTwo) -> list[str]:
    return [rule for training, rule in found.cells if training == PLAIN and rule != PLAIN]


def _cost_sentence(found: TwoByTwo) -> str:
    training = found.cost_of_training()
    calibration = {rule: found.cost_of_calibration(rule) for rule in _rules(found)}
    if training > max(calibration.values()):
        verdict = "Private training costs more"
    elif training < min(calibration.values()):
        verdict = "Private calibration costs more"
    else:
        verdict = "Which of the two costs more depends on the rule"
    costs = joined([f"{cost:.3f} {with_rule(rule)}" for rule, cost in calibration.items()])
    return f"{verdict}: private training adds {training:.3f} classes to the mean set, private calibration adds {costs}."


def _coverage_sentence(found: TwoByTwo) -> str:
    low = min(found.cells.values(), key=lambda cell: cell.outcome.coverage.mean())
    mean = float(low.outcome.coverage.mean())
    verdict = "at least 0.9" if mean >= 1 - ALPHA else "0.9 but for the chance of the splits"
    return f"Mean coverage is {verdict} in every cell; the least is {mean:.4f} ± {low.standard_error:.4f}."


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
        for rule in _rules(found)
        for quantity, title in QUANTITIES.items()
    }


def _histograms(found: TwoByTwo, rule: str, quantity: str) -> go.Figure:
    looks = {
        (PLAIN, PLAIN): Look("plain training, plain calibration", GREY, "dash", "x"),
        (PLAIN, rule): Look("plain training, private calibration", BLUE, "solid", "circle"),
        (PRIVATE, PLAIN): Look("private training, plain calibration", ORANGE, "dot", "square"),
        (PRIVATE, rule): Look("private training, private calibration", VERMILLION, "longdash", "diamond"),
    }
    outcomes = {key: found.cells[key].outcome for key in looks}
    return histogram_figure(outcomes, quantity, ALPHA, looks=looks, bins=40, height=400)
