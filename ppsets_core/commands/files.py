"""Files that several verbs read and write."""

from pathlib import Path

from ppsets_core.calibration import Calibration, Simulation
from ppsets_core.calibration_file import read_calibration
from ppsets_core.errors import FileError


def saved_calibration(path: str) -> Calibration | Simulation:
    """The calibration of a JSON file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            f"{path} cannot be read as a calibration. Give the JSON file that a calibration saved."
        ) from error
    return read_calibration(text)


def write_new(path: Path, content: str) -> None:
    """Write a file that does not exist yet: nothing is overwritten."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        raise FileError(f"{path} exists; choose another name.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror}).") from None
