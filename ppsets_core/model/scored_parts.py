"""A folder's probabilities as parts of a Parquet data set: each part is whole, or not there, and says what it is of."""

import csv
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.files.names import plain_cell, same_names
from ppsets_core.method.plan import NOVELTY
from ppsets_core.model.folder_records import known_patients, label_numbers
from ppsets_core.xrays.folder import XrayFolder

if TYPE_CHECKING:
    from ppsets_core.model import FolderPrediction, XrayModel

XRAYS = 256  # in a part: some ten seconds of one core, lost at most when a worker is
MARK = b"ppsets.part"


@dataclass(frozen=True)
class PartJob:
    """Some X-rays of a folder, and where their probabilities go. `digest` names the X-rays, their labels and the model:
    a part that was written for the same digest need not be written again."""

    path: Path
    folder: XrayFolder
    weights: Path | None
    fingerprint: str | None
    has_patients: bool
    digest: str


def plan_parts(folder: XrayFolder, model: "XrayModel", weights: Path | None, out: Path) -> list[PartJob]:
    """The folder in pieces, in order. Refused if `out` holds parts of anything else."""
    if any(file is None for file in folder.files):
        raise FileError("Parts are scored from a folder of files; unpack the zip first.")
    has_patients = known_patients([xray.patient for xray in folder.xrays]) is not None
    jobs = []
    for number, start in enumerate(range(0, len(folder.xrays), XRAYS)):
        piece = folder.part(slice(start, start + XRAYS))
        digest = _digest(piece, model.fingerprint, has_patients)
        path = out.absolute() / f"part-{number:05d}.parquet"
        jobs.append(PartJob(path, piece, weights, model.fingerprint, has_patients, digest))
    others = sorted({path.name for path in out.glob("*.parquet")} - {job.path.name for job in jobs})
    if others:
        raise FileError(f"{out} holds {others[0]}, which is no part of this: choose another folder, or an empty one.")
    return jobs


def read_part(job: PartJob) -> tuple[int, list[Refused]]:
    """How many X-rays are in the part, and which were left out; FileError if it is damaged, or of other X-rays, labels
    or weights."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(job.path)
        mark = json.loads((file.schema_arrow.metadata or {})[MARK])
        if mark["digest"] == job.digest:
            return file.metadata.num_rows, [Refused(*pair) for pair in mark["refused"]]
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
        pass
    raise FileError(
        f"{job.path} was written for other X-rays, labels or weights, or is damaged. Remove it and repeat the command "
        "(the other parts are kept), or choose another folder."
    )


def write_part(job: PartJob, one_core: bool = False) -> int:
    """Classify the X-rays of a part and write it, under its name only when it is whole; return how many X-rays.

    one_core: read without extra threads, as several parts are written at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ppsets_core.model import predict_folder

    model = _model(job.weights)
    if model.fingerprint != job.fingerprint:
        raise FileError("The weights on the cluster are others than on this machine. Give both the same file.")
    predicted = predict_folder(model, replace(job.folder, threads=0) if one_core else job.folder)
    numbers, unknown = label_numbers(model, predicted.names, predicted.labels)
    kept = [place for place, number in enumerate(numbers) if number >= 0]
    columns = {
        name: pa.array(values, pa.float64() if name in (NOVELTY, *model.classes) else pa.string())
        for name, values in score_columns(model, predicted, numbers, kept, job.has_patients).items()
    }
    refused = [(one.name, one.reason) for one in (*predicted.refused, *unknown)]
    mark = {MARK: json.dumps({"digest": job.digest, "refused": refused}).encode()}
    table = pa.table(columns).replace_schema_metadata(mark)
    unfinished = job.path.with_name(f".{job.path.name}.{os.getpid()}")
    try:
        pq.write_table(table, unfinished)
        os.replace(unfinished, job.path)
    except OSError as error:
        raise FileError(f"{job.path} cannot be written ({error.strerror}).") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return len(job.folder.xrays)


def score_columns(
    model: "XrayModel", predicted: "FolderPrediction", numbers: np.ndarray, kept: Sequence[int], has_patients: bool
) -> dict[str, Sequence[str | float]]:
    """What is written of the X-rays that are kept: file, label, patient, model, novelty, and a column per class."""
    columns: dict[str, Sequence[str | float]] = {
        "file": [predicted.names[place] for place in kept],
        "label": [model.classes[numbers[place]] for place in kept],
    }
    if has_patients:
        columns["patient"] = same_names([predicted.patients[place] or "" for place in kept])
    if model.fingerprint:
        columns["model"] = [model.fingerprint] * len(kept)
    if predicted.novelty is not None:
        columns[NOVELTY] = predicted.novelty[kept].tolist()
    return columns | dict(zip(model.classes, predicted.probabilities[kept].T.tolist(), strict=True))


def write_refused(out: Path, refused: Iterable[Refused]) -> Path:
    """What was left out, and why, as a table beside the parts, under a name that readers of Parquet pass by."""
    path = out / "_refused.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["file", "reason"])
        writer.writerows([plain_cell(one.name), plain_cell(one.reason)] for one in refused)
    return path


@lru_cache(maxsize=1)
def _model(weights: Path | None) -> "XrayModel":
    """Loaded once by each process."""
    from ppsets_core.model import load_model

    return load_model(weights)


def _digest(folder: XrayFolder, fingerprint: str | None, has_patients: bool) -> str:
    digest = hashlib.sha256(json.dumps([fingerprint, has_patients]).encode())
    for xray, file in zip(folder.xrays, folder.files, strict=True):
        assert file is not None
        try:
            state = file.stat()
            stamp = [state.st_size, state.st_mtime_ns]
        except OSError:
            stamp = []
        digest.update(json.dumps([xray.name, xray.label, xray.patient, stamp]).encode())
    return digest.hexdigest()
