"""Counts, people and plan are the same, bit for bit, of a CSV in memory and of Parquet on a cluster, in any order."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppsets_core import FileError, Ledger, one_per_patient, plan, read_scores
from ppsets_core import cluster as on_cluster
from ppsets_core.data import data_set
from ppsets_core.data.data_set import open_data_set
from ppsets_core.method.bins import bin_index
from tests.data.data_sets import records_frame, write_csv, write_parts

pytestmark = pytest.mark.cluster


@pytest.fixture(autouse=True)
def _small_tasks(monkeypatch):
    monkeypatch.setattr(data_set, "ROWS_AT_ONCE", 40)


def shuffle(folder) -> None:
    """Give the parts each other's names."""
    parts = sorted(folder.iterdir())
    moved = [part.rename(part.with_suffix(".moving")) for part in parts]
    for part, other in zip(np.random.default_rng(1).permutation(moved), parts, strict=True):
        part.rename(other)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("parts", [1, 7, 100])
def test_a_csv_in_memory_and_parts_in_any_order_on_a_cluster(client, tmp_path, parts, named):
    frame = records_frame(500)
    if named:
        frame.insert(0, "patient", [f"P{number}" for number in range(500)])
    records = one_per_patient(read_scores(write_csv(frame, tmp_path / "ward.csv")))
    folder, book = write_parts(frame, tmp_path / "ward", parts, group=20), Ledger(tmp_path / "ledger.sqlite")
    shuffle(folder)
    chosen = on_cluster.choose(client, open_data_set(folder))
    planned = plan(len(records), 0.1, 1.0, per="diagnosis", classes=records.classes)
    found = on_cluster.count(client, chosen, planned, book.identify(len(chosen)))
    expected = [bin_index(records.scores[records.labels == number], planned.m) for number in range(3)]
    assert np.array_equal(found.counts, [np.bincount(bins, minlength=planned.m + 1)[1:] for bins in expected])
    assert (len(chosen), found.unit, found.classes, found.model) == (len(records), records.unit, records.classes, None)
    people = book.cohort_of(records)
    assert found.people.identity == people.identity
    assert sorted(found.people.patients.tolist()) == sorted(people.patients.tolist())
    assert sorted(map(tuple, found.people.contents.tolist())) == sorted(map(tuple, people.contents.tolist()))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    row=st.integers(0, 299),
    damage=st.sampled_from([("normal", np.nan), ("normal", -0.5), ("viral", 1.5), ("label", "nobody")]),
    parts=st.sampled_from([1, 4, 9]),
)
def test_a_bad_row_is_refused_on_a_cluster_as_in_memory(client, tmp_path_factory, row, damage, parts):
    frame, folder = records_frame(300), tmp_path_factory.mktemp("damaged")
    frame.loc[row, damage[0]] = damage[1]
    with pytest.raises(FileError) as expected:
        read_scores(write_csv(frame, folder / "whole.csv"))
    with pytest.raises(FileError) as found:
        counted_on(client, write_parts(frame, folder / "scores", parts), Ledger(folder / "ledger.sqlite"))
    edges = np.linspace(0, 300, parts + 1).astype(int)
    part = int(np.searchsorted(edges, row, side="right")) - 1
    named = f"scores/part-{part:05d}.parquet, row {row - edges[part] + 1}"
    assert str(found.value) == str(expected.value).replace(f"whole.csv, line {row + 2}", named)


def counted_on(client, path, book):
    chosen = on_cluster.choose(client, open_data_set(path))
    return on_cluster.count(client, chosen, plan(len(chosen), 0.1, 1.0), book.identify(len(chosen)))
