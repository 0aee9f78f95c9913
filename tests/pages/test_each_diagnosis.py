"""A promise for each diagnosis on the screens: its plan, its release, and a cutoff for every bar on Diagnose."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ppsets_core import Records, plan, simulate
from ppsets_core.wording import class_names, needed
from tests.browser.samples import CLASSES
from tests.drawn_xrays import draw_xrays
from tests.pages.driving import classify, metrics, png, release, set_bars, texts

NAMES = class_names(CLASSES)
CUTOFFS = dict(zip(NAMES, (0.2, 0.001, 0.25), strict=True))


@pytest.fixture
def each(upload):
    def give(**options):
        at = upload(700, **options)
        return at.radio(key="promise").set_value("each diagnosis").run()

    return give


def test_the_plan_shows_what_each_diagnosis_gets_however_many_records_it_has_and_needs_labels(each, upload, score_csv):
    at = each()
    planned, shown = plan(700, 0.1, 1.0, per="diagnosis", classes=3), metrics(at)
    assert not at.error
    assert shown["Promised"] == ["≥ 90.0%"]
    assert shown["Expected"] == [f"{100 * planned.coverage_expected:.1f}%"]
    assert shown["ε for each"] == ["0.5"]
    assert shown["m*"] == [f"{planned.m:,}"]
    assert f"The paper's rule: m* {plan(700, 0.1, 1.0, method='paper').m:,} · γ* " in texts(at), "always in view"
    assert "Within each diagnosis, the true diagnosis is in the set with probability at least 90%" in texts(at)
    said = [one.value for one in at.markdown if "Within each" in one.value]
    few = score_csv(700).replace(b"\nviral-pneumonia,", b"\nnormal,", 200)
    at = each(content=few)
    assert (metrics(at), [one.value for one in at.markdown if "Within each" in one.value]) == (shown, said)
    at = upload(name="scores.csv", content=b"score\n" + b"\n".join(b"0.%03d" % i for i in range(700)))
    assert "promise" not in {one.key for one in at.radio}
    assert "for each diagnosis it needs labels" in texts(at)


def test_one_charge_draws_a_threshold_for_each_diagnosis(each, upload, ledger):
    upload(700).radio(key="rule").set_value("paper").run()
    at = each()
    assert "rule" not in {one.key for one in at.radio}
    assert "Rule: the sharp rule; the paper's rule would hold for all patients together only" in texts(at)
    release(at, "ε = 1")
    (made,) = ledger.releases("ward")
    drawn = made.calibration
    assert (drawn.per, drawn.classes, drawn.method, float(made.epsilon)) == ("diagnosis", CLASSES, "sharp", 1.0)
    shown = metrics(at)
    assert [shown[name] for name in NAMES] == [[needed(cutoff)] for cutoff in drawn.cutoffs]
    assert "for each diagnosis" in texts(at)
    assert at.radio(key="promise").set_value("all patients together").run().radio(key="rule").value == "paper"
    at.switch_page("pages/ledger.py").run()
    row = at.dataframe[0].value.iloc[0]
    assert row["ŝ"] == "; ".join(f"{n}: {t:.6g}" for n, t in zip(NAMES, drawn.thresholds, strict=True))
    at.switch_page("pages/home.py").run()
    assert not at.error
    assert metrics(at)[NAMES[0]] == shown[NAMES[0]]


def test_every_bar_on_diagnose_has_its_own_cutoff(app, screen):
    records = Records("", np.linspace(0, 1, 900), CLASSES, labels=np.arange(900) % 3)
    drawn = simulate(records, plan(900, 0.1, 1.0, m=100, per="diagnosis", classes=3), np.random.default_rng(0))
    app.session_state["active_calibration"] = replace(drawn, drawn=tuple(1 - CUTOFFS[name] for name in NAMES))
    at = classify(screen("diagnose"), [("a.png", png(draw_xrays(1, 0)[0].grey), "image/png")])
    assert not at.error
    assert "if its probability is: " in texts(at)
    assert "patients of one diagnosis" in texts(at)
    (bars,) = set_bars(at)
    marks = [float(place) / 100 for place in re.findall('class="cutoff" style="left: ([0-9.]+)%', bars)]
    assert sorted(marks) == pytest.approx(sorted(CUTOFFS.values()), abs=1e-3)
    assert bars.count("· needs") == len(CUTOFFS)
    at.segmented_control(key="diagnose_view").set_value("Table").run()
    (row,) = at.dataframe[-1].value.to_dict("records")
    assert set(row["set"].split("; ")) == {name for name in NAMES if row[f"p({name})"] >= CUTOFFS[name]}
