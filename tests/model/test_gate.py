"""The gate lets upright chest X-rays through, stops other pictures, and names what is turned or inverted."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from ppsets_core.model.gate import KINDS, SIDE, set_upright, why_not_a_chest_xray
from ppsets_core.xrays.frame import to_model_square
from ppsets_core.xrays.picture import Header, Picture
from tests.coronahack import CORONAHACK, needs_coronahack
from tests.drawn_xrays import draw_xrays
from tools.coronahack import HELD_OUT, read_coronahack
from tools.learn_gate import learn_fit, misplaced
from tools.training_xrays import TrainingXrays

CHESTS = [xray.grey for xray in draw_xrays(60, seed=17)]


def stretched(grey: np.ndarray, width: int, height: int) -> np.ndarray:
    return np.asarray(Image.fromarray(grey).resize((width, height), Image.Resampling.BICUBIC))


def check(grey: np.ndarray, chroma: float = 0.0) -> str:
    return why_not_a_chest_xray(Picture("picture", np.ascontiguousarray(grey, dtype=np.float32), chroma))


def flagged(greys: list[np.ndarray]) -> float:
    return float(np.mean([check(grey) != "" for grey in greys]))


def smooth_field(rng, roughness: float, height: int = 240, width: int = 320) -> np.ndarray:
    """A cloud-like random picture with power falling off as frequency to the given power."""
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width))
    frequency[0, 0] = np.inf
    field = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((height, width))) * frequency ** (-roughness / 2))
    return np.clip(0.5 + 0.2 * field / field.std(), 0, 1)


def document(rng) -> np.ndarray:
    image = Image.new("L", (420, 560), 245)
    pen = ImageDraw.Draw(image)
    for y in range(30, 530, int(rng.integers(12, 30))):
        if rng.random() < 0.85:
            pen.text((30, y), "".join(rng.choice(list("abcdefgh ijklmno prstu"), 60)), fill=20)
    return np.asarray(image) / 255


def ct_slice(rng) -> np.ndarray:
    """A body section: an ellipse on black with two lungs, a heart, a spine and ribs."""
    y, x = np.mgrid[-1:1:300j, -1:1:300j]
    half_width, half_height = rng.uniform(0.7, 0.95), rng.uniform(0.5, 0.75)

    def ellipse(at_x: float, at_y: float, a: float, b: float) -> np.ndarray:
        return ((x / half_width - at_x) / a) ** 2 + ((y / half_height - at_y) / b) ** 2 < 1

    picture = np.where(ellipse(0, 0, 1, 1), 0.5, 0.0)
    picture[ellipse(-0.45, 0, 0.3, 0.62) | ellipse(0.45, 0, 0.3, 0.62)] = rng.uniform(0, 0.25)
    picture[ellipse(0.1, -0.15, 0.22, 0.3)] = rng.uniform(0.55, 0.8)
    picture[ellipse(0, 0.6, 0.12, 0.15)] = 1
    for angle in np.arange(0.2, 6.4, 0.45):
        picture[ellipse(0.85 * np.cos(angle), 0.82 * np.sin(angle), 0.06, 0.04)] = 0.9
    return np.clip(picture + rng.normal(0, 0.03, picture.shape), 0, 1)


OTHER_PICTURES = {
    "document": document,
    "CT slice": ct_slice,
    "stripes": lambda rng: 0.5 + 0.3 * np.sin(smooth_field(rng, 2.6) * rng.uniform(10, 40)),
    "cloudy landscape": lambda rng: smooth_field(rng, rng.uniform(1.5, 3)),
    "noise": lambda rng: rng.random((200, 260)),
    "flat": lambda rng: np.full((200, 260), rng.random()),
    "gradient": lambda rng: np.outer(np.linspace(*rng.random(2), 200), np.linspace(*rng.random(2), 260)),
}


def test_upright_chest_xrays_pass():
    assert flagged(CHESTS) <= 0.02


@pytest.mark.statistical
@pytest.mark.parametrize("side", [64, 100, 700, 2000])
def test_size_does_not_matter(side):
    small = [stretched(grey, round(side * 1.3), side).clip(0, 1) for grey in CHESTS[:12]]
    assert flagged(small) == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda grey: 1 - grey, "inverted grey scale (bones dark)"),
        (lambda grey: grey[::-1, ::-1], "upside down"),
        (lambda grey: grey[::-1], "upside down"),
        (np.rot90, "on its side"),
        (lambda grey: np.rot90(grey, 3), "on its side"),
        (lambda grey: 1 - grey[::-1, ::-1], "inverted grey scale and upside down"),
    ],
)
def test_turned_and_inverted_xrays_are_named_as_such(change, reason):
    reasons = [check(change(grey)) for grey in CHESTS]
    assert np.mean([reason in said for said in reasons]) >= 0.95


@pytest.mark.parametrize(
    "change",
    [
        lambda grey: grey[:, ::-1],
        lambda grey: 0.3 + 0.4 * grey,
        lambda grey: grey / 16,
        lambda grey: grey**0.4,
        lambda grey: grey**2.5,
        lambda grey: np.pad(grey, 10),
        lambda grey: np.pad(grey, round(0.25 * min(grey.shape))),
        lambda grey: np.pad(grey, round(0.25 * min(grey.shape)), constant_values=1.0),
    ],
)
def test_a_mirrored_dim_bent_or_bordered_xray_still_passes(change):
    assert flagged([change(grey) for grey in CHESTS[:40]]) <= 0.05


@pytest.mark.statistical
@pytest.mark.parametrize("kind", OTHER_PICTURES)
def test_other_pictures_are_stopped(kind):
    rng = np.random.default_rng(4)
    assert flagged([OTHER_PICTURES[kind](rng) for _ in range(40)]) >= 0.95


def test_colour_size_and_shape_are_given_as_reasons():
    chest = CHESTS[0]
    assert "colour" in check(chest, chroma=0.25)
    assert check(chest, chroma=0.03) == ""
    assert "small" in check(chest[:40, :40])
    assert check(np.zeros((1, 1))) != ""
    assert "wide" in check(stretched(chest, 2600, 256).clip(0, 1))
    assert "contrast" in check(np.full((300, 300), 0.5))


@pytest.mark.training
def test_the_gate_can_be_learnt_again():
    xrays = draw_xrays(240, seed=30)
    squares = np.stack([stretched(xray.grey, 256, 256).clip(0, 1) * 255 for xray in xrays]).astype(np.uint8)
    names = np.array([f"patient {i}" for i in range(len(xrays))])
    aspects = np.array([xray.grey.shape[1] / xray.grey.shape[0] for xray in xrays])
    fit = learn_fit(
        TrainingXrays(squares, np.array([xray.label for xray in xrays]), names, aspects), others=1500, steps=800
    )
    fresh = np.stack([to_model_square(grey, SIDE) for grey in CHESTS])
    assert np.mean(fit.misfit(fresh.reshape(len(fresh), -1)) <= fit.limit) >= 0.95
    for number, kind in enumerate(KINDS):
        views = np.stack([misplaced(grey, kind).ravel() for grey in fresh])
        assert np.mean(fit.network.chances(views).argmax(axis=1) == number) >= 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_setting_upright_undoes_misplacing(kind):
    grey = np.random.default_rng(0).random((SIDE, SIDE))
    assert np.allclose(set_upright(misplaced(grey, kind), kind), grey)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        *((Header("CT", "CHEST"), "modality CT"), (Header("MR"), "modality MR")),
        *((Header("DX", part), f"body part {part}") for part in ("HAND", "CSPINE", "LOWER LEG")),
        *((Header("DX", "CHEST", view), "lateral") for view in ("LL", "LATERAL")),
        (Header("DX", "CHEST", "RAO"), "oblique"),
        *((Header(), ""), (Header("DX", "CHEST", "PA"), ""), (Header("CR", "PORT CHEST", "AP"), "")),
        *((Header("RG", part), "") for part in ("THORAX", "TORAX", "TÓRAX", "UNKNOWN", "CHEST ABDOMEN", "BRUSTKORB")),
    ],
)
def test_a_dicom_header_may_say_no(header, said):
    reason = why_not_a_chest_xray(Picture("film", CHESTS[0], 0.0, header))
    assert said in reason
    assert ("frontal chest X-ray" in reason) == bool(said) == bool(reason)


@needs_coronahack
def test_at_most_one_in_two_hundred_held_out_xrays_is_flagged():
    greys = [
        picture.grey for split in HELD_OUT for picture in read_coronahack(CORONAHACK, split).pictures(at_least=256)
    ]
    assert flagged(greys) <= 0.005
    assert flagged([1 - grey for grey in greys[::5]]) >= 0.99
    assert flagged([grey[::-1, ::-1] for grey in greys[::5]]) >= 0.99
