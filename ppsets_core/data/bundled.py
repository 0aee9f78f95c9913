"""The probabilities that come with the project, so that the demo and every experiment run offline."""

from pathlib import Path

from ppsets_core.data.records import Records
from ppsets_core.data.source import read_scores
from ppsets_core.errors import FileError
from ppsets_core.places import ASSETS

CORONAHACK = ASSETS / "coronahack_softmax.csv"
SYNTHETIC = ASSETS / "synthetic_softmax.csv"
CIFAR10_MODELS = ("plain", "private")


def bundled_scores(split: str | None = None) -> Records:
    """The bundled model's probabilities for the 1,500 CoronaHack X-rays it was not trained on, or one split of them."""
    return _bundled(CORONAHACK, "CoronaHack", split)


def bundled_xrays() -> Records:
    """The bundled model's probabilities for the twelve synthetic X-rays; `identifiers["file"]` names their pictures."""
    return read_scores(SYNTHETIC, "synthetic X-rays", labels="optional")


def bundled_cifar10(training: str = "plain") -> Records:
    """Opacus' network's probabilities for CIFAR-10's 10,000 test images; `training` is "plain" or "private"."""
    return _bundled(cifar10_file(ASSETS, training), "CIFAR-10")


def cifar10_file(folder: Path, training: str) -> Path:
    """The score file of one of the two networks."""
    return folder / f"cifar10_{training}.npz"


def _bundled(path: Path, name: str, split: str | None = None) -> Records:
    if not path.is_file():
        raise FileError(f"The bundled scores ({path.name}) are missing. Use a score file of your own instead.")
    return read_scores(path, name, split=split)
