"""A cluster counts what one process counts, whatever is killed meanwhile; or it says so, and nothing is charged."""

import pickle

import numpy as np
import pytest

from ppsets_core import FileError, Ledger, plan
from ppsets_core import cluster as on_cluster
from ppsets_core.__main__ import main
from ppsets_core.cluster import jobs
from ppsets_core.commands.cluster_options import Steps
from ppsets_core.data import counting, data_set
from ppsets_core.data.data_set import open_data_set
from ppsets_core.errors import ClusterError
from tests.cluster.running import cluster_of, kill
from tests.data.data_sets import records_frame, write_parts

pytestmark = pytest.mark.cluster


@pytest.fixture
def small_tasks(monkeypatch):
    monkeypatch.setattr(data_set, "ROWS_AT_ONCE", 40)


@pytest.mark.parametrize("patients", [None, 90])
@pytest.mark.parametrize("parts", [1, 7, 100])
def test_counts_people_and_plan_are_those_of_one_process(client, tmp_path, small_tasks, patients, parts):
    opened = open_data_set(write_parts(records_frame(500, patients=patients), tmp_path / "ward", parts, group=20))
    identify = Ledger(tmp_path / "ledger.sqlite").identify(500)
    here, there = counting.choose(opened), on_cluster.choose(client, opened)
    assert (there.n, there.read, there.patient_count, there.unit) == (here.n, here.read, here.patient_count, here.unit)
    planned = plan(len(here), 0.1, 1.0, per="diagnosis", classes=opened.classes)
    one, other = counting.count(here, planned, identify), on_cluster.count(client, there, planned, identify)
    assert np.array_equal(one.counts, other.counts)
    assert one.people.identity == other.people.identity
    assert sorted(one.people.patients.tolist()) == sorted(other.people.patients.tolist())
    assert (one.plan, one.unit, one.classes, one.model) == (other.plan, other.unit, other.classes, other.model)


def test_of_several_bad_parts_the_first_is_named_as_in_one_process(client, tmp_path, small_tasks):
    frame = records_frame(300)
    frame.loc[[120, 280], "normal"] = np.nan
    frame.loc[200, "label"] = "nobody"
    opened = open_data_set(write_parts(frame, tmp_path / "ward", 7, group=20))
    planned = plan(300, 0.1, 1.0)
    identify = Ledger(tmp_path / "ledger.sqlite").identify(300)
    with pytest.raises(FileError) as one:
        counting.count(counting.choose(opened), planned, identify)
    with pytest.raises(FileError) as other:
        on_cluster.count(client, on_cluster.choose(client, opened), planned, identify)
    assert str(one.value) == str(other.value)
    assert "ward/part-00002.parquet, row 36, column 'normal'" in str(one.value)


def test_what_reaches_the_driver_is_counts_and_identities(client, tmp_path, small_tasks, monkeypatch):
    frame = records_frame(400, patients=120)
    opened = open_data_set(write_parts(frame, tmp_path / "ward", 7, group=20))
    received, values = [], []
    gather = type(client)._gather_remote

    async def recording(self, *args, **kwargs):
        response = await gather(self, *args, **kwargs)
        values.extend(response["data"].values())
        received.append(pickle.dumps(response))
        return response

    monkeypatch.setattr(type(client), "_gather_remote", recording)
    chosen = on_cluster.choose(client, opened)
    planned = plan(len(chosen), 0.1, 1.0)
    counted = on_cluster.count(client, chosen, planned, Ledger(tmp_path / "ledger.sqlite").identify(400))
    assert counted.counts.sum() == len(chosen)
    assert received
    numbers, tally = [one for one in values if isinstance(one, np.ndarray)], values[-1]
    assert [type(one) for one in values] == [np.ndarray] * len(numbers) + [counting.Tally]
    assert all(one.shape == (2,) for one in numbers), "how many rows there are, and how many of them are used"
    assert {one.dtype.kind for one in (tally.counts, tally.novelty, tally.people.patients)} == {"i", "u"}
    sent = b"".join(received)
    labels = [list(frame.columns).index(name) for name in frame["label"]]
    for number, place in enumerate(labels):
        for value in (frame.iloc[number, place], 1 - frame.iloc[number, place]):
            assert np.float64(value).tobytes() not in sent
    assert not [name for name in set(frame["patient"]) if name.encode() + b"\x94" in sent]
    assert len(sent) < 100_000 + 8 * planned.m + 30 * len(chosen)


def test_a_worker_s_death_changes_nothing(tmp_path, monkeypatch):
    path = write_parts(records_frame(20_000), tmp_path / "ward", 60, group=50)
    monkeypatch.setattr(data_set, "ROWS_AT_ONCE", 50)
    with cluster_of(tmp_path) as running:
        running.wait_for_workers(2)
        with on_cluster.connected(running.address) as client:
            opened = open_data_set(path)
            chosen = on_cluster.choose(client, opened)
            planned = plan(len(chosen), 0.1, 1.0)
            identify = Ledger(tmp_path / "ledger.sqlite").identify(20_000)
            killed = []

            def progress(done, total):
                if done > total // 5 and not killed:
                    killed.append((done, total))
                    kill(running.workers[0])

            found = on_cluster.count(client, chosen, planned, identify, progress=progress)
        assert killed
        assert killed[0][0] < killed[0][1]
        expected = counting.count(counting.choose(opened), planned, identify)
        assert np.array_equal(found.counts, expected.counts)
        assert found.people.identity == expected.people.identity


@pytest.mark.parametrize("who", ["workers", "scheduler"])
def test_a_cluster_that_dies_costs_nothing_and_a_second_run_finishes(tmp_path, monkeypatch, capsys, who):
    path = write_parts(records_frame(20_000), tmp_path / "ward", 60, group=50)
    monkeypatch.setattr(data_set, "ROWS_AT_ONCE", 50)
    monkeypatch.setattr(jobs, "PATIENCE", 3.0)
    ledger = tmp_path / "ledger.sqlite"
    command = ["calibrate", str(path), "--epsilon", "1", "--budget", "1", "--ledger", str(ledger)]
    with cluster_of(tmp_path) as running:
        running.wait_for_workers(2)
        doomed = [*running.workers] if who == "workers" else [running.scheduler]

        class Killing(Steps):
            def __call__(self, done, total):
                if 0 < done < total:
                    for process in doomed:
                        kill(process)

        with monkeypatch.context() as patched:
            patched.setattr("ppsets_core.commands.calibrate.Steps", Killing)
            assert main([*command, "--cluster", running.address]) == 2
        assert all(process.poll() is not None for process in doomed)
        assert "of the cluster is gone. Nothing was charged." in capsys.readouterr().err
        assert Ledger(ledger).releases() == []
        if who == "workers":
            running.add_worker()
            running.wait_for_workers(1)
            assert main([*command, "--cluster", running.address]) == 0
    if who == "scheduler":
        assert main(command) == 0
    assert len(Ledger(ledger).releases()) == 1


def test_no_scheduler_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("ppsets_core.cluster.connection.SECONDS_TO_CONNECT", 1)
    with (
        pytest.raises(ClusterError, match=r"No scheduler answers at tcp://127.0.0.1:1"),
        on_cluster.connected("tcp://127.0.0.1:1"),
    ):
        pass
