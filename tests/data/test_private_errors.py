"""A refusal says where, never what: no score, patient or label of the file is in its sentence."""

import pytest

from ppsets_core import FileError, read_scores
from ppsets_core.xrays.labels import parse_labels

SCORE, OUTSIDE, PATIENT, LABEL = "0.7312845193", "7.312845193", "Zwingliana Quark", "rare-finding-xq"


@pytest.mark.parametrize(
    "text",
    [
        f"patient,score\n{PATIENT},{SCORE}\n{PATIENT} 2,{OUTSIDE}\n",
        f"patient,score\n{PATIENT},{SCORE}\nb,{SCORE}x\nc,0.1\nd,0.2\n",
        f"patient,score,score\n{PATIENT},{SCORE},{SCORE}\n",
        f"{PATIENT},{SCORE}\nb,{OUTSIDE}\n",
        f"{PATIENT},{SCORE}\nb,0.5\n",
        f"{PATIENT},{PATIENT},{SCORE}\nb,b,0.5\n",
        f"{PATIENT};{LABEL};0,7312845193;0,2687154807\nb;{LABEL};0,5;0,5\n",
        f"patient,label,a,b\n{PATIENT},{LABEL},{SCORE},0.2687154807\nc,a,0.5,0.5\n",
        f"patient,label,a,b\n{PATIENT},a,{SCORE},{SCORE}\n",
        f"patient,score\n{PATIENT},{SCORE},{SCORE}\n",
        f"{SCORE}\n{PATIENT}\n0.3\n0.2\n",
        f'[{{"patient": "{PATIENT}", "score": {OUTSIDE}}}]',
        f'[{{"patient": "{PATIENT}", "score": [{SCORE}]}}]',
        f'{{"score": [0.5, {SCORE}',
    ],
)
def test_score_file(text):
    with pytest.raises(FileError) as refused:
        read_scores(text.encode(), "scores")
    assert_silent(str(refused.value))


def test_labels_file_without_a_header():
    with pytest.raises(FileError) as refused:
        parse_labels(f"a.png,{LABEL},{PATIENT}\n".encode())
    assert_silent(str(refused.value))


def assert_silent(sentence: str) -> None:
    assert not [mark for mark in (SCORE, OUTSIDE, PATIENT, LABEL, "7312845193") if mark in sentence]
