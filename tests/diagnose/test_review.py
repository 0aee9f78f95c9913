"""Review marks: of an X-ray and its set, exported with every row."""

import numpy as np

from ppsets_core.diagnose import Answer, Finding
from ppsets_core.diagnose.review import Mark, Marks
from ppsets_core.diagnose.table import rows_of
from ppsets_core.novelty import Watch

CLASSES = ("normal", "viral")


def answer(number: int, *members: str) -> Answer:
    return Answer(number, Finding(f"{number}.png", np.array([0.5, 0.5]), "", b""), members, CLASSES, Watch(None))


def test_nothing_is_marked_at_first():
    marks = Marks()
    assert marks.of(answer(0, "normal")) == Mark()
    assert Mark().words == ""


def test_a_mark_stands_for_its_set_only():
    marks = Marks()
    marks.put(answer(0, "normal"), Mark("agree"))
    assert marks.of(answer(0, "normal")).verdict == "agree"
    assert marks.of(answer(0, "normal", "viral")).verdict == ""
    assert marks.of(answer(1, "normal")).verdict == ""


def test_rows_carry_the_review():
    marks = Marks()
    marks.put(answer(0, "normal"), Mark("another", "viral", "left base"))
    marks.put(answer(1, "normal"), Mark("agree", "viral", "=1+1"))
    rows = rows_of([answer(0, "normal"), answer(1, "normal"), answer(2)], marks)
    assert [row["review"] for row in rows] == ["Another diagnosis", "Agree", ""]
    assert [row["reviewer's diagnosis"] for row in rows] == ["viral", "", ""]
    assert [row["reviewer's note"] for row in rows] == ["left base", "'=1+1", ""]
    assert "review" not in rows_of([answer(0)])[0]


def test_words():
    assert Mark("another", "viral").words == "Another diagnosis: viral"
    assert Mark("agree", "viral").words == "Agree"
    assert Mark(note="blurred").words == "Note"
