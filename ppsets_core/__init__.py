"""Private prediction sets: coverage at least 1 − α and ε-differential privacy for the calibration records, at once.

>>> import numpy as np
>>> import ppsets_core as pp
>>> scores = np.random.default_rng(0).random(1000)     # 1 − probability of the true class, one a patient
>>> plan = pp.plan(len(scores), alpha=0.1, epsilon=1.0, method="sharp")   # public, free
>>> calibration = pp.calibrate(scores, alpha=0.1, epsilon=1.0, method="sharp")   # one release, costs ε
>>> pp.prediction_sets([[0.7, 0.2, 0.1]], calibration.threshold).shape
(1, 3)
"""

from ppsets_core.calibration import Calibration
from ppsets_core.errors import BudgetError, FileError, InputError, LedgerError, PpsetsError
from ppsets_core.evaluation import Evaluation, evaluate
from ppsets_core.ledger import Ledger
from ppsets_core.planning import Plan, plan, smallest_epsilon, smallest_n
from ppsets_core.private_quantile import ReleaseDistribution, calibrate, release_distribution
from ppsets_core.records import Records, one_per_patient, read_scores
from ppsets_core.sets import conformity_scores, prediction_sets, ranked_sets
from ppsets_core.simulation import Outcome, Setting, SplitResult, random_splits
from ppsets_core.split_conformal import nonprivate_threshold
from ppsets_core.xrays import read_folder

__all__ = [
    "BudgetError",
    "Calibration",
    "Evaluation",
    "FileError",
    "InputError",
    "Ledger",
    "LedgerError",
    "Outcome",
    "Plan",
    "PpsetsError",
    "Records",
    "ReleaseDistribution",
    "Setting",
    "SplitResult",
    "calibrate",
    "conformity_scores",
    "evaluate",
    "load_model",
    "nonprivate_threshold",
    "one_per_patient",
    "plan",
    "predict",
    "prediction_sets",
    "random_splits",
    "ranked_sets",
    "read_folder",
    "read_scores",
    "release_distribution",
    "smallest_epsilon",
    "smallest_n",
]


def __getattr__(name: str):
    """The network's names load torch, and only when they are asked for."""
    if name in ("load_model", "predict"):
        from ppsets_core import network

        return getattr(network, name)
    raise AttributeError(f"module 'ppsets_core' has no attribute '{name}'")
