"""`two-by-two`: private or plain training × private or plain calibration. Which of the two privacies costs more?"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.experiments.findings import Findings, Table, outcome_numbers
from ppsets_core.records.bundled import ASSETS, read_rows
from ppsets_core.simulation import Outcome, Setting, SplitResult, random_splits
from ppsets_core.tradeoffs.sweeps import Labelled, Progress
from ppsets_core.validation import METHODS

ALPHA, EPSILON, DELTA, N = 0.1, 8.0, 1e-5, 1000
MODELS = ("plain", "private")
SOFTMAX = ASSETS / "two_by_two_softmax.csv"


@dataclass(frozen=True)
class Cell:
    """One of the four: how the network was trained and how the threshold was calibrated."""

    training: str
    calibration: str
    outcome: Outcome

    @property
    def mean_size(self) -> float:
        return float(self.outcome.mean_size.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean coverage, over the splits."""
        return float(self.outcome.coverage.std(ddof=1) / np.sqrt(len(self.outcome.coverage)))


@dataclass(frozen=True, eq=False)
class TwoByTwo:
    """The paper's four cells by (training, calibration), and the sharp rule's; how the networks were trained."""

    accuracy: dict[str, float]
    cells: dict[tuple[str, str], Cell]
    training: dict

    def cost_of_training(self) -> float:
        """Classes added to the mean set by private training, calibration being plain."""
        return self.cells["private", "plain"].mean_size - self.cells["plain", "plain"].mean_size

    def cost_of_calibration(self, rule: str = "paper") -> float:
        """Classes added to the mean set by private calibration, training being plain."""
        return self.cells["plain", rule].mean_size - self.cells["plain", "plain"].mean_size


def run(
    *, seed: int = 0, splits: int = 1000, progress: Progress | None = None, softmax: Path | None = None
) -> TwoByTwo:
    """1,000 splits of the held-out X-rays, the same for both networks, from the softmax kept of each."""
    path = softmax or SOFTMAX
    settings = [Setting(ALPHA, EPSILON, method) for method in METHODS]
    cells, accuracy = {}, {}
    for place, model in enumerate(MODELS):
        records = Labelled.of(read_rows(path, "model", model))
        accuracy[model] = _accuracy(records)
        step = None if progress is None else _offset(progress, place)
        rng = np.random.default_rng(seed)
        results = random_splits(records.probabilities, records.labels, N, settings, splits, rng, progress=step)
        for cell in _cells(model, results):
            cells[cell.training, cell.calibration] = cell
    return TwoByTwo(accuracy, cells, _training_facts(path.with_suffix(".json")))


def _cells(model: str, results: list[SplitResult]) -> list[Cell]:
    private = [Cell(model, result.plan.method, result.private) for result in results]
    return [*private, Cell(model, "plain", results[0].nonprivate)]


def _accuracy(records: Labelled) -> float:
    return float((records.probabilities.argmax(axis=1) == records.labels).mean())


def _offset(progress: Progress, place: int) -> Progress:
    return lambda done, total: progress(place * total + done, len(MODELS) * total)


def _training_facts(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"{path} is missing or damaged. Train anew with `experiment two-by-two --train`.") from error


def findings(found: TwoByTwo) -> Findings:
    """The four cells, the sharp rule's beside them, and which privacy costs more."""
    rows = tuple(
        (
            cell.training,
            {"paper": "private, paper's rule", "sharp": "private, sharp rule", "plain": "plain"}[cell.calibration],
            round(found.accuracy[cell.training], 3),
            round(float(cell.outcome.coverage.mean()), 4),
            f"±{cell.standard_error:.4f}",
            round(float(np.median(cell.outcome.coverage)), 4),
            round(cell.mean_size, 3),
        )
        for cell in found.cells.values()
    )
    training, calibration, sharp = (
        found.cost_of_training(),
        found.cost_of_calibration(),
        found.cost_of_calibration("sharp"),
    )
    dearer = "Private training" if training > calibration else "Private calibration"
    return Findings(
        "Private or plain training × private or plain calibration",
        {"alpha": ALPHA, "epsilon": EPSILON, "delta": DELTA, "n": N, "training": found.training},
        (Table("Means over the splits", _COLUMNS, rows),),
        (
            f"{dearer} costs more: private training adds {training:.3f} diagnoses to the mean set, private calibration "
            f"{calibration:.3f} (sharp rule: {sharp:.3f}).",
            _coverage_sentence(found),
            _training_sentence(found.training),
        ),
        {
            "accuracy": found.accuracy,
            "cells": [
                {"training": cell.training, "calibration": cell.calibration, **outcome_numbers(cell.outcome)}
                for cell in found.cells.values()
            ],
        },
    )


def _coverage_sentence(found: TwoByTwo) -> str:
    low = min(found.cells.values(), key=lambda cell: cell.outcome.coverage.mean())
    mean = float(low.outcome.coverage.mean())
    verdict = "at least 0.9" if mean >= 1 - ALPHA else "0.9 but for the chance of the splits"
    return f"Mean coverage is {verdict} in every cell; the least is {mean:.4f} ± {low.standard_error:.4f}."


def _training_sentence(facts: dict) -> str:
    plain, private = (facts[model] for model in MODELS)
    return (
        f"Trained once each on {facts['trained on']:,} X-rays: {plain['epochs']} epochs in batches of "
        f"{plain['batch_size']} without privacy, {private['epochs']} in batches of {private['batch_size']} with DP-SGD "
        f"that spent ε = {private['epsilon spent']} at δ = {private['delta']:g}."
    )


_COLUMNS = ("training", "calibration", "accuracy", "mean coverage", "standard error", "median coverage", "mean size")
