"""One split of a labels CSV that has a `split` column, as a labels file of its own."""

import csv
import io
from pathlib import Path

from ppsets_core.errors import FileError


def labels_of_split(labels: str | Path, split: str) -> io.BytesIO:
    """The rows of `labels` whose column `split` says so, as an upload that `read_folder` takes."""
    path = Path(labels)
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(
            f"{path} cannot be read as a CSV. Give a UTF-8 CSV with columns file, label and split."
        ) from error
    chosen = [row for row in rows if row.get("split") == split]
    if not chosen:
        found = ", ".join(sorted({row["split"] for row in rows if row.get("split")})) or "none"
        raise FileError(f"{path.name} has no row of split '{split}'; its splits: {found}.")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=[name for name in rows[0] if name], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(chosen)
    upload = io.BytesIO(text.getvalue().encode())
    upload.name = path.name
    return upload
