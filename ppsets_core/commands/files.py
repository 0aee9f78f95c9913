"""Files that several verbs read and write."""

from pathlib import Path
from typing import Any

from ppsets_core.data.source import Source, is_data_set, open_source
from ppsets_core.errors import FileError
from ppsets_core.method.calibration import BaseCalibration, Calibration, Simulation
from ppsets_core.method.calibration_json import read_calibration

TABLES = (".csv", ".tsv", ".txt", ".npz", ".npy", ".parquet", ".json")


def saved_calibration(path: str) -> Calibration | Simulation:
    """The calibration of a JSON file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            f"{path} cannot be read as a calibration. Give the JSON file that a calibration saved."
        ) from error
    return read_calibration(text)


def is_table(paths: list[str]) -> bool:
    """Whether one file is given, by its ending a table; X-rays are anything else."""
    return len(paths) == 1 and paths[0].lower().endswith(TABLES) and not Path(paths[0]).is_dir()


def open_table(path: str, calibration: BaseCalibration, split: str | None = None) -> Source:
    """New patients, where they lie."""
    if Path(path).is_dir() and not is_data_set(path):
        raise FileError(
            f"{path}: there is no Parquet file in this folder. If these are X-rays, write their probabilities as a "
            f"data set first, on a cluster, too: ppsets score {path} --out scores/"
        )
    return open_source(path, **new_patients(calibration, split))


def new_patients(calibration: BaseCalibration, split: str | None) -> dict[str, Any]:
    """The calibration's classes by name, and its groups where it has a threshold for each."""
    group = calibration.per if calibration.group_names else None
    return {"classes": calibration.classes, "group": group, "split": split, "labels": "optional"}


def check_new(path: Path) -> None:
    """Before long work: what `write_new` would refuse after it."""
    if path.exists():
        raise FileError(f"{path} exists; choose another name.")
    if not path.absolute().parent.is_dir():
        raise FileError(f"There is no folder for {path}. Make it first, or choose another.")


def write_new(path: Path, content: str | bytes) -> None:
    """Write a file that does not exist yet: nothing is overwritten."""
    try:
        with path.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except FileExistsError:
        raise FileError(f"{path} exists; choose another name.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror}).") from None


def make_folder(path: Path) -> None:
    """Make a folder where it is missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path} cannot be made a folder ({error.strerror}). Choose another.") from None
