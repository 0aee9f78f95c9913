"""The probabilities that come with the project, so that every experiment runs offline."""

import csv
import io
from pathlib import Path

from ppsets_core.errors import FileError
from ppsets_core.experiments.sweeps import Labelled
from ppsets_core.reading import Records, read_scores

ASSETS = Path(__file__).resolve().parents[3] / "assets"
CORONAHACK = ASSETS / "coronahack_softmax.csv"


def read_rows(path: Path, column: str | None = None, value: str | None = None) -> Records:
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
    return read_scores(text.encode(), path.name)


def coronahack_records() -> Labelled:
    """The bundled model's probabilities for the 1,500 CoronaHack X-rays that it was not trained on."""
    return labelled(read_rows(CORONAHACK))


def labelled(records: Records) -> Labelled:
    return Labelled(records.probabilities, records.labels)
