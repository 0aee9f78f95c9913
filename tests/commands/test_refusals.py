"""Whatever a command cannot do, it says in one sentence before anything is written or spent."""

import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from ppsets_core import Ledger, calibrate, read_scores
from ppsets_core.__main__ import main
from ppsets_core.model import save_model
from tests.data.data_sets import records_frame, write_csv, write_parts
from tests.many_classes import table
from tests.model.chests import png_folder, small_model

PER_SITE = "calibrate ward.csv --epsilon 1 --budget 5 --per site"
PER_DIAGNOSIS = "calibrate ward.csv --epsilon 1 --budget 5 --per diagnosis"
CLUSTER = "calibrate ward --epsilon 1 --budget 1 --cluster"
SPEND = "calibrate scores.csv --score lac --epsilon 1"
PREDICT = "predict {} --calibration {}"
CHECK = "check {} --calibration ward.json"
SCORE = "score xrays --weights small.safetensors --out {}"
TRAIN = "train xrays --out new.safetensors --from small.safetensors"

REFUSED = [
    ("plan --n 1000 --epsilon -1", "epsilon must"),
    ("plan --n 1000 --epsilon 1 --alpha 0.9", "alpha must"),
    ("plan --n 1000 --epsilon 1 --m 1", "m must"),
    ("plan --n 1000 --epsilon 1 --gamma 2", "gamma must"),
    ("plan --epsilon 1", "Give a score file or --n"),
    ("plan scores.csv --n 1000 --epsilon 1", "Give a score file or --n"),
    ("plan ward.csv --classes a,b --per diagnosis --epsilon 1", "no column of probabilities for a, b"),
    ("plan --n 100 --epsilon 1 --per diagnosis --classes a,a", "a name stands twice"),
    (SPEND, "say with --budget"),
    (f"{SPEND} --budget 3 --novelty-share 0.5", "no column 'novelty'"),
    (f"{SPEND} --budget 3 --out taken.csv", "Nothing was spent"),
    (f"{SPEND} --budget 3 --out nowhere/c.json", "Nothing was spent"),
    (f"{SPEND} --budget 0.5 --out c.json", "whole budget of 0.5"),
    (f"{SPEND} --budget 3 --split train", "the model has learnt from them"),
    (PER_SITE, "needs the names of the groups"),
    (f"{PER_SITE} --groups north,north", "a name stands twice"),
    ("calibrate ward.csv --epsilon 1 --budget 5 --per ward --groups a,b", "no column 'ward'"),
    ("calibrate ward --epsilon 1 --budget 5 --per ward --groups a,b", "no column 'ward'"),
    ("calibrate ward.csv --epsilon 1 --budget 5 --groups north,south", "say so with per"),
    (f"{PER_DIAGNOSIS} --groups north", "no groups"),
    (f"{PER_DIAGNOSIS} --method paper", "holds for all patients together only"),
    (f"{PER_DIAGNOSIS} --gamma 0.5", "gamma belongs to the paper's rule"),
    (f"{SPEND} --budget 5 --per diagnosis", "scores.csv: a promise for each diagnosis needs"),
    ("calibrate scores.csv --epsilon 1 --budget 5", "Say what they are: --score lac"),
    ("calibrate scores.csv --epsilon 1 --budget 5 --score nac", "The score must be one of lac, aps, raps"),
    ("calibrate ward.csv --epsilon 1 --budget 5 --score own", "'own' is not computed from probabilities"),
    (f"{CLUSTER} tcp://192.0.2.1:8786", "is another machine, and tcp:// would send"),
    (f"{CLUSTER} tls://127.0.0.1:8786", "needs --tls-ca, --tls-cert and --tls-key"),
    (f"{CLUSTER} 127.0.0.1", "A scheduler's address is like"),
    (f"{CLUSTER} tcp://127.0.0.1:8786 --workers 2", "not both"),
    (f"{CLUSTER} tls://127.0.0.1:8786 --tls-ca ca.pem", "TLS takes all three"),
    ("calibrate ward --epsilon 1 --budget 1 --workers 0", "at least one worker"),
    (PREDICT.format("chest.png", "wrong.json"), "calibration"),
    (PREDICT.format("chest.png", "absent.json"), "cannot be read as a calibration"),
    (PREDICT.format("absent.png", "scores.json"), "absent.png"),
    (PREDICT.format("broken.png", "scores.json"), "None of the pictures could be read"),
    (PREDICT.format("chest.png", "scores.json --weights wrong.json"), "wrong.json"),
    (PREDICT.format("chest.png", "scores.json --split test"), "--split is for a table"),
    (PREDICT.format("ward.csv", "ward.json --out taken.csv"), "exists; choose another name"),
    (PREDICT.format("ward.csv", "ward.json --out s.xlsx"), ".csv, .parquet, .json"),
    (PREDICT.format("ward.csv", "ward.json --sr reports"), "--sr is for DICOM"),
    (PREDICT.format("xrays", "many.json"), "for 14 classes"),
    (PREDICT.format("ward.csv", "many.json"), "Use the calibration of the model that gave these probabilities"),
    (PREDICT.format("ward.csv", "scores.json"), "is for the score 'own': it gives a threshold and no sets"),
    (PREDICT.format("v2.csv", "v1.json"), "made with another model's scores"),
    (PREDICT.format("ward", "ward.json"), "give --out and a folder's name"),
    (PREDICT.format("ward", "ward.json --out sets.csv"), "give --out and a folder's name"),
    (PREDICT.format("ward", "ward.json --out there"), "exists; choose another name"),
    (PREDICT.format("ward", "ward.json --out s --report r.html"), "not for a data set"),
    (PREDICT.format("ward", "ward.json --out s --split test"), "there is no column 'split'"),
    (PREDICT.format("xrays", "ward.json --out s --workers 1"), "ppsets score"),
    (PREDICT.format("other", "ward.json --out s"), "no column of probabilities for viral"),
    (PREDICT.format("bad", "ward.json --out s"), "bad/part-00002.parquet, row 21, column 'viral': the probability is"),
    (
        PREDICT.format("bad.csv", "ward.json --out s.csv"),
        "bad.csv, line 222, column 'viral': the probability is outside",
    ),
    (CHECK.format("bad"), "bad/part-00002.parquet, row 21, column 'viral': the probability is outside [0, 1]"),
    (CHECK.format("bad.csv"), "bad.csv, line 222, column 'viral': the probability is outside [0, 1]"),
    ("calibrate bad --epsilon 1 --budget 1", "bad/part-00002.parquet, row 21, column 'viral': the probability is"),
    (f"{CHECK.format('ward.csv')} --private", "needs --epsilon"),
    (f"{CHECK.format('ward.csv')} --epsilon 1", "add --private"),
    (f"{CHECK.format('ward.csv')} --split north", "no column 'split'"),
    (CHECK.format("unlabelled"), "no row has a `label` that is one of bacterial, normal, viral"),
    (f"{CHECK.format('unlabelled')} --private --epsilon 1 --budget 1", "no row has a `label`"),
    (f"{CHECK.format('ward.csv')} --private --epsilon 1", "say with --budget"),
    (f"{CHECK.format('ward.csv')} --private --epsilon 10 --budget 9", "more than the whole budget of 9"),
    ("check ward.csv --calibration scores.json", "gives a threshold and no sets"),
    ("check v2.csv --calibration v1.json", "made with another model's scores"),
    ("check xrays --calibration many.json", "for 14 classes"),
    ("check ward.csv --calibration many.json", "Use the calibration of the model that gave these probabilities"),
    ("score flat --weights small.safetensors --out s.csv", "No X-ray has a label"),
    (f"{SCORE.format('s.csv')} --labels labels.csv", "No X-ray has a label"),
    (f"{SCORE.format('s.csv')} --labels labels.csv --split z", "no row of split 'z'"),
    (f"{SCORE.format('s.csv')} --split a", "--labels"),
    ("score absent --weights small.safetensors --out s.csv", "absent"),
    (SCORE.format("absent/s.csv"), "no folder for"),
    (SCORE.format("s.parquet"), "written as CSV"),
    (SCORE.format("taken.csv"), "exists; choose another"),
    ("score xrays --weights evil.pth --out s.csv", "pickle"),
    (f"{TRAIN} --dp-delta 1e-5", "belong to --dp-epsilon"),
    (f"{TRAIN} --dataset ward", "belong to --dp-epsilon"),
    (f"{TRAIN} --dp-epsilon 1 --seed 1", "repeat the noise"),
    (f"{TRAIN} --dp-epsilon -1", "ε must be"),
    (f"{TRAIN} --classes normal,normal", "at least two classes"),
    (f"{TRAIN} --classes cat,dog", "No X-ray has one of the labels cat, dog"),
    (f"{TRAIN} --epochs 0", "at least 1"),
    (f"{TRAIN} --split train", "--labels"),
    ("train xrays --out new.safetensors --from weights.pt", "pickle"),
    ("experiment coronahack --seed -1", "The seed must be"),
    ("experiment coronahack --out taken.csv", "cannot be made a folder"),
    ("app --port=0", "port must be from 1 to 65535, not 0."),
    ("app --port=65536", "port must be from 1 to 65535, not 65536."),
    ("app --port=-1", "port must be from 1 to 65535, not -1."),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with something of everything."""
    folder, rng = tmp_path_factory.mktemp("refused"), np.random.default_rng(0)
    (folder / "scores.csv").write_text("score\n" + "\n".join(map(repr, rng.random(600).tolist())))
    ward, bad = records_frame(900), records_frame(300)
    bad.loc[220, "viral"] = 1.5
    for name, frame in (("ward", ward), ("v1", ward.assign(model="v1")), ("v2", ward.assign(model="v2"))):
        write_csv(frame, folder / f"{name}.csv")
    write_csv(bad, folder / "bad.csv")
    write_parts(ward, folder / "ward", 2)
    write_parts(bad, folder / "bad", 3)
    write_parts(ward.drop(columns="label"), folder / "unlabelled", 2)
    write_parts(ward.rename(columns={"viral": "fungal"}), folder / "other", 2)
    for name in ("scores", "ward", "v1"):
        (folder / f"{name}.json").write_text(calibrate(read_scores(folder / f"{name}.csv"), 0.1, 2.0).to_json())
    many = read_scores(table(600, 0).encode(), "many.csv")
    (folder / "many.json").write_text(calibrate(many, 0.1, 2.0).to_json())
    png_folder(folder / "xrays", 1)
    (folder / "flat").mkdir()
    (folder / "there").mkdir()
    chest = (folder / "xrays" / "normal" / "normal-000.png").read_bytes()
    for name in ("chest.png", "flat/chest.png"):
        (folder / name).write_bytes(chest)
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    (folder / "labels.csv").write_text("file,label,split\nnormal-000.png,tuberculosis,a\n")
    (folder / "taken.csv").write_text("mine")
    (folder / "wrong.json").write_text("{}")
    save_model(small_model(), folder / "small.safetensors")
    return folder


@pytest.mark.parametrize(("command", "words"), REFUSED)
def test_a_refusal_is_one_sentence_and_changes_nothing(place, tmp_path, monkeypatch, capsys, command, words):
    monkeypatch.chdir(place)
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path))
    before = sorted(os.walk("."))
    assert main(shlex.split(command)) == 2
    captured = capsys.readouterr()
    last = captured.err.splitlines()[-1]
    assert last.startswith("ppsets: ")
    assert words in last
    assert captured.out == ""
    assert sorted(os.walk(".")) == before
    assert Path("taken.csv").read_text() == "mine"
    ledger = tmp_path / "ledger.sqlite"
    assert not ledger.exists() or not Ledger(ledger).releases()
