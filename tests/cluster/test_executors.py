"""One contract for executors: what several processes or a cluster find is what this process finds."""

import os
import pickle

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ppsets_core import Ledger, plan, simulate
from ppsets_core.__main__ import main
from ppsets_core.data import source
from ppsets_core.data.counts import select
from ppsets_core.data.source import open_source
from ppsets_core.diagnose.exports import count_sets, write_sets
from ppsets_core.errors import ClusterError, FileError
from ppsets_core.method.counts import Counts
from ppsets_core.run import IN_PROCESS, cluster, map_tasks, processes
from tests.data.data_sets import CLASSES, records_frame, write_parts

pytestmark = pytest.mark.cluster


@pytest.fixture(autouse=True)
def _small_tasks(monkeypatch):
    for name in ("ROWS_AT_ONCE", "SETS_AT_ONCE"):
        monkeypatch.setattr(source, name, 40)


@pytest.fixture
def calibration():
    scores = np.linspace(0, 0.9, 1000)
    return simulate(scores, plan(len(scores), 0.1, 5.0), np.random.default_rng(0))


@pytest.fixture
def people(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite").cohorts(500)


def shuffle(folder) -> None:
    """Give the parts each other's names."""
    parts = sorted(folder.iterdir())
    moved = [part.rename(part.with_suffix(".moving")) for part in parts]
    for part, other in zip(np.random.default_rng(1).permutation(moved), parts, strict=True):
        part.rename(other)


def same_people(one, other) -> None:
    assert (one.by_patient, one.people.cells) == (other.by_patient, other.people.cells)


@pytest.mark.parametrize("patients", [None, 90])
@pytest.mark.parametrize("parts", [1, 7])
def test_counts_and_people(executor, tmp_path, people, patients, parts):
    folder = write_parts(records_frame(500, patients=patients), tmp_path / "ward", parts, group=20)
    if patients is None:
        shuffle(folder)
    opened = open_source(folder)
    here, there = select(opened), select(opened, executor=executor)
    assert (there.n, there.read, there.patient_count, there.unit) == (here.n, here.read, here.patient_count, here.unit)
    planned = plan(len(here), 0.1, 1.0, per="diagnosis", classes=opened.classes)
    one, other = here.counts(planned, people), there.counts(planned, people)
    assert np.array_equal(one.bins, other.bins)
    same_people(one.cohort, other.cohort)
    assert (one.plan, one.unit, one.classes, one.model) == (other.plan, other.unit, other.classes, other.model)


def test_sets_and_checks(executor, tmp_path, calibration, people):
    path = write_parts(records_frame(500, patients=90), tmp_path / "ward", 7, group=20)
    opened = open_source(path, classes=CLASSES, labels="optional")
    there = write_sets(opened, calibration, tmp_path / "there", executor=executor)
    assert there == write_sets(opened, calibration, tmp_path / "here") == count_sets(opened, calibration)
    assert len(there) == 500
    assert pq.read_table(tmp_path / "there").equals(pq.read_table(tmp_path / "here"))
    one = select(opened).coverage(calibration, people)
    other = select(opened, executor=executor).coverage(calibration, people)
    assert (one.unit, len(one), one.read) == (other.unit, len(other), other.read)
    assert np.array_equal(one.by_class, other.by_class)
    assert np.array_equal(one.by_size, other.by_size)
    same_people(one.cohort, other.cohort)


def test_the_first_bad_row_is_named_and_nothing_stays(executor, tmp_path, calibration, people):
    frame = records_frame(300)
    frame.loc[[120, 280], "normal"] = np.nan
    frame.loc[200, "label"] = "nobody"
    path = write_parts(frame, tmp_path / "ward", 7, group=20)
    place = r"ward/part-00002.parquet, row 36, column 'normal': the value is missing"
    opened, patients = open_source(path), open_source(path, classes=CLASSES, labels="optional")
    for where in (IN_PROCESS, executor):
        with pytest.raises(FileError, match=place):
            select(opened, executor=where).counts(plan(300, 0.1, 1.0), people)
        with pytest.raises(FileError, match=place):
            write_sets(patients, calibration, tmp_path / "sets", executor=where)
    assert not (tmp_path / "sets").exists()


def test_what_reaches_the_driver_is_counts_and_identities(executor, tmp_path, people, monkeypatch):
    frame = records_frame(400, patients=120)
    opened = open_source(write_parts(frame, tmp_path / "ward", 7, group=20))
    received = []
    submit = executor.submit

    def recording(*task):
        future = submit(*task)
        future.add_done_callback(lambda done: received.append(done.result()))
        return future

    monkeypatch.setattr(executor, "submit", recording, raising=False)
    chosen = select(opened, executor=executor)
    hashes = [one for one in received if isinstance(one, np.ndarray)]
    assert received == hashes
    assert {(one.dtype, one.shape[1:]) for one in hashes} == {(np.dtype(np.uint64), (2,))}
    received.clear()
    chosen.counts(plan(len(chosen), 0.1, 1.0), people)
    assert received
    assert {type(one) for one in received} == {Counts}
    sent = pickle.dumps(received)
    for row, label in enumerate(frame["label"]):
        for value in (frame.loc[row, label], 1 - frame.loc[row, label]):
            assert np.float64(value).tobytes() not in sent
    assert not [name for name in set(frame["patient"]) if name.encode() + b"\x94" in sent]


def test_scoring_on_workers(workers, tmp_path, monkeypatch):
    import PIL.Image

    folder = tmp_path / "xrays" / "normal"
    folder.mkdir(parents=True)
    for number in range(6):
        grey = np.random.default_rng(number).integers(0, 255, (200, 180), dtype=np.uint8)
        PIL.Image.fromarray(grey).save(folder / f"{number}.png")
    monkeypatch.setattr("ppsets_core.model.scored_parts.XRAYS", 2)
    score = ["score", str(tmp_path / "xrays"), "--out"]
    assert main([*score, str(tmp_path / "here")]) == 0
    assert main([*score, str(tmp_path / "there"), "--workers", "2"]) == 0
    here, there = (pd.read_parquet(tmp_path / name).sort_values("file") for name in ("here", "there"))
    pd.testing.assert_frame_equal(here, there, rtol=0, atol=1e-6)


def test_each_worker_has_one_thread():
    with processes(2) as executor:
        assert set(map_tasks(threads, [()] * 4, executor)) == {1}


def threads() -> int:
    import torch

    return torch.get_num_threads()


def dies(_: int) -> int:
    os._exit(1)


def divides(number: int) -> float:
    return 1 / number


def test_a_process_that_dies_is_said_and_so_is_a_mistake_of_ours(executor):
    with pytest.raises(ClusterError, match=r"A task failed on the cluster \(ZeroDivisionError\)"):
        list(map_tasks(divides, [(1,), (0,)], executor))
    with processes(1) as doomed, pytest.raises(ClusterError, match=r"gone\. Nothing was charged"):
        list(map_tasks(dies, [(1,)] * 5, doomed))


def test_no_scheduler_is_said(monkeypatch):
    monkeypatch.setattr("ppsets_core.run.SECONDS_TO_CONNECT", 1)
    with pytest.raises(ClusterError, match=r"No scheduler answers at tcp://127.0.0.1:1"), cluster("tcp://127.0.0.1:1"):
        pass
