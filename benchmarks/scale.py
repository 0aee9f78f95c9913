"""How counting and scoring scale, as ratios within one run: `python -m benchmarks.scale scores`, or another of WHAT.

Wanted on a quiet machine: counting ÷ a bare bincount ≥ 0.5 with a peak below 1 GB for 10⁸ scores (`scores --rows 1e8`);
one record of each of 10⁷ patients below 3 GB (`patients --rows 3e7 --patients 1e7`); two workers ÷ one ≥ 1.7 over
2,000 X-rays, with probabilities equal to those of this process to 1e-6, and Dask ÷ a plain process pool ≤ 1.15
(`xrays --files 2000`; `overhead --rows 1e8` is the same of counting). `tasks --workers 64` tells what a task costs a
scheduler whose workers, simulated in one process, have nothing to do; `costs` what a row or an X-ray costs a core."""

import argparse
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

from ppsets_core import Ledger, plan, simulate
from ppsets_core import cluster as on_cluster
from ppsets_core.cluster.jobs import added_up, result_of, spread
from ppsets_core.cluster.scoring import write_part_alone
from ppsets_core.data.checked import check_data_set
from ppsets_core.data.counting import choose, count, tally_task
from ppsets_core.data.data_set import open_data_set
from ppsets_core.diagnose.patient_parts import write_sets
from ppsets_core.model import load_model
from ppsets_core.model.scored_parts import PartJob, plan_parts, write_part
from ppsets_core.synthetic import write_folder
from ppsets_core.xrays import read_folder

PART = 2_000_000
DISTINCT = 100
ROUNDS = 3


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def timed_twice(work: Callable[[], object]) -> np.ndarray:
    """Seconds, and seconds of this process alone, which others on the machine hardly change."""
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
    chosen = choose(open_data_set(folder))
    planned = plan(len(chosen), 0.1, 1.0)
    ours = timed_twice(lambda: count(chosen, planned, ledger.identify(len(chosen))))
    plain = timed_twice(lambda: bare(folder, planned.m))
    print(f"{rows:,} scores, m = {planned.m:,}: {ours[0]:.1f} s, {rows / ours[0] / 1e6:.1f} million a second, {peak()}")
    share, own = plain / ours
    print(f"bare bincount {plain[0]:.1f} s; rate ÷ bare rate: {share:.2f}, in seconds of the processor {own:.2f}")


def patients(folder: Path, rows: int, number: int) -> None:
    write_scores(folder, rows, number)
    ledger = Ledger(folder / "ledger.sqlite")
    opened = open_data_set(folder)
    start = time.perf_counter()
    chosen = choose(opened)
    middle = time.perf_counter()
    counted = count(chosen, plan(len(chosen), 0.1, 1.0), ledger.identify(len(chosen)))
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
    """One worker, two, and a plain pool of two, each with one thread, in turns: the least of ROUNDS times counts, as
    the machine's own speed goes up and down."""
    os.environ["OMP_NUM_THREADS"] = "1"
    write_xrays(folder / "xrays", files)
    jobs = plan_parts(read_folder(folder / "xrays"), load_model(), None, folder / "none")
    with (
        on_cluster.connected(workers=1) as one,
        on_cluster.connected(workers=2) as two,
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
    ):
        ways: dict[str, Callable[[list[PartJob]], object]] = {
            "one worker": lambda given: on_cluster.score(one, given),
            "two workers": lambda given: on_cluster.score(two, given),
            "a pool of two": lambda given: list(pool.map(write_part_alone, given)),
        }
        for name, way in ways.items():
            way(moved(jobs[:4], folder / f"warm {name}"))
        seconds = {name: float("inf") for name in ways}
        for number in range(ROUNDS):
            for name, way in ways.items():
                given = moved(jobs, folder / f"{name} {number}")
                seconds[name] = min(seconds[name], timed(lambda: way(given)))  # noqa: B023
    for job in moved(jobs, folder / "here"):
        write_part(job)
    apart = np.abs(probabilities(folder / "two workers 0") - probabilities(folder / "here")).max()
    single, double, plain = seconds.values()
    print(f"{files:,} X-rays: " + ", ".join(f"{name} {spent:.1f} s" for name, spent in seconds.items()))
    print(f"two ÷ one {single / double:.2f}; Dask ÷ pool {double / plain:.2f}; probabilities {apart:.0e} apart")


def probabilities(out: Path) -> np.ndarray:
    table = pq.read_table(out)
    return np.column_stack([table[name].to_numpy() for name in load_model().classes])


def moved(jobs: list[PartJob], out: Path) -> list[PartJob]:
    out.mkdir()
    return [replace(job, path=out / job.path.name) for job in jobs]


def overhead(folder: Path, rows: int) -> None:
    write_scores(folder, rows, None)
    ledger = Ledger(folder / "ledger.sqlite")
    opened = open_data_set(folder)
    chosen = choose(opened)
    planned, identify = plan(len(chosen), 0.1, 1.0), ledger.identify(len(chosen))
    with on_cluster.connected(workers=2) as client:
        on_cluster.count(client, chosen, planned, identify)
        ours = timed(lambda: on_cluster.count(client, chosen, planned, identify))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        given = [(opened, task, planned, identify, None) for task in opened.tasks]
        list(pool.map(tally_task, *zip(*given[:2], strict=True)))
        plain = timed(lambda: list(pool.map(tally_task, *zip(*given, strict=True))))
    both = f"Dask {ours:.2f} s, pool {plain:.2f} s"
    print(f"{rows:,} scores, {len(opened.tasks)} tasks: {both}; Dask ÷ pool: {ours / plain:.2f}")


def tasks(number: int, workers: int) -> None:
    """Tasks that do nothing, and their results added up as a tree, through a scheduler whose workers are threads."""
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=None, memory_limit=0
        ) as nodes,
        Client(nodes, set_as_default=False) as client,
    ):
        given = [(one,) for one in range(number)]
        start, own = time.perf_counter(), time.process_time()
        futures = spread(client, abs, given)
        result_of(client, added_up(client, futures), futures)
        spent, used = time.perf_counter() - start, time.process_time() - own
    told = f"{1e3 * spent / number:.2f} ms a task, {1e3 * used / number:.2f} ms of the processor"
    print(f"{number:,} tasks on {workers} simulated workers: {spent:.1f} s, {told}")


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
    ledger, opened = Ledger(folder / "ledger.sqlite"), open_data_set(folder / "rows")
    chosen = choose(opened)
    planned = plan(len(chosen), 0.1, 1.0)
    drawn = simulate(rng.random(1000), plan(1000, 0.1, 1.0), rng)
    patients = open_data_set(folder / "rows", classes=("a", "b", "c"), labels="optional")
    for what, work in (
        ("choosing one record per patient", lambda: choose(opened)),
        ("counting", lambda: count(chosen, planned, ledger.identify(len(chosen)))),
        ("counting as a whole", lambda: count(chosen, planned, ledger.identify(10**8))),
        ("writing sets", lambda: write_sets(patients, drawn, folder / "sets")),
        ("checking", lambda: check_data_set(patients, drawn)),
    ):
        print(f"{what}: {1e6 * timed_twice(work)[1] / rows:.2f} µs of a core for a row")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["scores", "patients", "xrays", "overhead", "tasks", "costs"])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--patients", type=float, default=1e6)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=64, help="of `tasks`")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        if args.what == "scores":
            scores(folder, int(args.rows))
        elif args.what == "patients":
            patients(folder, int(args.rows), int(args.patients))
        elif args.what == "xrays":
            xrays(folder, args.files)
        elif args.what == "tasks":
            tasks(args.tasks, args.workers)
        elif args.what == "costs":
            costs(folder, int(args.rows), args.files)
        else:
            overhead(folder, int(args.rows))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
