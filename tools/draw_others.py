"""Pictures that are no chest X-rays, drawn in code: what the gate learns to stop. Clouds, patterns, shading, shapes on
a ground, things that stand in the middle, sections of a body, and parts of chest X-rays that are too small to judge."""

import numpy as np
from PIL import Image

from ppsets_core.xrays.frame import to_model_square

CANVAS = 64


def draw_others(count: int, xrays: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(count, CANVAS, CANVAS) greys as they would be seen; `xrays` (N, CANVAS, CANVAS) are what the parts come from."""
    draws = (_clouds, _shapes, _gradient, _section, _standing, lambda rng: _part(xrays, rng))
    chosen = rng.choice(len(draws), count, p=(0.3, 0.3, 0.06, 0.1, 0.1, 0.14))
    return np.stack([to_model_square(draws[kind](rng).astype(np.float32), CANVAS) for kind in chosen])


def _clouds(rng: np.random.Generator) -> np.ndarray:
    """A random field, smooth to rough, perhaps cut into bands or steps, blocky, or symmetric."""
    frequency = np.hypot(np.fft.fftfreq(CANVAS)[:, None], np.fft.rfftfreq(CANVAS))
    frequency[0, 0] = np.inf
    field = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((CANVAS, CANVAS))) * frequency ** -rng.uniform(0.25, 2))
    field /= field.std()
    if rng.random() < 0.3:
        field = np.sin(field * rng.uniform(1, 8))
    if rng.random() < 0.3:
        field = np.sign(field - np.quantile(field, rng.uniform(0.2, 0.8))) + field * rng.uniform(0, 0.5)
    if rng.random() < 0.3:
        blocks = _resized(rng.random(rng.integers(2, 16, 2)), CANVAS, rng.random() < 0.5)
        field = field * rng.uniform(0, 1) + blocks / max(blocks.std(), 1e-3)
    if rng.random() < 0.3:
        field = field + field[:, ::-1] * rng.uniform(0.5, 1)
    return field


def _section(rng: np.random.Generator) -> np.ndarray:
    """A body cut across, as CT shows it: an ellipse on black, in it perhaps lungs, a heart, a spine, other organs."""
    y, x = np.mgrid[-1 : 1 : CANVAS * 1j, -1 : 1 : CANVAS * 1j]
    wide, high = rng.uniform(0.6, 1), rng.uniform(0.4, 0.9)
    x, y = x / wide, y / high

    def ellipse(across: float, down: float, wide: float, high: float) -> np.ndarray:
        return ((x - across) / wide) ** 2 + ((y - down) / high) ** 2 < 1

    picture = np.where(ellipse(0, 0, 1, 1), rng.uniform(0.35, 0.65), 0.0)
    if rng.random() < 0.8:
        lung, aside, size = rng.uniform(0, 0.3), rng.uniform(0.35, 0.55), rng.uniform(0.7, 1.15, 4)
        picture[
            ellipse(-aside, 0, 0.3 * size[0], 0.62 * size[1]) | ellipse(aside, 0, 0.3 * size[2], 0.62 * size[3])
        ] = lung
    for _ in range(rng.integers(1, 5)):
        picture[ellipse(*rng.uniform(-0.5, 0.5, 2), *rng.uniform(0.05, 0.3, 2))] = rng.uniform(0.4, 0.9)
    picture[ellipse(0, rng.uniform(0.5, 0.7), rng.uniform(0.08, 0.18), rng.uniform(0.1, 0.2))] = rng.uniform(0.7, 1)
    if rng.random() < 0.5:
        for angle in np.arange(rng.uniform(0, 0.4), 6.4, 0.45):
            picture[ellipse(0.86 * np.cos(angle), 0.83 * np.sin(angle), 0.06, 0.05)] = 0.9
    return picture + rng.normal(0, rng.uniform(0, 0.06), picture.shape)


def _gradient(rng: np.random.Generator) -> np.ndarray:
    """Smooth shading in one or two directions, almost flat: a wall, an empty film."""
    y, x = np.mgrid[0 : 1 : CANVAS * 1j, 0 : 1 : CANVAS * 1j]
    falls, rises = (low + (high - low) * along for along in (y, x) for low, high in [rng.random(2)])
    plane = falls * rises if rng.random() < 0.7 else falls + rises * rng.normal()
    return np.abs(plane) ** rng.uniform(0.5, 2) + rng.normal(0, rng.uniform(0, 0.02), plane.shape)


def _standing(rng: np.random.Generator) -> np.ndarray:
    """Something bright that stands in the middle, straight or tapering, before a shaded or cloudy ground: a tower, a
    person, a bottle. It has no ribs beside it, where a chest X-ray's spine has."""
    y, x = np.mgrid[-1 : 1 : CANVAS * 1j, -1 : 1 : CANVAS * 1j]
    ground = _gradient(rng) if rng.random() < 0.6 else 0.5 + 0.12 * _clouds(rng)
    picture = rng.uniform(0.1, 0.5) * (ground - ground.min()) / max(np.ptp(ground), 1e-3)
    for _ in range(rng.integers(1, 4)):
        middle, top, wide, taper = (
            rng.normal(0, 0.25),
            rng.uniform(-1.2, 0.3),
            rng.uniform(0.03, 0.3),
            rng.normal(0, 0.3),
        )
        edge = wide * np.exp(taper * (y - top)) - abs(x - middle)
        soft = rng.uniform(0.01, 0.15)
        picture = picture + rng.uniform(0.3, 0.9) * np.clip(0.5 + edge / soft, 0, 1) * (y > top)
    if rng.random() < 0.5:
        spread = rng.uniform(0.2, 0.8)
        picture = picture + rng.uniform(0.2, 0.7) * np.exp(
            -((x / spread) ** 2) - ((y - rng.uniform(0.3, 1)) / spread) ** 2
        )
    return picture + rng.normal(0, rng.uniform(0, 0.05), picture.shape)


def _shapes(rng: np.random.Generator) -> np.ndarray:
    """Ellipses and bars on a dark or bright ground, perhaps symmetric and soft: sections, hands, pages, things."""
    y, x = np.mgrid[-1 : 1 : CANVAS * 1j, -1 : 1 : CANVAS * 1j]
    picture = np.full((CANVAS, CANVAS), rng.uniform(0, 0.3) if rng.random() < 0.7 else rng.uniform(0.7, 1))
    mirrors = (1, -1) if rng.random() < 0.5 else (1,)
    for _ in range(rng.integers(1, 14)):
        angle, grey, (across, down), sizes = (
            rng.uniform(0, 6.3),
            rng.random(),
            rng.uniform(-0.9, 0.9, 2),
            rng.uniform(-3, 0, 2),
        )
        wide, high = np.exp(sizes)
        is_bar = rng.random() < 0.3
        for mirror in mirrors:
            along = (x * mirror - across) * np.cos(angle) + (y - down) * np.sin(angle)
            aside = -(x * mirror - across) * np.sin(angle) + (y - down) * np.cos(angle)
            inside = (
                (abs(along) < wide) & (abs(aside) < high) if is_bar else (along / wide) ** 2 + (aside / high) ** 2 < 1
            )
            picture[inside] = grey
    if rng.random() < 0.7:
        picture = _resized(_resized(picture, int(rng.integers(12, CANVAS)), True), CANVAS, True)
    return picture + rng.normal(0, rng.uniform(0, 0.08), picture.shape)


def _part(xrays: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A piece of an X-ray, enlarged; or its quarters in the wrong places."""
    xray = xrays[rng.integers(len(xrays))]
    if rng.random() < 0.25:
        return np.roll(xray, CANVAS // 2, axis=rng.integers(2))
    side = int(rng.integers(CANVAS // 4, CANVAS // 2))
    top, left = rng.integers(0, CANVAS - side, 2)
    return _resized(xray[top : top + side, left : left + side], CANVAS, True)


def _resized(picture: np.ndarray, side: int, smooth: bool) -> np.ndarray:
    how = Image.Resampling.BILINEAR if smooth else Image.Resampling.NEAREST
    return np.asarray(Image.fromarray(picture.astype(np.float32)).resize((side, side), how))
