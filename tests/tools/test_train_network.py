"""The whole network is trained by `tools.train_network`: repeatable, resumable, on random views."""

from dataclasses import replace

import pytest
import torch

from ppsets_core.errors import FileError
from ppsets_core.model import load_model, save_model
from ppsets_core.model.network import Preprocessing
from tests.model.chests import CLASSES, png_folder, small_model, training_set
from tools.train_network import Recipe, main, train_model

pytestmark = pytest.mark.training

RECIPE = Recipe(epochs=2, batch_size=8, held_out=0.2, seed=3)


@pytest.fixture(scope="module")
def data():
    return training_set(8)


def same(one, other) -> bool:
    states = one.model.network.state_dict(), other.model.network.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def break_off(data, folder):
    """A run ended after its first epoch."""

    def watch(epoch):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_model(data, RECIPE, base=small_model(), resume=folder, watch=watch)


def test_training_is_watched_and_repeats_with_its_seed(data):
    heard = []
    first = train_model(data, RECIPE, base=small_model(), watch=heard.append)
    assert [(item.epoch, item.epochs) for item in heard] == [(1, 2), (2, 2)]
    assert all(item.loss > 0 and 0 <= item.accuracy <= 1 for item in heard)
    assert first.model.classes == CLASSES
    assert same(first, train_model(data, RECIPE, base=small_model()))
    other = train_model(data, replace(RECIPE, seed=4, epochs=1), base=small_model())
    assert not same(first, other)


def test_a_resumed_run_ends_where_an_unbroken_one_does_and_that_of_another_run_is_refused(data, tmp_path):
    unbroken = train_model(data, RECIPE, base=small_model())
    break_off(data, tmp_path)
    with pytest.raises(FileError, match="other settings"):
        train_model(data, replace(RECIPE, learning_rate=1e-3), base=small_model(), resume=tmp_path)
    heard = []
    resumed = train_model(data, RECIPE, base=small_model(), resume=tmp_path, watch=heard.append)
    assert [item.epoch for item in heard] == [2]
    assert same(resumed, unbroken)
    assert resumed.model.temperature == unbroken.model.temperature
    (tmp_path / "checkpoint.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(FileError, match="is not the state"):
        train_model(data, RECIPE, base=small_model(), resume=tmp_path)


def test_the_command_trains_from_scratch_or_from_weights_and_goes_on(tmp_path, capsys):
    xrays, small = str(png_folder(tmp_path / "xrays", 8)), tmp_path / "small.safetensors"
    save_model(small_model(), small)
    for number, start in enumerate((small, small, "scratch")):
        state = "state" if start == small else "other"
        out, command = tmp_path / f"{number}.safetensors", ["--epochs", "1", "--batch-size", "8", "--from", str(start)]
        main([xrays, "--out", str(out), "--resume", str(tmp_path / state), *command])
        assert ("epoch=1" in capsys.readouterr().out) == (number != 1), "the second run has nothing left to do"
    first, second, scratch = (load_model(tmp_path / f"{number}.safetensors") for number in range(3))
    assert torch.equal(first.network.fc.weight, second.network.fc.weight)
    assert scratch.preprocessing.side == Preprocessing.side
    with pytest.raises(SystemExit, match="no weights at"):
        main([xrays, "--from", "nowhere.safetensors", "--out", "x.safetensors"])
