"""Private prediction sets: coverage at least 1 − α and ε-differential privacy for the calibration records, at once.

>>> import numpy as np
>>> import ppsets_core as pp
>>> scores = np.random.default_rng(0).random(1000)     # 1 − probability of the true class, one per patient
>>> plan = pp.plan(len(scores), alpha=0.1, epsilon=1.0)   # public, free
>>> calibration = pp.calibrate(scores, alpha=0.1, epsilon=1.0)   # one release, costs ε
>>> pp.prediction_sets([[0.7, 0.2, 0.1]], calibration).shape
(1, 3)
"""

from typing import TYPE_CHECKING

from ppsets_core.data import Records, one_per_patient, read_scores
from ppsets_core.data.counts import calibrate, evaluate, simulate
from ppsets_core.data.records import records
from ppsets_core.errors import (
    AccessError,
    BudgetError,
    FileError,
    InputError,
    LedgerError,
    MissingPackageError,
    PpsetsError,
)
from ppsets_core.estimators import PrivateConformalClassifier, PrivateConformalRegressor
from ppsets_core.ledger import Account, Actor, Ledger, Release
from ppsets_core.method.calibration import Calibration, Simulation
from ppsets_core.method.check import Evaluation
from ppsets_core.method.plan import Plan, plan, smallest_epsilon, smallest_n
from ppsets_core.method.release import ReleaseDistribution, release_distribution
from ppsets_core.method.sets import (
    conformity_scores,
    nonprivate_threshold,
    prediction_interval,
    prediction_sets,
    ranked_sets,
)
from ppsets_core.method.simulate import Outcome, Setting, SplitResult, random_splits
from ppsets_core.version import __version__ as __version__
from ppsets_core.xrays import read_folder

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel as XrayModel
    from ppsets_core.model import load_model as load_model
    from ppsets_core.model import predict as predict
    from ppsets_core.model import predict_folder as predict_folder

_OF_THE_NETWORK = ("XrayModel", "load_model", "predict", "predict_folder")

__all__ = [
    "AccessError",
    "Account",
    "Actor",
    "BudgetError",
    "Calibration",
    "Evaluation",
    "FileError",
    "InputError",
    "Ledger",
    "LedgerError",
    "MissingPackageError",
    "Outcome",
    "Plan",
    "PpsetsError",
    "PrivateConformalClassifier",
    "PrivateConformalRegressor",
    "Records",
    "Release",
    "ReleaseDistribution",
    "Setting",
    "Simulation",
    "SplitResult",
    "calibrate",
    "conformity_scores",
    "evaluate",
    "nonprivate_threshold",
    "one_per_patient",
    "plan",
    "prediction_interval",
    "prediction_sets",
    "random_splits",
    "ranked_sets",
    "read_folder",
    "read_scores",
    "records",
    "release_distribution",
    "simulate",
    "smallest_epsilon",
    "smallest_n",
]


def __getattr__(name: str) -> object:
    """The network's names load torch, and only when they are asked for: by name, so `import *` does not."""
    if name in _OF_THE_NETWORK:
        from ppsets_core import model as network

        return getattr(network, name)
    raise AttributeError(f"module 'ppsets_core' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *_OF_THE_NETWORK])
