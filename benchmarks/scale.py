"""How counting and scoring scale, as ratios within one run: `python -m benchmarks.scale scores`, or another of WHAT.

Wanted on a quiet machine: counting ÷ a bare bincount ≥ 0.5 with a peak below 1 GB for 10⁸ scores (`scores --rows 1e8`);
one record of each of 10⁷ patients below 3 GB (`patients --rows 3e7 --patients 1e7`); two workers ÷ one ≥ 1.7 over
2,000 X-rays, with probabilities equal to those of this process to 1e-6 (`xrays --files 2000`). `costs` tells what a row
or an X-ray costs a core."""

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ppsets_core import Ledger, plan, simulate
from ppsets_core.data.counts import Selection, select
from ppsets_core.data.source import open_source
from ppsets_core.diagnose.exports import write_sets
from ppsets_core.model import load_model
from ppsets_core.model.scored_parts import PartJob, plan_parts, write_part
from ppsets_core.run import Executor, map_tasks, processes
from ppsets_core.xrays import read_folder
from tests.drawn_xrays import write_folder

PART = 2_000_000
DISTINCT = 100
ROUNDS = 3


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def timed_twice(work: Callable[[], object]) -> np.ndarray:
    """Seconds, and seconds of this process alone, which other programs barely change."""
    start, own = time.perf_counter(), time.process_time()
    work()
    return np.array([time.perf_counter() - start, time.process_time() - own])


def peak() -> str:
    return f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"


def write_scores(folder: Path, rows: int, patients: int | None) -> None:
    rng = np.random.default_rng(0)
    for number, start in enumerate(range(0, rows, PART)):
        size = min(PART, rows - start)
        columns = {"score": rng.beta(1, 4, size)}
        if patients is not None:
            columns["patient"] = pa.array(rng.integers(0, patients, size)).cast(pa.string())
        pq.write_table(pa.table(columns), folder / f"part-{number:05d}.parquet", row_group_size=1 << 20)


def bare(folder: Path, m: int) -> np.ndarray:
    """What anyone would write: pyarrow's batches into numpy's bincount, nothing checked."""
    counts = np.zeros(m + 1, dtype=np.int64)
    for path in sorted(folder.glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(1 << 20, columns=["score"]):
            counts += np.bincount(np.ceil(batch.column(0).to_numpy() * m).astype(np.int64), minlength=m + 1)
    return counts


def scores(folder: Path, rows: int) -> None:
    write_scores(folder, rows, None)
    ledger = Ledger(folder / "ledger.sqlite")
    chosen = select(open_source(folder))
    planned = plan(len(chosen), 0.1, 1.0)
    ours = timed_twice(lambda: chosen.counts(planned, ledger.cohorts(len(chosen))))
    plain = timed_twice(lambda: bare(folder, planned.m))
    print(f"{rows:,} scores, m = {planned.m:,}: {ours[0]:.1f} s, {rows / ours[0] / 1e6:.1f} million a second, {peak()}")
    share, own = plain / ours
    print(f"bare bincount {plain[0]:.1f} s; rate ÷ bare rate: {share:.2f}, in seconds of the processor {own:.2f}")


def patients(folder: Path, rows: int, number: int) -> None:
    write_scores(folder, rows, number)
    ledger = Ledger(folder / "ledger.sqlite")
    opened = open_source(folder)
    start = time.perf_counter()
    chosen = select(opened)
    middle = time.perf_counter()
    counted = chosen.counts(plan(len(chosen), 0.1, 1.0), ledger.cohorts(len(chosen)))
    end = time.perf_counter()
    spent = f"choosing {middle - start:.0f} s, counting {end - middle:.0f} s"
    print(f"{rows:,} rows of {len(counted):,} patients: {spent}, {peak()}")


def write_xrays(folder: Path, files: int) -> None:
    """So many files; a few X-rays, each under many names."""
    drawn = write_folder(folder, min(files, DISTINCT), 0)
    for number in range(DISTINCT, files):
        like = drawn[number % DISTINCT]
        shutil.copy(like, like.with_name(f"copy_{number:05d}.png"))


def xrays(folder: Path, files: int) -> None:
    """One worker and two, in turns: the least of ROUNDS times counts, as the machine's own speed goes up and down."""
    write_xrays(folder / "xrays", files)
    jobs = plan_parts(read_folder(folder / "xrays"), load_model(), None, folder / "none")
    seconds = {1: float("inf"), 2: float("inf")}
    with processes(1) as one, processes(2) as two:
        ways = {1: one, 2: two}
        for workers, executor in ways.items():
            score(moved(jobs[:4], folder / f"warm {workers}"), executor)
        for number in range(ROUNDS):
            for workers, executor in ways.items():
                given = moved(jobs, folder / f"{workers} {number}")
                seconds[workers] = min(seconds[workers], timed(lambda: score(given, executor)))  # noqa: B023
    for job in moved(jobs, folder / "here"):
        write_part(job)
    apart = np.abs(probabilities(folder / "2 0") - probabilities(folder / "here")).max()
    print(f"{files:,} X-rays: one worker {seconds[1]:.1f} s, two {seconds[2]:.1f} s")
    print(f"two ÷ one {seconds[1] / seconds[2]:.2f}; probabilities {apart:.0e} apart")


def score(jobs: list[PartJob], executor: Executor) -> None:
    for _ in map_tasks(write_part, [(job, True) for job in jobs], executor):
        pass


def probabilities(out: Path) -> np.ndarray:
    table = pq.read_table(out)
    return np.column_stack([table[name].to_numpy() for name in load_model().classes])


def moved(jobs: list[PartJob], out: Path) -> list[PartJob]:
    out.mkdir()
    return [replace(job, path=out / job.path.name) for job in jobs]


def costs(folder: Path, rows: int, files: int) -> None:
    """Seconds of one core and bytes on disk, of scoring, counting, sets and a check."""
    write_xrays(folder / "xrays", files)
    jobs = moved(plan_parts(read_folder(folder / "xrays"), load_model(), None, folder / "none"), folder / "scores")
    write_part(replace(jobs[0], path=folder / "warm.parquet"))
    scoring = timed_twice(lambda: [write_part(job) for job in jobs])[1] / files
    read = sum(path.stat().st_size for path in (folder / "xrays").rglob("*.png")) / files
    written = sum(job.path.stat().st_size for job in jobs) / files
    print(f"an X-ray: {scoring:.3f} s of a core, {read / 1e3:.0f} kB read, {written:.0f} bytes written")
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([1.0] * 3, rows)
    table = pa.table(
        {
            "patient": pa.array(np.arange(rows) // 2).cast(pa.string()),
            "label": pa.array(np.array(["a", "b", "c"])[rng.integers(0, 3, rows)]),
            **{name: shares[:, number] for number, name in enumerate("abc")},
        }
    )
    (folder / "rows").mkdir()
    pq.write_table(table, folder / "rows" / "part-00000.parquet", row_group_size=1 << 17)
    print(f"a row of 3 probabilities: {(folder / 'rows' / 'part-00000.parquet').stat().st_size / rows:.0f} bytes")
    ledger, opened = Ledger(folder / "ledger.sqlite"), open_source(folder / "rows")
    chosen = select(opened)
    planned = plan(len(chosen), 0.1, 1.0)
    drawn = simulate(rng.random(1000), plan(1000, 0.1, 1.0), rng)
    patients = open_source(folder / "rows", classes=("a", "b", "c"), labels="optional")
    for what, work in (
        ("choosing one record per patient", lambda: select(opened)),
        ("counting", lambda: chosen.counts(planned, ledger.cohorts(len(chosen)))),
        ("counting without patients", lambda: chosen.counts(planned, ledger.cohorts(10**8))),
        ("writing sets", lambda: write_sets(patients, drawn, folder / "sets")),
        ("checking", lambda: Selection(**patients.facts()).coverage(drawn)),
    ):
        print(f"{what}: {1e6 * timed_twice(work)[1] / rows:.2f} µs of a core for a row")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["scores", "patients", "xrays", "costs"])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--patients", type=float, default=1e6)
    parser.add_argument("--files", type=int, default=200)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        if args.what == "scores":
            scores(folder, int(args.rows))
        elif args.what == "patients":
            patients(folder, int(args.rows), int(args.patients))
        elif args.what == "xrays":
            xrays(folder, args.files)
        else:
            costs(folder, int(args.rows), args.files)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
