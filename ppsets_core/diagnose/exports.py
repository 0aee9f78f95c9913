"""Sets as CSV, Parquet and JSON, with one set of column names (docs/exports.md); a data set's sets, task by task."""

import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppsets_core.data.source import RowRange, Source
from ppsets_core.diagnose.review import Marks
from ppsets_core.diagnose.set_table import READINGS, Provenance, SetCounts, SetTable, sets_of
from ppsets_core.errors import FileError
from ppsets_core.files.names import plain_cell
from ppsets_core.method.calibration import BaseCalibration, Simulation
from ppsets_core.progress import Progress
from ppsets_core.run import IN_PROCESS, Executor, sum_tasks

if TYPE_CHECKING:
    import pyarrow as pa


def columns_of(table: SetTable, rows: Sequence[int] | None = None, marks: Marks | None = None) -> dict[str, Any]:
    """The columns of an export, the set as a list of names. A flagged picture has no set, so that no one counts it."""
    records, used = table.records, range(len(table)) if rows is None else rows
    at = list(used)
    columns: dict[str, Any] = {
        name: values[at].tolist() for name, values in (*records.identifiers.items(), *records.groups.items())
    }
    flagged = table.flagged.tolist()
    sizes = table.sizes.tolist()
    columns["reading"] = [READINGS[number] for number in table.readings[at].tolist()]
    columns["diagnoses"] = [None if flagged[row] else sizes[row] for row in at]
    columns["set"] = [None if flagged[row] else table.ranked[row] for row in at]
    if records.labels is not None:
        names: list[str | None] = [*table.classes, None]  # −1 is the last
        columns["true diagnosis"] = [names[number] for number in records.labels[at].tolist()]
        covered = zip(columns["true diagnosis"], table.covered[at].tolist(), strict=True)
        columns["covered"] = [None if label is None else inside for label, inside in covered]
    if records.novelty is not None:
        columns["novelty"] = records.novelty[at]
        columns["unfamiliar"] = [None] * len(at) if table.unfamiliar is None else table.unfamiliar[at].tolist()
        columns["caution"] = [table.caution(row) or None for row in at]
    if table.xrays is not None:
        columns["flagged because"] = [table.xrays.doubts[row] or None for row in at]
    columns |= {f"p({name})": table.probabilities[at, number] for number, name in enumerate(table.classes)}
    if marks is not None:
        reviews = [marks.columns(table[row]) for row in at]
        columns |= {name: [review[name] for review in reviews] for name in reviews[0]} if reviews else {}
    return columns


def as_table(table: SetTable, rows: Sequence[int] | None = None, marks: Marks | None = None) -> "pa.Table":
    """The columns as text and numbers, for people: cells are safe in a spreadsheet."""
    import pyarrow as pa

    return pa.table(_readable(columns_of(table, rows, marks)))


def csv_of(table: SetTable, marks: Marks | None = None) -> bytes:
    """Every row with its cutoffs and where they come from."""
    import pyarrow as pa
    import pyarrow.csv

    columns = columns_of(table, marks=marks)
    if table.calibration.has_cutoffs:
        columns |= {f"cutoff({name})": table.cutoffs[:, number].copy() for number, name in enumerate(table.classes)}
    origin = table.provenance().columns()
    columns |= {name: [value] * len(table) for name, value in origin.items() if name not in columns}
    out = io.BytesIO()
    pa.csv.write_csv(pa.table(_readable(columns)), out)
    return out.getvalue()


def _readable(columns: dict[str, Any]) -> dict[str, Any]:
    return {plain_cell(name): _safe(values) if isinstance(values, list) else values for name, values in columns.items()}


def _safe(values: list[Any]) -> list[Any]:
    joined = ("; ".join(value) if isinstance(value, list) else value for value in values)
    known: dict[str, str] = {}
    return [known.setdefault(v, plain_cell(v)) if isinstance(v, str) else v for v in joined]


def parquet_of(table: SetTable, marks: Marks | None = None) -> bytes:
    """The set as a list of names; provenance, the calibration with it, as JSON in the file's metadata `ppsets`."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(_typed(table, table.provenance(), marks), out)
    return out.getvalue()


def _typed(table: SetTable, origin: Provenance, marks: Marks | None = None) -> "pa.Table":
    """The columns in the same types for every batch of a data set, whatever is missing in one."""
    import pyarrow as pa

    columns = columns_of(table, marks=marks)
    types = {
        "diagnoses": pa.int64(),
        "set": pa.list_(pa.string()),
        "covered": pa.bool_(),
        "novelty": pa.float64(),
        "unfamiliar": pa.bool_(),
    } | {f"p({name})": pa.float64() for name in table.classes}
    schema = pa.schema({name: types.get(name, pa.string()) for name in columns})
    mark = json.dumps(origin.document(), ensure_ascii=False)
    return pa.table(columns, schema=schema.with_metadata({"ppsets": mark}))


def json_of(table: SetTable, notes: Sequence[str] = (), marks: Marks | None = None) -> str:
    """Everything, with the calibration itself."""
    found = columns_of(table, marks=marks)
    columns = {name: values if isinstance(values, list) else values.tolist() for name, values in found.items()}
    probabilities = [columns.pop(f"p({name})") for name in table.classes]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for row, shares in zip(rows, zip(*probabilities, strict=True), strict=True):
        row["probabilities"] = dict(zip(table.classes, shares, strict=True))
    refused = {} if table.xrays is None else {"refused": [vars(item) for item in table.xrays.refused]}
    document = {"sets": rows, **refused, **summary_of(table.counts, table.provenance(), notes)}
    return json.dumps(document, ensure_ascii=False, indent=1)


def summary_of(counts: SetCounts, origin: Provenance, notes: Sequence[str]) -> dict[str, object]:
    """What a JSON says of all sets together."""
    calibration = origin.calibration
    thresholds: dict[str, object]
    needed = calibration.cutoffs if calibration.has_cutoffs else ()
    if calibration.per is None:
        thresholds = {"threshold": calibration.threshold, **({"cutoff": needed[0]} if needed else {})}
    else:
        names = calibration.names
        thresholds = {"thresholds": dict(zip(names, calibration.thresholds, strict=True))}
        thresholds |= {"cutoffs": dict(zip(names, needed, strict=True))} if needed else {}
    if not needed:
        thresholds["score"] = calibration.score.document()
    return {
        "counts": counts.readings,
        "novelty": counts.alarm(calibration, origin.model).document(),
        "alpha": calibration.alpha,
        "per": calibration.per,
        **thresholds,
        "simulated": isinstance(calibration, Simulation),
        "trivial": calibration.is_trivial,
        "notes": list(notes),
        "provenance": origin.document(),
    }


WRITERS: dict[str, Callable[[SetTable], bytes]] = {
    ".csv": csv_of,
    ".parquet": parquet_of,
    ".json": lambda table: json_of(table).encode(),
}


def write_sets(
    data_set: Source,
    calibration: BaseCalibration,
    out: Path,
    *,
    executor: Executor = IN_PROCESS,
    progress: Progress | None = None,
) -> SetCounts:
    """Write the sets of a whole data set, as parts in a new folder; nothing stays of a run that failed."""
    calibration.check_fits(data_set.classes, data_set.model)
    described, origin = replace(data_set, tasks=()), Provenance(calibration, data_set.model)
    parts = [
        (described, task, origin, out.absolute() / f"part-{number:05d}.parquet")
        for number, task in enumerate(data_set.tasks)
    ]
    with _new_folder(out):
        return sum_tasks(_write_part, parts, executor, progress)


def count_sets(
    data_set: Source, calibration: BaseCalibration, *, executor: Executor = IN_PROCESS, progress: Progress | None = None
) -> SetCounts:
    """Count the sets of a whole data set, which are written nowhere."""
    calibration.check_fits(data_set.classes, data_set.model)
    described = replace(data_set, tasks=())
    return sum_tasks(_count_task, [(described, task, calibration) for task in data_set.tasks], executor, progress)


def _count_task(data_set: Source, task: Sequence[RowRange], calibration: BaseCalibration) -> SetCounts:
    return sum((sets_of(batch, calibration).counts for batch in data_set.all_batches(task)), SetCounts())


def _write_part(data_set: Source, task: Sequence[RowRange], origin: Provenance, path: Path) -> SetCounts:
    """Write the sets of one task as one part; it has its name only when it is whole."""
    import pyarrow.parquet as pq

    counts, writer, unfinished = SetCounts(), None, path.with_name(f".{path.name}.{os.getpid()}")
    try:
        for batch in data_set.all_batches(task):
            sets = sets_of(batch, origin.calibration)
            typed = _typed(sets, origin)
            writer = writer or pq.ParquetWriter(unfinished, typed.schema)
            writer.write_table(typed)
            counts += sets.counts
        if writer is not None:
            writer.close()
            os.replace(unfinished, path)
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror}).") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return counts


@contextmanager
def _new_folder(out: Path) -> Iterator[None]:
    try:
        out.mkdir(parents=True)
    except FileExistsError:
        raise FileError(f"{out} exists; choose another name.") from None
    except OSError as error:
        raise FileError(f"{out} cannot be made ({error.strerror}).") from None
    try:
        yield
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
