"""A folder's probabilities as parts: resumed, checked, and never mixed with another run's."""

import json

import pytest

from ppsets_core.__main__ import main
from ppsets_core.data.source import open_source
from ppsets_core.model import scored_parts
from tests.drawn_xrays import write_folder


@pytest.fixture
def xrays(tmp_path, monkeypatch):
    monkeypatch.setattr(scored_parts, "XRAYS", 3)
    write_folder(tmp_path / "xrays", 7, seed=1)
    return tmp_path / "xrays"


def score(xrays, out, *more):
    return main(["score", str(xrays), "--out", str(out), *more])


def test_parts_are_kept_checked_and_finished(tmp_path, xrays, capsys, monkeypatch):
    out = tmp_path / "scores"
    written = []
    write = scored_parts.write_part

    def stop_after_one(job, *alone):
        if written:
            raise KeyboardInterrupt
        written.append(job)
        return write(job, *alone)

    with monkeypatch.context() as patched:
        patched.setattr(scored_parts, "write_part", stop_after_one)
        assert score(xrays, out) == 130
    assert "stopped" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["part-00000.parquet"]
    before = (out / "part-00000.parquet").stat().st_mtime_ns
    assert score(xrays, out, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"out": str(out), "scored": 7, "parts": 3, "refused": []}
    assert (out / "part-00000.parquet").stat().st_mtime_ns == before
    opened = open_source(out)
    assert (opened.rows, opened.classes) == (7, ("bacterial-pneumonia", "normal", "viral-pneumonia"))
    assert (out / "_refused.csv").read_text().strip() == "file,reason"


def test_parts_of_other_x_rays_or_none_are_refused(tmp_path, xrays, capsys):
    out = tmp_path / "scores"
    assert score(xrays, out) == 0
    first = next(path for path in sorted(xrays.rglob("*.png")))
    first.rename(first.with_name("renamed.png"))
    assert score(xrays, out) == 2
    assert "was written for other X-rays, labels or weights" in capsys.readouterr().err
    (out / "part-00009.parquet").write_text("something")
    assert score(xrays, out) == 2
    assert "holds part-00009.parquet, which is no part of this" in capsys.readouterr().err
