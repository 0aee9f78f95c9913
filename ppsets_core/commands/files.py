"""Files that several verbs read and write."""

from collections.abc import Mapping
from pathlib import Path

from ppsets_core.errors import FileError
from ppsets_core.method.calibration import Calibration, Simulation
from ppsets_core.method.calibration_json import read_calibration


def saved_calibration(path: str) -> Calibration | Simulation:
    """The calibration of a JSON file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            f"{path} cannot be read as a calibration. Give the JSON file that a calibration saved."
        ) from error
    return read_calibration(text)


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


def write_all_new(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, which is made where it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder} cannot be made ({error.strerror}).") from None
    for name, content in files.items():
        write_new(folder / name, content)
