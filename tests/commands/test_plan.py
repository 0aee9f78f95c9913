"""`ppsets plan`."""

import json
import re

import pytest

from ppsets_core import plan
from ppsets_core.__main__ import main
from ppsets_core.wording import PROTECTED
from tests.data.data_sets import CLASSES, records_frame, write_csv


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--method sharp", {"method": "sharp"}),
        ("--per diagnosis --classes 3", {"per": "diagnosis", "classes": 3}),
        ("--per diagnosis --classes a,b", {"per": "diagnosis", "classes": ["a", "b"]}),
        ("--per site --groups north,south", {"per": "site", "groups": ["north", "south"]}),
    ],
)
def test_json_is_the_plan_and_text_names_the_groups(capsys, options, expected):
    command = ["plan", "--n", "900", "--epsilon", "2", *options.split()]
    assert main([*command, "--json"]) == 0
    document, chosen = json.loads(capsys.readouterr().out), plan(900, 0.1, 2.0, **expected)
    assert document == chosen.document()
    assert {"m", "rank", "level", "coverage_lower", "coverage_expected", "is_trivial"} <= set(document)
    assert main(command) == 0
    captured = capsys.readouterr().out
    if (per := expected.get("per")) is not None:
        assert (document["rank"], document["level"]) == (None, None)
        assert f"{per}, {chosen.groups} of them, ε = 1 in each" in captured
        assert f"Within each {per}, the true diagnosis is in the set with probability at least 90%" in captured


def test_text_names_every_choice_and_the_guarantee(capsys):
    assert main(["plan", "--n", "1000", "--epsilon", "10", "--m", "10000", "--method", "paper"]) == 0
    out = capsys.readouterr().out
    for words in (
        "m = 10,000",
        "γ = 0.00221902",
        "0.904625",
        "at least 90%",
        "10-differential privacy, which is weak",
        "a factor of 22,000",
    ):
        assert words in out
    main(["plan", "--n", "1000", "--epsilon", "1"])
    assert "weak" not in capsys.readouterr().out


def test_a_trivial_plan_says_what_would_be_enough(capsys):
    assert main(["plan", "--n", "100", "--epsilon", "0.02", "--method", "sharp"]) == 0
    out = capsys.readouterr().out
    records = int(re.search(r"ε = 0.02 you need (\d+) records", out)[1])
    assert not plan(records, 0.1, 0.02, method="sharp").is_trivial
    assert plan(records - 1, 0.1, 0.02, method="sharp").is_trivial
    epsilon = float(re.search(r"with 100 records you need ε = ([\d.]+)\.", out)[1])
    assert not plan(100, 0.1, epsilon, method="sharp").is_trivial
    assert plan(100, 0.1, 0.99 * epsilon, method="sharp").is_trivial


@pytest.mark.parametrize(("option", "n", "unit"), [([], 70, "patient"), (["--all-records"], 140, "record")])
def test_a_score_file_is_planned_for_as_it_would_be_calibrated(tmp_path, monkeypatch, capsys, option, n, unit):
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    frame = records_frame(140).assign(patient=[f"P{row // 2}" for row in range(140)])
    command = [str(write_csv(frame, tmp_path / "ward.csv")), "--epsilon", "2", "--per", "diagnosis", *option]
    assert main(["plan", *command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["n"], document) == (n, plan(n, 0.1, 2.0, per="diagnosis", classes=CLASSES).document())
    assert main(["plan", *command]) == 0
    assert f"Each {PROTECTED[unit]} is protected" in capsys.readouterr().out
    assert not (tmp_path / "home").exists()
