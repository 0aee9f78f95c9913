"""One task in several libraries: sets for noisy digits that hold the true digit 9 times in 10, from 60 records.

OMP_NUM_THREADS=1 python -m benchmarks.comparison

Writes benchmarks/comparison.json, which docs/comparison.md shows. Beside the development environment it needs
`pip install crepes==0.9.1`. diffprivlib 0.6.6 does not import beside scikit-learn 1.9, so its row comes from another
environment (`pip install diffprivlib==0.6.6 scikit-learn==1.7.2`); a library that is not there keeps the row it has.
"""

import json
import warnings
from collections.abc import Callable
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

OUT = Path(__file__).with_suffix(".json")
ALPHA, RECORDS, SPLITS, EPSILONS, NOISES, SEED = 0.1, 60, 1500, (0.1, 0.5, 1.0), (4.0, 6.0), 0
Sets = Callable[[Any, np.ndarray, np.ndarray, np.ndarray, float | None], np.ndarray]


def with_mapie(model: Any, x: np.ndarray, y: np.ndarray, new: np.ndarray, _: float | None) -> np.ndarray:
    from mapie.classification import SplitConformalClassifier

    conformal = SplitConformalClassifier(model, confidence_level=1 - ALPHA, prefit=True).conformalize(x, y)
    return conformal.predict_set(new)[1][:, :, 0]


def with_crepes(model: Any, x: np.ndarray, y: np.ndarray, new: np.ndarray, _: float | None) -> np.ndarray:
    from crepes import WrapClassifier

    wrapped = WrapClassifier(model)
    wrapped.calibrate(x, y, seed=SEED)
    return wrapped.predict_set(new, confidence=1 - ALPHA, labels=False, smoothing=False).astype(bool)


def with_diffprivlib(model: Any, x: np.ndarray, y: np.ndarray, new: np.ndarray, epsilon: float | None) -> np.ndarray:
    """The private quantile in place of the exact one: private, and not corrected for its noise."""
    from diffprivlib.tools import quantile

    scores = 1 - model.predict_proba(x)[np.arange(len(y)), y]
    level = np.ceil((1 - ALPHA) * (len(y) + 1)) / len(y)
    return 1 - model.predict_proba(new) <= quantile(scores, level, epsilon=epsilon, bounds=(0, 1))


def with_ppsets(model: Any, x: np.ndarray, y: np.ndarray, new: np.ndarray, epsilon: float | None) -> np.ndarray:
    from ppsets_core import PrivateConformalClassifier

    private = PrivateConformalClassifier(model, alpha=ALPHA, epsilon=epsilon or 1.0)
    with warnings.catch_warnings(action="ignore"):  # no ledger counts these
        return private.conformalize(x, y).predict_set(new)[1][:, :, 0]


LIBRARIES: dict[str, tuple[Sets, tuple[float | None, ...]]] = {
    "MAPIE": (with_mapie, (None,)),
    "crepes": (with_crepes, (None,)),
    "diffprivlib": (with_diffprivlib, EPSILONS),
    "ppsets": (with_ppsets, EPSILONS),
}


def measure(make: Sets, epsilon: float | None, noise: float) -> tuple[float, float, float]:
    """Mean coverage over the splits, its standard error, and the mean size of the sets."""
    x, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(SEED)
    x = (x + rng.normal(0, noise, x.shape)) / 16
    model = LogisticRegression(max_iter=1000).fit(x[:500], y[:500])
    coverage, size = np.empty(SPLITS), np.empty(SPLITS)
    for split in range(SPLITS):
        order = 500 + rng.permutation(len(y) - 500)
        records, new = order[:RECORDS], order[RECORDS:]
        sets = make(model, x[records], y[records], x[new], epsilon)
        coverage[split] = sets[np.arange(len(new)), y[new]].mean()
        size[split] = sets.sum(axis=1).mean()
    return float(coverage.mean()), float(coverage.std(ddof=1) / np.sqrt(SPLITS)), float(size.mean())


def main() -> None:
    rows = {_key(row): row for row in json.loads(OUT.read_text())} if OUT.exists() else {}
    for library, (make, epsilons) in LIBRARIES.items():
        for noise, epsilon in product(NOISES, epsilons):
            try:
                coverage, error, size = measure(make, epsilon, noise)
            except ImportError as missing:
                print(f"{library}: {missing}")
                break
            row = {"library": library, "version": None if library == "ppsets" else version(library)}
            row |= {"noise": noise, "epsilon": epsilon, "coverage": round(coverage, 4)}
            rows[_key(row)] = row | {"standard_error": round(error, 4), "size": round(size, 3)}
            print(rows[_key(row)], flush=True)
    OUT.write_text(json.dumps([rows[key] for key in sorted(rows)], indent=1) + "\n")


def _key(row: dict[str, Any]) -> tuple[int, float, float]:
    return list(LIBRARIES).index(row["library"]), row["noise"], row["epsilon"] or 0.0


if __name__ == "__main__":
    main()
