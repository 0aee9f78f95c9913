"""`ppsets plan`."""

import json
import re
import subprocess
import sys

import pytest

from ppsets_core import plan
from ppsets_core.__main__ import main


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--method sharp", {"method": "sharp"}),
        ("--per diagnosis --classes 3", {"per": "diagnosis", "classes": 3}),
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
    told = capsys.readouterr().out
    if (per := expected.get("per")) is not None:
        assert (document["rank"], document["level"]) == (None, None)
        assert f"{per}, {chosen.groups} of them, ε = 1 in each" in told
        assert f"Within each {per}, the true diagnosis is in the set with probability at least 90%" in told


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


@pytest.mark.parametrize(("option", "value"), [("--epsilon", "-1"), ("--alpha", "0.9"), ("--m", "1"), ("--gamma", "2")])
def test_a_refusal_is_one_sentence_on_stderr(option, value):
    options = {"--n": "1000", "--epsilon": "1"} | {option: value}
    command = [sys.executable, "-m", "ppsets_core", "plan", *(word for pair in options.items() for word in pair)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"ppsets: {option[2:]} must")
    assert done.stderr.count("\n") == 1
