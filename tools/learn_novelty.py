"""Learn novelty: `python -m tools.learn_novelty coronahack --out models/novelty.npz`.

From the features that a model gives CoronaHack's `train` split, seen as the model sees any X-ray. The map of distances
into [0, 1] is set on patients left out of the means and the covariance, so that it holds for new patients too.
"""

import argparse
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np

from ppsets_core.model.novelty import Statistics, straightened
from ppsets_core.model.prediction import batches
from ppsets_core.model.weights import XrayModel, load_model
from ppsets_core.xrays import Picture, XrayFolder
from tools.coronahack import read_coronahack
from tools.training_xrays import patient_folds

POWER, SHRINKAGE = 0.5, 0.05
"""What features are raised to, and how far their covariance is drawn towards that of a ball."""
FOLDS, SEED = 5, 0
MIDDLE, STEPS = 0.97, 14
"""The share of new patients' X-rays whose novelty is below ½, and how many spreads the median lies below it: so the
bins of τ̂ are finest where it lies, and few lie above all X-rays."""


def features_of(model: XrayModel, folder: XrayFolder) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (N, F), labels and patients of a labelled folder."""
    labels, patients = [], []

    def pictures() -> Iterator[Picture]:
        for xray, picture in folder.readable([], model.preprocessing.read_at_least):
            labels.append(xray.label)
            patients.append(xray.patient)
            yield picture

    rows = [features for _, features in batches(model, pictures())]
    return np.concatenate(rows), np.array(labels), np.array(patients)


def learn_statistics(model: str, features: np.ndarray, labels: np.ndarray, patients: np.ndarray) -> Statistics:
    """Means and covariance of all, and the map from distances of patients left out."""
    folds, logarithms = patient_folds(patients, FOLDS, SEED), np.empty(len(features))
    for fold in range(FOLDS):
        inside, outside = folds != fold, folds == fold
        means, whitener = _fit(features[inside], labels[inside])
        logarithms[outside] = np.log(Statistics(model, POWER, means, whitener, 0, 1).distance(features[outside]))
    median, middle = np.quantile(logarithms, [0.5, MIDDLE])
    means, whitener = _fit(features, labels)
    return Statistics(model, POWER, means, whitener, float(middle), float((middle - median) / STEPS))


def _fit(features: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Class means, and the matrix that makes the covariance around them the identity; precise enough in float16."""
    rows, classes = straightened(features, POWER), np.unique(labels)
    means = np.stack([rows[labels == name].mean(axis=0) for name in classes])
    around = rows - means[np.searchsorted(classes, labels)]
    covariance = around.T @ around / len(around)
    ball = np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    variances, axes = np.linalg.eigh((1 - SHRINKAGE) * covariance + SHRINKAGE * ball)
    return means.astype(np.float32), (axes / np.sqrt(variances)).T.astype(np.float16)


def save_statistics(statistics: Statistics, path: Path) -> None:
    """Write compressed arrays only, no pickles."""
    np.savez_compressed(path, **{field.name: getattr(statistics, field.name) for field in fields(Statistics)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learns novelty from the train split.")
    parser.add_argument("data", type=Path, help="folder with CoronaHack's pictures")
    parser.add_argument("--weights", type=Path, help="safetensors file of the model; else the bundled one")
    parser.add_argument("--out", type=Path, required=True, help="where to write the statistics (.npz)")
    arguments = parser.parse_args()
    model = load_model(arguments.weights)
    if (named := model.fingerprint) is None:
        raise SystemExit("These weights have no fingerprint to bind statistics to: save them with ppsets first.")
    learnt = features_of(model, read_coronahack(arguments.data, "train"))
    statistics = learn_statistics(named, *learnt)
    save_statistics(statistics, arguments.out)
    print(f"{arguments.out}: from {len(learnt[0]):,} X-rays, half way at a distance of {np.exp(statistics.middle):.1f}")
