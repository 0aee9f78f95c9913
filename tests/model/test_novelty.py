"""Novelty of features, its file, the tool that learns it, and on real X-rays what it tells apart."""

import csv
from pathlib import Path

import numpy as np
import pytest

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.diagnose.novelty import DELTA, largest_rate
from ppsets_core.errors import FileError
from ppsets_core.method.plan import plan
from ppsets_core.method.release import release_distribution
from ppsets_core.model import load_model, predict_folder
from ppsets_core.model.novelty import Statistics, load_statistics, statistics_of
from ppsets_core.model.prediction import batches, classify
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.xrays import read_folder
from tests.coronahack import CORONAHACK, needs_coronahack
from tests.model.chests import CLASSES, picture
from tools.learn_novelty import features_of, learn_statistics, save_statistics

ADULTS = CORONAHACK.parent / "adults"


def made_up(rng: np.random.Generator, count: int = 400, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    labels = rng.integers(0, 3, count)
    return np.abs(np.eye(3, 8)[labels] * 4 + 2 + shift + 0.5 * rng.normal(size=(count, 8))), labels


@pytest.fixture(scope="module")
def learnt() -> Statistics:
    features, labels = made_up(np.random.default_rng(0))
    return learn_statistics("ab" * 8, features, labels, np.arange(400).astype(str))


def test_new_patients_are_familiar_and_others_are_not(learnt):
    rng = np.random.default_rng(1)
    own, other = (learnt.novelty(made_up(rng, shift=shift)[0]) for shift in (0.0, 3.0))
    assert 0.9 <= np.mean(own < 0.5) <= 1
    assert np.all(other > 0.99)
    assert np.all((own >= 0) & (own <= 1))


def test_the_distance_is_mahalanobis_to_the_nearest_class():
    statistics = Statistics("", 1.0, np.array([[0.0, 0.0], [10.0, 0.0]]), np.diag([1.0, 0.5]), 0.0, 1.0)
    assert statistics.distance(np.array([[0.0, 2.0], [9.0, 0.0], [13.0, 8.0]])) == pytest.approx([1, 1, 5])
    assert statistics.novelty(np.array([[0.0, 2.0]])) == pytest.approx([0.5])


def test_it_survives_its_file(learnt, tmp_path):
    save_statistics(learnt, tmp_path / "f.npz")
    rows = made_up(np.random.default_rng(2))[0]
    again = load_statistics(tmp_path / "f.npz")
    assert again.model == learnt.model
    assert again.novelty(rows) == pytest.approx(learnt.novelty(rows), abs=1e-5)


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / "f.npz").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(FileError, match="Restore the file"):
        load_statistics(tmp_path / "f.npz")


def test_the_bundled_statistics_are_of_the_bundled_weights():
    assert statistics_of(bundled_fingerprint()) is not None
    assert statistics_of(None) is None


def test_features_come_with_the_probabilities_whatever_the_batch():
    model = load_model()
    pictures = [picture(CLASSES[seed % 3], seed, height=150 + 9 * seed) for seed in range(5)]
    one, many = classify(model, pictures, batch_size=2), classify(model, pictures)
    assert one.novelty == pytest.approx(many.novelty, abs=1e-3)
    probabilities, features = map(np.concatenate, zip(*batches(model, pictures), strict=True))
    assert np.array_equal(probabilities, many.probabilities)
    assert features.shape == (5, 512)
    logits = features @ model.network.fc.weight.detach().numpy().T + model.network.fc.bias.detach().numpy()
    shares = np.exp(logits / model.temperature)
    assert shares / shares.sum(axis=1, keepdims=True) == pytest.approx(probabilities, abs=1e-5)


@needs_coronahack
@pytest.mark.skipif(not ADULTS.is_dir(), reason="needs the 500 X-rays of adults beside CoronaHack's")
def test_adults_are_told_from_the_held_out_children():
    model = load_model()
    adults = predict_folder(model, read_folder(ADULTS / "images", labels=False)).novelty
    children = bundled_scores().novelty
    ranks = np.searchsorted(np.sort(children), adults, side="left") + np.searchsorted(
        np.sort(children), adults, side="right"
    )
    assert ranks.mean() / 2 / len(children) >= 0.95, "area under the curve"
    calibration = bundled_scores("calibration").novelty
    n = len(calibration)
    beside = plan(n, 0.1, 1.0, novelty_share=0.2).novelty
    law = release_distribution(calibration, plan(n, beside.alpha, beside.epsilon, m=beside.m))

    def flagged(values: np.ndarray) -> np.ndarray:
        return 1 - np.searchsorted(np.sort(values), law.upper, side="right") / len(values)

    assert law.probability @ flagged(children) <= 0.05
    assert law.probability @ flagged(adults) >= 0.6
    from scipy.stats import binom

    rate = largest_rate(beside, n)

    def alarmed(values: np.ndarray, batch: int) -> float:
        return float(law.probability @ binom.sf(int(binom.isf(DELTA, batch, rate)), batch, flagged(values)))

    assert alarmed(adults, 40) >= 0.99
    assert all(alarmed(children, batch) <= 0.001 for batch in (10, 40, 100, 400))


@needs_coronahack
def test_the_tool_sees_each_xray_as_prediction_does():
    folder = read_folder(ADULTS / "images", labels=ADULTS / "labels.csv") if ADULTS.is_dir() else None
    if folder is None:
        pytest.skip("needs the 500 X-rays of adults beside CoronaHack's")
    with Path(ADULTS / "labels.csv").open() as file:
        first = {row["file"] for _, row in zip(range(4), csv.DictReader(file), strict=False)}
    few = read_folder([ADULTS / "images" / Path(name).name for name in sorted(first)], labels=False)
    model = load_model()
    features, _, _ = features_of(model, few)
    known = statistics_of(model.fingerprint)
    assert known.novelty(features) == pytest.approx(predict_folder(model, few).novelty, abs=1e-9)
