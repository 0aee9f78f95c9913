"""The probabilities that come with the project, so that the demo and every experiment run offline."""

import csv
import io
from pathlib import Path

from ppsets_core.data.records import Records
from ppsets_core.data.source import read_scores
from ppsets_core.errors import FileError
from ppsets_core.places import ASSETS

CORONAHACK = ASSETS / "coronahack_softmax.csv"
SYNTHETIC = ASSETS / "synthetic_softmax.csv"


def bundled_scores(split: str | None = None) -> Records:
    """The bundled model's probabilities for the 1,500 CoronaHack X-rays it was not trained on, or one split of them."""
    if not CORONAHACK.is_file():
        missing = f"The bundled scores (assets/{CORONAHACK.name}) are missing."
        raise FileError(f"{missing} Use a score file of your own instead.")
    return read_rows(CORONAHACK, "split" if split else None, split, source="CoronaHack")


def read_rows(path: Path, column: str | None = None, value: str | None = None, *, source: str | None = None) -> Records:
    """The records of a bundled CSV, or those whose `column` says `value`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} is missing or damaged. Take it again from where ppsets came.") from error
    if column is not None:
        rows = list(csv.DictReader(io.StringIO(text)))
        kept = io.StringIO()
        writer = csv.DictWriter(kept, [name for name in rows[0] if name != column], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(row for row in rows if row[column] == value)
        text = kept.getvalue()
    return read_scores(text.encode(), source or path.name)


def bundled_xrays() -> Records:
    """The bundled model's probabilities for the twelve synthetic X-rays; `identifiers["file"]` names their pictures."""
    return read_scores(SYNTHETIC, "synthetic X-rays", labels="optional")
