import io
import json

import pytest

from ppsets_core.__main__ import main
from ppsets_core.commands.experiment import NAMES
from ppsets_core.progress import ProgressBar


def test_an_experiment_writes_numbers_and_a_page_that_works_offline(tmp_path, capsys):
    assert main(["experiment", "coronahack", "--splits", "5", "--seed", "3", "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr()
    assert "Median coverage and mean set size" in shown.out
    document = json.loads((tmp_path / "out" / "coronahack.json").read_text(encoding="utf-8"))
    assert document["command"] == "python -m ppsets_core experiment coronahack --seed 3 --splits 5"
    assert len(document["numbers"]["nonprivate"]["coverage"]) == 5
    page = (tmp_path / "out" / "coronahack.html").read_text(encoding="utf-8")
    assert page.count("<section>") == 4
    assert len(page) > 1_000_000, "plotly's script is inside"
    assert main(["experiment", "coronahack", "--splits", "2", "--json", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == (tmp_path / "coronahack.json").read_text(encoding="utf-8")


def test_every_experiment_has_help(capsys):
    for name in NAMES:
        with pytest.raises(SystemExit) as end:
            main(["experiment", name, "--help"])
        assert end.value.code == 0
        assert "--seed" in capsys.readouterr().out


def test_the_bar_fills_up_for_people_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal, pipe = Terminal(), io.StringIO()
    for bar in (ProgressBar("levels", terminal), ProgressBar("levels", pipe)):
        for done in range(1, 5):
            bar(done, 4)
    assert "levels [#######" in terminal.getvalue()
    assert terminal.getvalue().endswith("4 of 4\n")
    assert pipe.getvalue() == ""
