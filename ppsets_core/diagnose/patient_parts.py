"""Ranked sets for a data set of any size: Parquet parts, written batch by batch, and a tally of what is in them."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ppsets_core.data.source import RowRange, Source
from ppsets_core.diagnose.new_patients import KINDS, PatientSets, schema_of_sets, sets_of_new_patients, table_of_sets
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.errors import FileError
from ppsets_core.method.calibration import Drawn
from ppsets_core.novelty import Alarm, watch_for
from ppsets_core.progress import Progress
from ppsets_core.run import IN_PROCESS, Executor, sum_tasks


@dataclass(frozen=True)
class SetTally:
    """How many sets have one diagnosis, several or none; of how many it can be told whether they are like the
    calibration's, and how many are not."""

    one: int = 0
    several: int = 0
    none: int = 0
    told: int = 0
    unlike: int = 0

    def __add__(self, other: "SetTally") -> "SetTally":
        return SetTally(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def __len__(self) -> int:
        return sum(self.counts().values())

    def counts(self) -> dict[str, int]:
        return {kind: getattr(self, kind) for kind in KINDS}

    def alarm(self, calibration: Drawn, model: str | None) -> Alarm:
        return Alarm(self.unlike, self.told, watch_for(calibration, model))


def write_sets(
    data_set: Source,
    calibration: Drawn,
    out: Path,
    *,
    executor: Executor = IN_PROCESS,
    progress: Progress | None = None,
) -> SetTally:
    """The sets of a whole data set, as parts in a folder that is not there yet; nothing stays of a run that failed."""
    with new_folder(out):
        return sum_tasks(write_sets_of, set_parts(data_set, calibration, out), executor, progress)


def tally_sets(
    data_set: Source, calibration: Drawn, *, executor: Executor = IN_PROCESS, progress: Progress | None = None
) -> SetTally:
    """What is in the sets, which are written nowhere."""
    described = replace(data_set, tasks=())
    return sum_tasks(tally_task, [(described, task, calibration) for task in data_set.tasks], executor, progress)


@contextmanager
def new_folder(out: Path) -> Iterator[None]:
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


SetPart = tuple[Source, Sequence[RowRange], Drawn, Provenance, Path]


def set_parts(data_set: Source, calibration: Drawn, out: Path) -> list[SetPart]:
    """What `write_sets_of` is given for each task. Refuses a calibration of other classes or another model."""
    calibration.check_fits(data_set.classes, data_set.model)
    described, origin = replace(data_set, tasks=()), Provenance(calibration, data_set.model)
    return [
        (described, task, calibration, origin, out.absolute() / f"part-{number:05d}.parquet")
        for number, task in enumerate(data_set.tasks)
    ]


def write_sets_of(
    data_set: Source, task: Sequence[RowRange], calibration: Drawn, origin: Provenance, path: Path
) -> SetTally:
    """The sets of one task's patients, as one part; it has its name only when it is whole."""
    import pyarrow.parquet as pq

    tally, writer, unfinished = SetTally(), None, path.with_name(f".{path.name}.{os.getpid()}")
    try:
        for patients in data_set.all_batches(task):
            sets = sets_of_new_patients(patients, calibration)
            if writer is None:
                mark = {"ppsets": json.dumps(origin.document(), ensure_ascii=False)}
                schema = schema_of_sets(sets).with_metadata(mark)
                writer = pq.ParquetWriter(unfinished, schema)
            writer.write_table(table_of_sets(sets).replace_schema_metadata(schema.metadata))
            tally += _tally_of(sets)
        if writer is not None:
            writer.close()
            os.replace(unfinished, path)
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror}).") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return tally


def tally_task(data_set: Source, task: Sequence[RowRange], calibration: Drawn) -> SetTally:
    """What is in the sets of one task's patients, which are written nowhere."""
    tallies = (_tally_of(sets_of_new_patients(patients, calibration)) for patients in data_set.all_batches(task))
    return sum(tallies, SetTally())


def _tally_of(sets: PatientSets) -> SetTally:
    unlike = sets.familiar.count(False)
    return SetTally(**sets.counts(), told=unlike + sets.familiar.count(True), unlike=unlike)
