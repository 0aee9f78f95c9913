"""Workers and schedulers that are killed: a worker's death changes nothing, a cluster's death costs nothing."""

import pyarrow.parquet as pq
import pytest

from ppsets_core import Calibration, Ledger, progress
from ppsets_core.__main__ import main
from ppsets_core.data import source
from tests.cluster.running import cluster_of, kill
from tests.data.data_sets import records_frame, write_parts

pytestmark = pytest.mark.cluster


@pytest.fixture
def ward(tmp_path, monkeypatch):
    monkeypatch.setattr("ppsets_core.run.PATIENCE", 3.0)
    for name in ("ROWS_AT_ONCE", "SETS_AT_ONCE"):
        monkeypatch.setattr(source, name, 200)
    return write_parts(records_frame(12_000), tmp_path / "ward", 60, group=200)


def killing(monkeypatch, command: str, processes) -> None:
    """Kill them once some tasks are done."""

    class Killing(progress.ProgressBar):
        def __call__(self, done, total):
            if 0 < done < total:
                for process in processes:
                    kill(process)

    monkeypatch.setattr(f"ppsets_core.commands.{command}.ProgressBar", Killing)


@pytest.mark.parametrize("who", ["a worker", "workers", "scheduler"])
def test_deaths_amid_a_release_and_amid_sets(ward, tmp_path, monkeypatch, capsys, who):
    ledger, first = tmp_path / "ledger.sqlite", tmp_path / "cal.json"
    calibrate = ["calibrate", str(ward), "--epsilon", "1", "--ledger", str(ledger)]
    assert main([*calibrate, "--budget", "9", "--dataset", "earlier", "--out", str(first)]) == 0
    predict = ["predict", str(ward), "--calibration", str(first), "--out"]
    for command, arguments in (
        ("calibrate", [*calibrate, "--budget", "9"]),
        ("predict", [*predict, str(tmp_path / "there")]),
    ):
        with cluster_of(tmp_path) as running, monkeypatch.context() as patched:
            running.wait_for_workers(2)
            workers = running.workers
            doomed = {"a worker": workers[:1], "workers": [*workers], "scheduler": [running.scheduler]}[who]
            killing(patched, command, doomed)
            code = main([*arguments, "--cluster", running.address])
            assert all(process.poll() is not None for process in doomed)
        assert code == (0 if who == "a worker" else 2)
        if who != "a worker":
            gone = "Every worker" if who == "workers" else "The scheduler"
            assert f"{gone} is gone. Nothing was charged." in capsys.readouterr().err
    assert len(Ledger(ledger).releases()) == (2 if who == "a worker" else 1)
    assert (tmp_path / "there").exists() == (who == "a worker")
    assert main([*calibrate, "--dataset", "again", "--budget", "9"]) == 0, "another run finishes"
    if who == "a worker":
        assert main([*predict, str(tmp_path / "here")]) == 0
        assert pq.read_table(tmp_path / "there").equals(pq.read_table(tmp_path / "here"))
        one, other = (release.calibration for release in Ledger(ledger).releases()[:2])
        assert isinstance(other, Calibration)
        assert (one.plan, one.classes) == (other.plan, other.classes)
