"""Sets and checks of a data set on a cluster: those of one process, whatever is killed meanwhile."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from ppsets_core import Ledger, plan, simulate
from ppsets_core import cluster as on_cluster
from ppsets_core.__main__ import main
from ppsets_core.cluster import jobs
from ppsets_core.commands.cluster_options import Steps
from ppsets_core.data import data_set
from ppsets_core.data.checked import check_data_set
from ppsets_core.data.counting import choose
from ppsets_core.data.data_set import open_data_set
from ppsets_core.diagnose.patient_parts import write_sets
from ppsets_core.errors import FileError
from tests.cluster.running import cluster_of, kill
from tests.data.data_sets import CLASSES, records_frame, write_parts

pytestmark = pytest.mark.cluster


@pytest.fixture(autouse=True)
def _small_tasks(monkeypatch):
    monkeypatch.setattr(data_set, "SETS_AT_ONCE", 40)


@pytest.fixture
def calibration():
    scores = np.linspace(0, 0.9, 1000)
    return simulate(scores, plan(len(scores), 0.1, 5.0), np.random.default_rng(0))


def test_sets_and_checks_are_those_of_one_process(client, tmp_path, calibration):
    path = write_parts(records_frame(500, patients=90), tmp_path / "ward", 7, group=20)
    opened = open_data_set(path, classes=CLASSES, labels="optional")
    tally = on_cluster.predict(client, opened, calibration, tmp_path / "there")
    assert tally == write_sets(opened, calibration, tmp_path / "here") == on_cluster.tally(client, opened, calibration)
    assert len(tally) == 500
    assert pq.read_table(tmp_path / "there").equals(pq.read_table(tmp_path / "here"))
    identify = Ledger(tmp_path / "ledger.sqlite").identify(500)
    here = check_data_set(choose(opened), calibration, identify)
    there = on_cluster.check(client, on_cluster.choose(client, opened), calibration, identify)
    assert (here.unit, len(here), here.read) == (there.unit, len(there), there.read)
    assert np.array_equal([here.covered, here.missed], [there.covered, there.missed])
    assert here.people.identity == there.people.identity


def test_a_bad_row_is_named_and_nothing_stays(client, tmp_path, calibration):
    frame = records_frame(300)
    frame.loc[[120, 280], "normal"] = np.nan
    opened = open_data_set(write_parts(frame, tmp_path / "ward", 7, group=20), classes=CLASSES, labels="optional")
    place = r"ward/part-00002.parquet, row 36, column 'normal': the value is missing"
    with pytest.raises(FileError, match=place):
        on_cluster.predict(client, opened, calibration, tmp_path / "sets")
    with pytest.raises(FileError, match=place):
        on_cluster.check(client, opened, calibration)
    assert not (tmp_path / "sets").exists()


@pytest.mark.parametrize("who", ["a worker", "workers"])
def test_deaths_amid_predict(tmp_path, calibration, monkeypatch, capsys, who):
    path = write_parts(records_frame(12_000), tmp_path / "ward", 60, group=200)
    (tmp_path / "cal.json").write_text(calibration.to_json())
    monkeypatch.setattr(jobs, "PATIENCE", 3.0)
    command = ["predict", str(path), "--calibration", str(tmp_path / "cal.json"), "--out"]
    with cluster_of(tmp_path) as running:
        running.wait_for_workers(2)
        doomed = running.workers[:1] if who == "a worker" else [*running.workers]

        class Killing(Steps):
            def __call__(self, done, total):
                if 0 < done < total:
                    for process in doomed:
                        kill(process)

        with monkeypatch.context() as patched:
            patched.setattr("ppsets_core.commands.predict.Steps", Killing)
            code = main([*command, str(tmp_path / "there"), "--cluster", running.address])
    assert all(process.poll() is not None for process in doomed)
    if who == "workers":
        assert code == 2
        assert "Every worker of the cluster is gone" in capsys.readouterr().err
        assert not (tmp_path / "there").exists()
        return
    assert code == 0
    assert main([*command, str(tmp_path / "here")]) == 0
    assert pq.read_table(tmp_path / "there").equals(pq.read_table(tmp_path / "here"))
