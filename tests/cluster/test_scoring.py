"""Scoring on a cluster: the probabilities of one process, whatever is killed; what is written stays."""

import pandas as pd
import pytest

from ppsets_core.__main__ import main
from ppsets_core.cluster import jobs
from ppsets_core.cluster.connection import connected
from ppsets_core.commands.cluster_options import Steps
from ppsets_core.model import scored_parts
from ppsets_core.synthetic import write_folder
from tests.cluster.running import cluster_of, kill

pytestmark = pytest.mark.cluster


@pytest.fixture
def xrays(tmp_path, monkeypatch):
    monkeypatch.setattr(scored_parts, "XRAYS", 4)
    write_folder(tmp_path / "xrays", 24, seed=3)
    (tmp_path / "xrays" / "normal" / "note.png").write_text("no picture")
    return tmp_path / "xrays"


def test_deaths_change_nothing_and_a_second_run_finishes_what_was_left(tmp_path, xrays, monkeypatch, capsys):
    assert main(["score", str(xrays), "--out", str(tmp_path / "here.csv")]) == 0
    expected = pd.read_csv(tmp_path / "here.csv")
    monkeypatch.setattr(jobs, "PATIENCE", 3.0)
    out = tmp_path / "scores"
    with cluster_of(tmp_path) as running:
        running.wait_for_workers(2)
        command = ["score", str(xrays), "--out", str(out), "--cluster", running.address]

        class Killing(Steps):
            """Kills one worker amid the parts, and the other soon after."""

            def __call__(self, done, total):
                for number, process in enumerate(running.workers):
                    if 0 < done + number < total and done > number:
                        kill(process)

        with monkeypatch.context() as patched:
            patched.setattr("ppsets_core.commands.score.Steps", Killing)
            assert main(command) == 2
        assert "Every worker of the cluster is gone" in capsys.readouterr().err
        written = {path: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
        assert 0 < len(written) < 6
        running.add_worker()
        running.add_worker()
        running.wait_for_workers(2)
        assert main(command) == 0
    assert "24 X-rays scored, 1 left out: 6 parts" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in written} == written
    found = pd.read_parquet(out).sort_values("file", ignore_index=True)
    expected = expected.sort_values("file", ignore_index=True)
    assert found[["file", "label", "model"]].equals(expected[["file", "label", "model"]].astype(found["file"].dtype))
    classes = [name for name in expected if name not in ("file", "label", "model")]
    assert (found[classes] - expected[classes]).abs().max().max() < 1e-6
    assert "note.png" in (out / "_refused.csv").read_text()


@pytest.mark.parametrize("who", ["a worker", "scheduler"])
def test_one_worker_s_death_is_not_noticed_and_the_scheduler_s_is_said(tmp_path, xrays, monkeypatch, capsys, who):
    assert main(["score", str(xrays), "--out", str(tmp_path / "here")]) == 0
    monkeypatch.setattr(jobs, "PATIENCE", 3.0)
    out = tmp_path / "scores"
    command = ["score", str(xrays), "--out", str(out)]
    with cluster_of(tmp_path) as running:
        running.wait_for_workers(2)
        doomed = running.workers[0] if who == "a worker" else running.scheduler

        class Killing(Steps):
            def __call__(self, done, total):
                if 0 < done < total:
                    kill(doomed)

        with monkeypatch.context() as patched:
            patched.setattr("ppsets_core.commands.score.Steps", Killing)
            code = main([*command, "--cluster", running.address])
        assert doomed.poll() is not None
    if who == "scheduler":
        assert code == 2
        assert "The scheduler of the cluster is gone" in capsys.readouterr().err
        code = main(command)
    assert code == 0
    found, expected = (
        pd.read_parquet(path).sort_values("file", ignore_index=True) for path in (out, tmp_path / "here")
    )
    pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("workers", [1, 3])
def test_there_are_as_many_workers_as_asked_for_each_with_one_thread_and_nothing_on_disk(workers):
    def threads() -> int:
        import torch

        return torch.get_num_threads()

    def on_disk(dask_worker) -> tuple[object, object]:
        memory = dask_worker.memory_manager
        return memory.memory_target_fraction, memory.memory_spill_fraction

    with connected(workers=workers) as client:
        assert list(client.run(threads).values()) == [1] * workers
        assert list(client.run(on_disk).values()) == [(False, False)] * workers
