"""Says whether a picture looks like an upright chest X-ray, and if not, why, and what to do."""

import math

import numpy as np

from ppsets_core.model.gate.header import WANTED, why_not_by_header
from ppsets_core.model.gate.kinds import KINDS, Kind, set_upright
from ppsets_core.model.gate.misfit import SIDE, load_fit
from ppsets_core.xrays.frame import to_model_square
from ppsets_core.xrays.picture import Picture

SMALLEST = 64
COLOUR = 0.1
"""Mean max − min of R, G, B from which a picture counts as coloured; a scan's tint or a coloured marker stays below."""
CONTRAST = 0.008
"""Range of greys below which there is nothing to see; a 12-bit X-ray in a 16-bit file has 0.04 or more."""
SHAPES = (0.45, 4.0)
"""Width ÷ height of the X-ray without its margins; that of the X-rays learnt from is 0.84 to 3.4."""
TYPICAL, WEIGHT = 3.5, 1.5
"""A picture of TYPICAL misfit passes if the network finds an upright chest X-ray likelier than not; each unit of misfit
less or more is worth WEIGHT in the logarithm of the odds. X-rays have 1 to 3, photographs about 8."""
MOST_SHADING = 0.95
"""Share of the greys' variance that a slope may explain; of X-rays it explains a half, 0.92 at most."""
CLEARLY = 2
"""How many times likelier than upright another way of lying must be to be believed."""
LIES = {0: "", 1: "on its side", 2: "upside down", 3: "on its side"}
OTHER = f"Does not look like an upright chest X-ray. {WANTED}"
REMEDY = {"upside down": "turn it by 180°", "on its side": "turn it by 90°"}


def why_not_a_chest_xray(picture: Picture) -> str:
    """A sentence for the reader, empty if the picture looks like an upright chest X-ray and may be classified.

    Asks the DICOM header, then looks at size, colour, contrast and shape, then at what kind of picture it is."""
    return why_not_by_header(picture.header) or _plain_reason(picture) or _kind_reason(picture)


def _plain_reason(picture: Picture) -> str:
    height, width = picture.grey.shape
    if min(height, width) < SMALLEST:
        return f"Too small to judge: {width} × {height} pixels, at least {SMALLEST} on each side are needed."
    if picture.chroma > COLOUR:
        return "A colour picture; chest X-rays are grey. Export the X-ray itself, without colours."
    part = picture.frame.of(picture.grey)
    if np.ptp(part[:: max(1, height // 64), :: max(1, width // 64)]) < CONTRAST:
        return "Nearly uniform: too little contrast for a chest X-ray. Export it with its full range of greys."
    if not SHAPES[0] <= part.shape[1] / part.shape[0] <= SHAPES[1]:
        return f"Far too narrow or too wide for a chest X-ray. {WANTED}"
    return ""


def _kind_reason(picture: Picture) -> str:
    fit, seen = load_fit(), to_model_square(picture.grey, SIDE, picture.frame)
    if _shading(seen) > MOST_SHADING:
        return OTHER
    assert fit.network is not None
    upright, *otherwise, _ = chances = fit.network.chances(seen.reshape(1, -1))[0]
    lies = 1 + int(np.argmax(otherwise))
    if chances[lies] <= CLEARLY * upright:
        odds = math.log(max(upright, 1e-30) / max(1 - upright, 1e-30))
        fits = odds + WEIGHT * (TYPICAL - fit.misfit(seen.reshape(1, -1))[0]) >= 0
        return "" if fits else OTHER
    set_right = set_upright(seen, KINDS[lies]).reshape(1, -1)
    is_chest = chances[lies] > chances[-1] and fit.misfit(set_right)[0] <= fit.limit
    return _misplaced(KINDS[lies]) if is_chest else OTHER


def _shading(seen: np.ndarray) -> float:
    """Share of the greys' variance that a smooth slope explains."""
    y, x = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j].reshape(2, -1)
    slopes, _ = np.linalg.qr(np.stack([np.ones_like(x), x, y, x * y, x**2, y**2], axis=1))
    centred = seen.ravel() - seen.mean()
    return float(((centred @ slopes) ** 2).sum() / max((centred**2).sum(), 1e-9))


def _misplaced(kind: Kind) -> str:
    """The sentence for a chest X-ray that is the wrong way up, or a negative, or both."""
    turn = LIES[kind.quarters]
    if not kind.inverted:
        return f"Looks like a chest X-ray {turn}; {REMEDY[turn]} first."
    if not turn:
        return "Looks like a chest X-ray with inverted grey scale (bones dark); invert it first."
    return f"Looks like a chest X-ray with inverted grey scale and {turn}; invert it and {REMEDY[turn]} first."
