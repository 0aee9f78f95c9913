"""Novelty of features, its file, and the tool that learns it."""

import numpy as np
import pytest

from ppsets_core.errors import FileError
from ppsets_core.model import load_model, predict_folder
from ppsets_core.model.novelty import Statistics, load_statistics, statistics_of
from ppsets_core.model.prediction import batches, classify
from ppsets_core.xrays import read_folder
from tests.model.chests import CLASSES, picture, png_folder
from tools.learn_novelty import features_of, learn_statistics, save_statistics


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


def test_it_survives_its_file_and_a_damaged_one_is_refused(learnt, tmp_path):
    save_statistics(learnt, tmp_path / "f.npz")
    rows = made_up(np.random.default_rng(2))[0]
    again = load_statistics(tmp_path / "f.npz")
    assert again.model == learnt.model
    assert again.novelty(rows) == pytest.approx(learnt.novelty(rows), abs=1e-5)
    (tmp_path / "damaged.npz").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(FileError, match="Restore the file"):
        load_statistics(tmp_path / "damaged.npz")


def test_features_come_with_the_probabilities_whatever_the_batch():
    model = load_model()
    pictures = [picture(CLASSES[seed % 3], seed, height=150 + 9 * seed) for seed in range(5)]
    (_, one), (together, many) = classify(model, pictures, batch_size=2), classify(model, pictures)
    assert one == pytest.approx(many, abs=1e-3)
    probabilities, features = map(np.concatenate, zip(*batches(model, pictures), strict=True))
    assert np.array_equal(probabilities, together)
    assert features.shape == (5, 512)
    logits = features @ model.network.fc.weight.detach().numpy().T + model.network.fc.bias.detach().numpy()
    shares = np.exp(logits / model.temperature)
    assert shares / shares.sum(axis=1, keepdims=True) == pytest.approx(probabilities, abs=1e-5)


def test_the_tool_sees_each_xray_as_prediction_does(tmp_path):
    folder = read_folder(png_folder(tmp_path, 2))
    model = load_model()
    features, _, _ = features_of(model, folder)
    known = statistics_of(model.fingerprint)
    assert known.novelty(features) == pytest.approx(predict_folder(model, folder).novelty, abs=1e-9)
    assert statistics_of(None) is None
