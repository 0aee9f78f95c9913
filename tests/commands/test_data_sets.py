"""`calibrate`, `predict` and `check` on a folder of Parquet or a large CSV: what the same rows in one file say."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ppsets_core import Calibration, FileError, Ledger, one_per_patient, plan
from ppsets_core.__main__ import main
from ppsets_core.data import parquet, read_scores, reader, source
from ppsets_core.data.counts import cover_records, select
from ppsets_core.data.source import open_source
from tests.data.data_sets import CLASSES, records_frame, write_csv, write_parts
from tests.ledger.spending import cohort_of

PER = ((), ("--per", "diagnosis"), ("--per", "site", "--groups", "north,south"))


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch):
    monkeypatch.setattr(parquet, "ROWS", 37)
    monkeypatch.setattr(source, "SETS_AT_ONCE", 130)


@pytest.fixture
def ledger(tmp_path):
    return str(tmp_path / "ledger.sqlite")


def calibrate(path, ledger, *more):
    return main(["calibrate", str(path), "--epsilon", "1", "--ledger", ledger, *more])


def calibrated(tmp_path, ledger, *more: str) -> str:
    frame, cal = records_frame(900, seed=1), tmp_path / "cal.json"
    command = ["calibrate", str(write_csv(frame, tmp_path / "cal.csv")), "--epsilon", "2", "--budget", "2"]
    assert main([*command, "--ledger", ledger, "--out", str(cal), *more]) == 0
    return str(cal)


def new_patients(rows: int = 500):
    """With names, parts of the data, and diagnoses that are missing or unknown."""
    frame = records_frame(rows, patients=200, seed=2).assign(split=np.resize(["test", "train", "test"], rows))
    frame.loc[::7, "label"] = "nobody"
    frame.loc[::11, "label"] = ""
    return frame.assign(novelty=np.linspace(0, 1, rows))


@pytest.mark.parametrize("patients", [None, 300])
def test_a_data_set_is_charged_to_the_people_of_the_file(tmp_path, ledger, capsys, patients):
    frame = records_frame(600, patients=patients)
    parts, csv = write_parts(frame, tmp_path / "ward", 7), write_csv(frame, tmp_path / "ward.csv")
    assert calibrate(parts, ledger, "--budget", "1", "--json", "--out", str(tmp_path / "cal.json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "cal.json").read_text()) == found
    records = one_per_patient(read_scores(csv))
    assert (found["n"], found["unit"], tuple(found["classes"])) == (len(records), records.unit, records.classes)
    assert calibrate(csv, ledger, "--dataset", "other" if patients else "ward", "--budget", "1", "--again") == 2
    told = capsys.readouterr().err
    assert "Not everyone in" in told
    assert ("so ε counts for everyone in 'ward'" in told) == (patients is None)


@pytest.mark.parametrize("parts", [0, 3])
def test_the_diagnoses_found_are_shown_and_a_column_of_zeros_is_none(tmp_path, ledger, capsys, parts):
    frame = records_frame(600).assign(icu=0)
    path = write_parts(frame, tmp_path / "ward", parts) if parts else write_csv(frame, tmp_path / "ward.csv")
    assert calibrate(path, ledger, "--budget", "2") == 2
    assert "the column 'icu' is 0 in every record and no label names it" in capsys.readouterr().err
    assert calibrate(path, ledger, "--budget", "2", "--classes", ",".join(CLASSES)) == 0
    assert "Diagnoses: bacterial, normal, viral." in capsys.readouterr().err
    frame.loc[17, "label"] = "icu"
    named = write_parts(frame, tmp_path / "named", parts) if parts else write_csv(frame, tmp_path / "named.csv")
    assert calibrate(named, ledger, "--budget", "2") == 0, "a diagnosis that the model never finds likely"
    assert [one.account for one in Ledger(ledger).releases()] == ["ward", "named"]


@pytest.mark.parametrize("blank", [[], [17]])
def test_a_blank_name_is_noticed_in_a_data_set_as_in_memory(tmp_path, blank):
    frame = records_frame(100, patients=40)
    frame.loc[blank, "patient"] = ""
    records = read_scores(write_csv(frame, tmp_path / "ward.csv"))
    chosen = select(open_source(write_parts(frame, tmp_path / "ward", 3)))
    assert chosen.names_everyone == records.names_everyone == (not blank)


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


def test_a_csv_beyond_the_limit_of_memory_is_read_in_blocks(tmp_path, ledger, monkeypatch):
    path = write_csv(records_frame(500), tmp_path / "ward.csv")
    for module in (reader, source):
        monkeypatch.setattr(module, "MAX_BYTES", 1000)
    assert calibrate(path, ledger, "--budget", "1") == 0


@pytest.mark.parametrize(("per", "parts", "split"), [*((per, 7, ()) for per in PER), (PER[0], 1, ("--split", "test"))])
def test_sets_and_their_check_are_those_of_one_file(tmp_path, ledger, capsys, per, parts, split):
    cal, frame = calibrated(tmp_path, ledger, *per), new_patients()
    csv, folder = write_csv(frame, tmp_path / "new.csv"), write_parts(frame, tmp_path / "new", parts)
    one, many = tmp_path / "sets.parquet", tmp_path / "sets"
    capsys.readouterr()
    for path, out in ((csv, one), (folder, many)):
        assert main(["predict", str(path), "--calibration", cal, "--out", str(out), "--json"]) == 0
    whole, short = capsys.readouterr().out.split("\n}\n{", 1)
    whole, short = json.loads(whole + "}"), json.loads("{" + short)
    assert short["counts"] == whole["counts"]
    assert short["written"] == len(whole["sets"]) == 500
    assert short["notes"] == whole["notes"]
    assert len(list(many.iterdir())) > 1
    expected, found = pq.read_table(one), pq.read_table(many)
    assert found.replace_schema_metadata(None) == expected.replace_schema_metadata(None).cast(found.schema)
    mark = json.loads(pq.read_schema(next(many.iterdir())).metadata[b"ppsets"])
    assert Calibration.from_json(json.dumps(mark["calibration"])).to_json() == Path(cal).read_text()
    said = []
    for path in (csv, folder):
        assert main(["check", str(path), "--calibration", cal, "--json", *split]) == 0
        said.append(capsys.readouterr())
    assert said[0] == said[1]
    assert "rows are not checked" in said[0].err


def test_rows_without_a_name_are_identified_by_part_and_row(tmp_path, ledger, capsys):
    cal, frame = calibrated(tmp_path, ledger), records_frame(200)
    folder = write_parts(frame, tmp_path / "new", 3)
    assert main(["predict", str(folder), "--calibration", cal, "--out", str(tmp_path / "sets")]) == 0
    assert "200 sets are in" in capsys.readouterr().out
    found = pq.read_table(tmp_path / "sets").to_pandas()
    assert (found["part"] + " " + found["row"]).is_unique
    assert found.loc[70, ["part", "row"]].tolist() == ["new/part-00001.parquet", "5"]
    assert np.array_equal(found[[f"p({name})" for name in CLASSES]], frame[list(CLASSES)])


@pytest.mark.parametrize("every", [False, True])
def test_a_private_check_counts_and_charges_whom_one_file_does(tmp_path, ledger, every):
    calibration = Calibration.from_json(Path(calibrated(tmp_path, ledger)).read_text())
    frame, book = new_patients(), Ledger(ledger)
    records = read_scores(write_csv(frame, tmp_path / "new.csv"), classes=CLASSES, labels="optional").labelled()
    opened = open_source(write_parts(frame, tmp_path / "new", 7), classes=CLASSES, labels="optional")
    chosen = select(opened, all_records=every)
    found = chosen.coverage(calibration, book.cohorts(len(chosen)))
    expected, people = cover_records(records, calibration), cohort_of(book, one_per_patient(records))
    assert (len(found), found.unit, found.classes) == (len(expected), expected.unit, expected.classes)
    assert np.array_equal(found.by_class, expected.by_class)
    assert np.array_equal(found.by_size, expected.by_size)
    assert found.cohort.people.cells == people.people.cells


def test_more_than_can_be_counted_one_by_one(tmp_path, ledger, monkeypatch):
    """The check of a data set that counts for everyone in its account, and for nobody in another."""
    cal, folder = calibrated(tmp_path, ledger), write_parts(records_frame(300), tmp_path / "new", 3)
    monkeypatch.setattr("ppsets_core.ledger.charging.MOST_RECORDS", 100)
    command = ["check", str(folder), "--calibration", cal, "--private", "--epsilon", "1", "--ledger", ledger]
    assert main([*command, "--budget", "1"]) == 0
    assert Ledger(ledger).releases("new")[-1].counted_by == "account"
    assert main([*command, "--dataset", "another", "--budget", "1"]) == 0
