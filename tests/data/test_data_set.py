"""A data set of any size says, bit for bit, what the same records in memory say, or refuses them in the same words."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppsets_core import FileError, Plan, Records, one_per_patient, plan, read_scores
from ppsets_core.data import delimited, parquet
from ppsets_core.data import source as reading
from ppsets_core.data.counts import select
from ppsets_core.data.source import open_source
from ppsets_core.method.bins import bin_index
from ppsets_core.method.counts import Counts
from tests.data.data_sets import Used, records_frame, write_csv, write_parts


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch):
    """Batches, blocks and tasks of a few rows, so that a small data set has many of each."""
    monkeypatch.setattr(parquet, "ROWS", 37)
    monkeypatch.setattr(delimited, "BLOCK", 2000)
    monkeypatch.setattr(reading, "ROWS_AT_ONCE", 130)


def plainly_counted(records: Records, planned: Plan) -> list[list[int]]:
    own = {None: None, "diagnosis": records.labels}.get(planned.per, records.groups.get("site"))
    names = {None: [None], "diagnosis": range(planned.groups)}.get(planned.per, planned.group_names)
    parts = (records.scores if name is None else records.scores[own == name] for name in names)
    return [np.histogram(bin_index(part, planned.m), planned.m, (0.5, planned.m + 0.5))[0].tolist() for part in parts]


def counted(path: Path, per: str | None = None) -> Counts:
    chosen = select(open_source(path, group="site" if per == "site" else None))
    return chosen.counts(planned_for(len(chosen), per, chosen.classes), Used)


def planned_for(n: int, per: str | None, classes: tuple[str, ...]) -> Plan:
    groups = ["north", "south"] if per == "site" else None
    return plan(n, 0.1, 1.0, per=per, classes=classes if per == "diagnosis" else None, groups=groups)


@pytest.mark.parametrize("patients", [None, 90])
@pytest.mark.parametrize("per", [None, "diagnosis", "site"])
@pytest.mark.parametrize("parts", [1, 7, 100])
def test_counts_people_and_plan_are_those_of_the_records_in_memory(tmp_path, patients, per, parts):
    frame = records_frame(500, patients=patients)
    csv = write_csv(frame, tmp_path / "scores.csv")
    records = one_per_patient(read_scores(csv, group="site" if per == "site" else None))
    planned = planned_for(len(records), per, records.classes)
    for path in (csv, write_parts(frame, tmp_path / "scores", parts)):
        found, expected = counted(path, per), records.counts(planned, Used)
        assert [bins.tolist() for bins in found.bins] == plainly_counted(records, planned)
        for fact in ("plan", "n", "unit", "classes", "model", "score", "cohort"):
            assert getattr(found, fact) == getattr(expected, fact)


@pytest.mark.parametrize("column", ["split", "patient", "Subject_ID"])
def test_folders_that_stand_for_a_column_are_refused(tmp_path, column):
    frame = records_frame(40, patients=4).rename(columns={"patient": column})
    frame.to_parquet(tmp_path / "scores", partition_cols=[column])
    with pytest.raises(FileError, match=f"named '{column}=…'.*Write it into the files"):
        open_source(tmp_path / "scores")


def test_folders_of_dates_and_endings_in_capitals_are_read(tmp_path):
    (tmp_path / "scores" / "date=2026-01-31").mkdir(parents=True)
    records_frame(40).to_parquet(tmp_path / "scores" / "date=2026-01-31" / "PART.PARQUET")
    assert len(counted(tmp_path / "scores")) == 40


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    row=st.integers(0, 299),
    damage=st.sampled_from(
        [("normal", np.nan), ("normal", -0.5), ("viral", 1.5), ("label", "nobody"), ("viral", 0.9999)]
    ),
    parts=st.sampled_from([1, 4, 9]),
)
def test_a_bad_row_is_refused_as_in_memory_and_named_by_its_part(tmp_path_factory, row, damage, parts):
    column, value = damage
    frame = records_frame(300)
    frame.loc[row, column] = value
    folder = tmp_path_factory.mktemp("damaged")
    with pytest.raises(FileError) as expected:
        read_scores(write_csv(frame, folder / "whole.csv"))
    with pytest.raises(FileError) as found:
        counted(write_parts(frame, folder / "scores", parts))
    edges = np.linspace(0, 300, parts + 1).astype(int)
    part = int(np.searchsorted(edges, row, side="right")) - 1
    named = f"scores/part-{part:05d}.parquet, row {row - edges[part] + 1}"
    assert str(found.value) == str(expected.value).replace(f"whole.csv, line {row + 2}", named)


def test_every_part_must_have_the_columns_of_the_first(tmp_path):
    path = write_parts(records_frame(100), tmp_path / "scores", 2)
    records_frame(50).drop(columns="viral").to_parquet(path / "part-00001.parquet", index=False)
    with pytest.raises(FileError, match=r"^scores/part-00001.parquet: its columns are not those of scores/part-00000"):
        open_source(path)


def test_a_part_that_is_damaged_missing_or_empty(tmp_path):
    path = write_parts(records_frame(100), tmp_path / "scores", 2)
    opened = open_source(path)
    (path / "part-00001.parquet").write_bytes(b"PAR1 and no more PAR1")
    with pytest.raises(FileError, match=r"part-00001.parquet: the Parquet file is damaged"):
        open_source(path)
    (path / "part-00001.parquet").unlink()
    with pytest.raises(FileError, match=r"part-00001.parquet: it cannot be opened"):
        select(opened).counts(planned_for(100, None, ()), Used)
    (tmp_path / "bare").mkdir()
    with pytest.raises(FileError, match="no Parquet file"):
        open_source(tmp_path / "bare")
    with pytest.raises(FileError, match="no such file or folder"):
        open_source(tmp_path / "nowhere")
    pq.write_table(pa.table({"score": pa.array([], pa.float64())}), tmp_path / "none.parquet")
    with pytest.raises(FileError, match="it is empty"):
        open_source(tmp_path / "none.parquet")


def test_a_data_set_that_grows_while_it_is_read_is_refused(tmp_path):
    path = write_parts(records_frame(100), tmp_path / "scores", 2)
    chosen = select(open_source(path))
    records_frame(60).to_parquet(path / "part-00001.parquet", index=False)
    with pytest.raises(FileError, match="it changed while it was read"):
        chosen.counts(planned_for(100, None, chosen.classes), Used)


@pytest.mark.parametrize("patients", [None, 60])
@pytest.mark.parametrize("split", [None, "calibration"])
def test_training_rows_are_never_used_and_one_part_may_be_chosen(tmp_path, split, patients):
    frame = records_frame(300, patients=patients).assign(split=np.resize(["train", "calibration", "test"], 300))
    csv = write_csv(frame, tmp_path / "scores.csv")
    records = one_per_patient(read_scores(csv, split=split))
    for path in (csv, write_parts(frame, tmp_path / "scores", 5)):
        chosen = select(open_source(path, split=split))
        found = chosen.counts(planned_for(len(chosen), None, ()), Used)
        assert found.cohort == records.counts(found.plan, Used).cohort
        assert chosen.read == (200 if split is None else 100)


def test_a_part_that_is_a_link_out_of_the_folder_is_refused(tmp_path):
    """A folder of the server must not open what lies beside it."""
    folder, outside = tmp_path / "ward", tmp_path / "elsewhere"
    for place in (folder, outside):
        place.mkdir()
        pq.write_table(pa.table({"score": [0.1, 0.2]}), place / "part-0.parquet")
    (folder / "part-1.parquet").symlink_to(folder / "part-0.parquet")
    assert open_source(folder).rows == 4
    (folder / "part-2.parquet").symlink_to(outside / "part-0.parquet")
    with pytest.raises(FileError, match=r"part-2\.parquet: it is a link that leads out of the folder"):
        open_source(folder)
