"""`calibrate` from a folder of Parquet or a large CSV: the same charge and the same people as from a file in memory."""

import json
import sys

import pytest

from ppsets_core import FileError, Ledger, one_per_patient, plan, read_scores
from ppsets_core.__main__ import main
from ppsets_core.data import reader, source
from ppsets_core.data.counts import select
from ppsets_core.data.source import open_source
from ppsets_core.ledger import cohort
from tests.data.data_sets import records_frame, write_csv, write_parts
from tests.ledger.spending import cohort_of


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger.sqlite"


def calibrate(path, ledger, *more):
    return main(["calibrate", str(path), "--epsilon", "1", "--ledger", str(ledger), *more])


@pytest.mark.parametrize("patients", [None, 300])
def test_a_data_set_is_charged_to_the_people_of_the_file(tmp_path, ledger, capsys, patients):
    frame = records_frame(600, patients=patients)
    parts, csv = write_parts(frame, tmp_path / "ward", 7), write_csv(frame, tmp_path / "ward.csv")
    assert calibrate(parts, ledger, "--budget", "1", "--json", "--out", str(tmp_path / "cal.json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "cal.json").read_text()) == found
    records = one_per_patient(read_scores(csv))
    assert (found["n"], found["unit"], tuple(found["classes"])) == (len(records), records.unit, records.classes)
    assert calibrate(csv, ledger, "--dataset", "other", "--budget", "1") == 2
    assert "Not everyone in these records has room" in capsys.readouterr().err


@pytest.mark.parametrize("patients", [None, 120])
def test_people_are_the_same_in_memory_in_parts_and_as_a_whole(tmp_path, ledger, patients, monkeypatch):
    frame = records_frame(400, patients=patients)
    parts, csv = write_parts(frame, tmp_path / "ward", 7), write_csv(frame, tmp_path / "ward.csv")
    monkeypatch.setattr(source, "ROWS_AT_ONCE", 100)
    book = Ledger(ledger)
    records = one_per_patient(read_scores(csv))
    expected = cohort_of(book, records)
    chosen = select(open_source(parts))
    planned = plan(len(chosen), 0.1, 1.0)
    found = chosen.counts(planned, book.cohorts(len(chosen))).cohort
    assert (found.identity, found.counted_by) == (expected.identity, expected.counted_by)
    assert sorted(found.patients.tolist()) == sorted(expected.patients.tolist())
    assert sorted(map(tuple, found.contents.tolist())) == sorted(map(tuple, expected.contents.tolist()))
    monkeypatch.setattr(cohort, "MOST_RECORDS", 10)
    whole = chosen.counts(planned, book.cohorts(cohort.MOST_RECORDS + 10**8)).cohort
    assert (whole.identity, whole.counted_by, len(whole)) == (expected.identity, "data set", 0)


def test_a_data_set_written_anew_after_one_record_of_each_patient_was_chosen_is_refused(tmp_path, ledger):
    frame, book = records_frame(400, patients=100), Ledger(ledger)
    path = write_parts(frame, tmp_path / "ward", 1)
    chosen = select(open_source(path))
    planned = plan(len(chosen), 0.1, 1.0)
    (part,) = path.iterdir()
    frame.iloc[::-1].to_parquet(part, row_group_size=50, index=False)
    counted = chosen.counts(planned, book.cohorts(len(chosen)))
    with pytest.raises(FileError, match="it changed while it was read"):
        book.release(counted, planned, book.account_for(counted, "ward", budget=2))
    assert book.releases() == []


def test_each_diagnosis_and_each_group(tmp_path, ledger, capsys):
    path = write_parts(records_frame(600), tmp_path / "ward", 3)
    assert calibrate(path, ledger, "--budget", "9", "--per", "diagnosis", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["targets"]) == 3
    assert calibrate(path, ledger, "--per", "site", "--groups", "north,south", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["targets"]) == 2
    assert calibrate(path, ledger, "--per", "ward", "--groups", "a,b") == 2
    assert "there is no column 'ward'" in capsys.readouterr().err


def test_a_csv_beyond_the_limit_of_memory_is_read_in_blocks(tmp_path, ledger, monkeypatch):
    path = write_csv(records_frame(500), tmp_path / "ward.csv")
    for module in (reader, source):
        monkeypatch.setattr(module, "MAX_BYTES", 1000)
    assert calibrate(path, ledger, "--budget", "1") == 0


def test_what_cannot_be_counted_costs_nothing(tmp_path, ledger, capsys):
    frame = records_frame(300)
    frame.loc[250, "normal"] = 1.5
    assert calibrate(write_parts(frame, tmp_path / "ward", 3), ledger, "--budget", "1") == 2
    assert "ward/part-00002.parquet, row 51, column 'normal': the probability is outside" in capsys.readouterr().err
    assert Ledger(ledger).releases() == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cluster", "tcp://192.0.2.1:8786"], "is another machine, and tcp:// would send"),
        (["--cluster", "tls://127.0.0.1:8786"], "needs --tls-ca, --tls-cert and --tls-key"),
        (["--cluster", "127.0.0.1"], "A scheduler's address is like"),
        (["--cluster", "tcp://127.0.0.1:8786", "--workers", "2"], "not both"),
        (["--cluster", "tls://127.0.0.1:8786", "--tls-ca", "ca.pem"], "TLS takes all three"),
        (["--workers", "0"], "at least one worker"),
    ],
)
def test_an_unsafe_or_unclear_cluster_is_refused_before_anything_is_read(tmp_path, ledger, capsys, options, words):
    path = write_parts(records_frame(60), tmp_path / "ward", 1)
    assert calibrate(path, ledger, "--budget", "1", *options) == 2
    assert words in capsys.readouterr().err


def test_without_dask_a_cluster_says_what_to_install(tmp_path, ledger, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    path = write_parts(records_frame(60), tmp_path / "ward", 1)
    assert calibrate(path, ledger, "--budget", "1", "--cluster", "tcp://127.0.0.1:8786") == 2
    assert "pip install 'ppsets[cluster]'" in capsys.readouterr().err
