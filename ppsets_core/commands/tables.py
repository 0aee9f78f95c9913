"""Tables of new patients' probabilities on the command line, and files of sets to write."""

from collections.abc import Callable
from pathlib import Path

from ppsets_core.data import Records, read_scores
from ppsets_core.data.source import Source, is_data_set, open_source
from ppsets_core.diagnose.new_patients import (
    PatientSets,
    csv_of_sets,
    json_of_sets,
    parquet_of_sets,
)
from ppsets_core.diagnose.patient_parts import SetTally
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.errors import FileError
from ppsets_core.method.calibration import Drawn
from ppsets_core.wording import NOT_A_DEVICE, meaning, scope

ENDINGS = (".csv", ".tsv", ".txt", ".npz", ".npy", ".parquet", ".json")
SHOWN = 20
Writer = Callable[[PatientSets, Provenance], bytes]
WRITERS: dict[str, Writer] = {
    ".csv": csv_of_sets,
    ".parquet": parquet_of_sets,
    ".json": lambda sets, provenance: json_of_sets(sets, provenance).encode(),
}


def is_table(paths: list[str]) -> bool:
    """Whether one file is given, by its ending a table; X-rays are anything else."""
    return len(paths) == 1 and paths[0].lower().endswith(ENDINGS) and not Path(paths[0]).is_dir()


def open_table(path: str, calibration: Drawn, split: str | None = None) -> Source:
    """The same of a data set that does not fit into memory, or is not to be read here."""
    if Path(path).is_dir() and not is_data_set(path):
        raise FileError(
            f"{path}: there is no Parquet file in this folder. If these are X-rays, write their probabilities as a "
            f"data set first, on a cluster, too: ppsets score {path} --out scores/"
        )
    return open_source(path, classes=calibration.classes, group=_group(calibration), split=split, labels="optional")


def _group(calibration: Drawn) -> str | None:
    return calibration.per if calibration.group_names else None


def read_table(path: str, calibration: Drawn, split: str | None = None) -> Records:
    """The calibration's classes by name, and its groups where it has a threshold for each."""
    return read_scores(path, classes=calibration.classes, group=_group(calibration), split=split, labels="optional")


def writer_for(out: Path) -> Writer:
    if (found := WRITERS.get(out.suffix.casefold())) is None:
        raise FileError(f"{out}: sets are written as {', '.join(WRITERS)}; end the name in one of these.")
    return found


def in_lines(sets: PatientSets, marks: list[str], *, most: int | None = SHOWN) -> str:
    """The first sets, how many there are of each kind, and what they mean."""
    patients, number = sets.patients, sets.counts()
    names = [" ".join(who) for who in zip(*(v.tolist() for v in patients.identifiers.values()), strict=True)]
    shown = len(names) if most is None else min(most, len(names))
    width = max([4, *(len(name) for name in names[:shown])])
    places = {name: i for i, name in enumerate(patients.classes)}
    lines = [*marks, f"{' '.join(patients.identifiers):<{width}}  prediction set, likeliest first"]
    for row in range(shown):
        members = ", ".join(f"{one} {sets.probabilities[row, places[one]]:.3f}" for one in sets.ranked[row])
        unlike = f"  [{mark.lower()}]" if (mark := sets.watch.mark(sets.familiar[row])) else ""
        lines.append(f"{names[row]:<{width}}  {members or 'none is likely enough'}{unlike}")
    if shown < len(names):
        lines.append(f"… and {len(names) - shown:,} more: --out FILE writes all, as CSV, Parquet or JSON.")
    return "\n".join([*lines, *_in_all(sets.calibration, number)])


def _in_all(calibration: Drawn, number: dict[str, int]) -> list[str]:
    return [
        f"{meaning(calibration)} Coverage at least {1 - calibration.alpha:g}.",
        f"One diagnosis: {number['one']:,}. Several: {number['several']:,}. None: {number['none']:,}.",
        scope(calibration),
        NOT_A_DEVICE,
    ]


def in_short(tally: SetTally, calibration: Drawn, marks: list[str], out: Path) -> str:
    """The same of sets that were written to a folder."""
    return "\n".join(
        [*marks, f"The sets of {len(tally):,} patients are in {out}.", *_in_all(calibration, tally.counts())]
    )
