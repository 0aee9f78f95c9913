import subprocess
import sys

import numpy as np
import pytest
import torch

from ppsets_core.errors import InputError
from ppsets_core.model import load_model, predict, predict_folder
from ppsets_core.model.prediction import heat_map
from ppsets_core.xrays import Picture, read_folder, read_picture
from tests.model.chests import CLASSES, chest, picture
from tests.xrays.samples import dicom, png, upload, zipped


@pytest.fixture(scope="module")
def model():
    return load_model()


@pytest.fixture(scope="module")
def pictures():
    return [picture(CLASSES[seed % 3], seed, height=150 + 9 * seed) for seed in range(11)]


def test_probabilities_are_float64_rows_that_sum_to_one(model, pictures):
    probabilities = predict(model, pictures)
    assert probabilities.dtype == np.float64
    assert probabilities.shape == (11, 3)
    assert np.allclose(probabilities.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert np.array_equal(probabilities, predict(model, iter(pictures)))


def test_the_fast_network_is_the_plain_one(model, pictures):
    inputs = torch.stack([model.preprocessing.network_input(item.grey) for item in pictures])
    with torch.no_grad():
        plain = torch.softmax(model.network(inputs).double() / model.temperature, dim=1).numpy()
    assert np.allclose(predict(model, pictures), plain, rtol=0, atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_probabilities_do_not_depend_on_what_comes_with_a_picture(model, pictures, batch_size):
    alike = {"rtol": 0, "atol": 6e-8}
    together = predict(model, pictures)
    assert np.allclose(predict(model, pictures, batch_size=batch_size), together, **alike)
    assert np.allclose(predict(model, pictures[::-1], batch_size=batch_size)[::-1], together, **alike)
    alone = [predict(model, [picture], batch_size=batch_size)[0] for picture in pictures[3:6]]
    assert np.allclose(alone, together[3:6], **alike)


def test_progress_counts_pictures_and_may_stop_the_work(model, pictures):
    heard = []
    predict(model, pictures, batch_size=8, progress=heard.append)
    assert heard == [1, 9, 11]

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict(model, pictures, progress=stop)


def test_no_picture_gives_no_row_and_a_batch_of_none_is_refused(model, pictures):
    assert predict(model, []).shape == (0, 3)
    with pytest.raises(InputError, match="batch size"):
        predict(model, pictures, batch_size=0)


def test_path_upload_zip_and_dicom_give_identical_probabilities(model, tmp_path):
    pixels = (chest("viral-pneumonia", 5) * 255).round().astype(np.uint8)
    path, archive = tmp_path / "a.png", upload("a.zip", zipped({"a.png": png(pixels)}))
    path.write_bytes(png(pixels))
    sources = path, archive, upload("a.png", png(pixels)), upload("a.dcm", dicom(pixels))
    rows = [predict_folder(model, read_folder(source)).probabilities for source in sources]
    rows.append(predict(model, [read_picture(path)]))
    assert all(np.array_equal(row, rows[0]) for row in rows)


@pytest.mark.training
def test_torchs_compiler_is_not_imported_for_a_prediction_and_can_be_afterwards():
    """It takes longer to import than torch itself, and the first answer would wait for it."""
    code = (
        "import sys; from ppsets_core.model import load_model; load_model().fast_network; "
        "assert 'torch._dynamo' not in sys.modules; "
        "import torch._dynamo.utils; assert callable(torch._dynamo.optimize)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("shape", [(180, 220), (300, 120), (30, 30)])
def test_the_heat_lies_on_the_whole_xray(model, shape):
    xray = picture("bacterial-pneumonia", 1, height=shape[0], width=shape[1])
    maps = [heat_map(model, xray, index) for index in range(3)]
    for heat in maps:
        assert heat.shape == shape
        assert heat.dtype == np.float32
        assert heat.min() >= 0
        assert heat.max() <= 1
    assert max(heat.max() for heat in maps) == 1
    assert not np.allclose(maps[0], maps[1])
    total = sum(maps)
    assert all(edge.any() for edge in (total[0], total[-1], total[:, 0], total[:, -1]))


def test_there_is_no_heat_on_a_margin(model):
    xray = Picture("bordered.png", np.pad(picture("bacterial-pneumonia", 1).grey, 50), 0.0)
    for index in range(3):
        heat = heat_map(model, xray, index)
        heat[46:-46, 46:-46] = 0
        assert not heat.any()


def test_a_class_that_is_not_there_has_no_map(model):
    with pytest.raises(InputError, match="no class 3"):
        heat_map(model, picture(), 3)
