"""Says whether a picture looks like an upright chest X-ray, and if not, why."""

import numpy as np

from ppsets_core.gate.misfit import load_fit, square_view
from ppsets_core.xrays.picture import Picture

SMALLEST = 64
COLOUR = 0.1
"""Mean max − min of R, G, B from which a picture counts as coloured; a scan's tint or a coloured marker stays below."""
CONTRAST = 0.04
"""Standard deviation of the greys below which there is nothing to see; the X-rays learnt from have 0.08 or more."""
SHAPES = (0.5, 4.0)
"""Width ÷ height; that of the X-rays learnt from is 0.84 to 3.4."""
TURNS = ((0, ""), (2, "upside down"), (1, "on its side"), (3, "on its side"))
"""Quarter turns that would set a picture upright, and how it lies."""
REMEDY = {"upside down": "turn it by 180°", "on its side": "turn it by 90°"}


def why_not_a_chest_xray(picture: Picture) -> str:
    """A sentence for the reader, empty if the picture looks like an upright chest X-ray and may be classified.

    Looks at size, colour, contrast, shape, and how well the picture fits chest X-rays: as is, turned, inverted.
    An upright chest X-ray fits well, and clearly better than it does turned or as its negative."""
    view = square_view(picture.grey)
    return _plain_reason(picture, view) or _fit_reason(view) or _shape_reason(picture)


def _plain_reason(picture: Picture, view: np.ndarray) -> str:
    height, width = picture.grey.shape
    if min(height, width) < SMALLEST:
        return f"Too small to judge: {width} × {height} pixels, at least {SMALLEST} on each side are needed."
    if picture.chroma > COLOUR:
        return "A colour picture; chest X-rays are grey."
    if view.std() < CONTRAST:
        return "Nearly uniform: too little contrast for a chest X-ray."
    return ""


def _fit_reason(view: np.ndarray) -> str:
    fit = load_fit()
    turned = np.stack([np.rot90(view, quarters) for quarters, _ in TURNS]).reshape(len(TURNS), -1)
    as_is, *others = fit.misfit(np.concatenate([turned, -turned]))
    best = int(np.argmin(others))
    if others[best] <= fit.limit and others[best] * fit.margin <= as_is:
        inverted, turn = divmod(best + 1, len(TURNS))
        return _misplaced(bool(inverted), TURNS[turn][1])
    if as_is > fit.limit or others[best] < as_is * fit.margin:
        return "Does not look like an upright chest X-ray."
    return ""


def _shape_reason(picture: Picture) -> str:
    height, width = picture.grey.shape
    return "" if SHAPES[0] <= width / height <= SHAPES[1] else "Far too narrow or too wide for a chest X-ray."


def _misplaced(inverted: bool, turn: str) -> str:
    """The sentence for a chest X-ray that is the wrong way up, or a negative, or both."""
    if not inverted:
        return f"Looks like a chest X-ray {turn}; {REMEDY[turn]} first."
    if not turn:
        return "Looks like a chest X-ray with inverted grey scale (bones dark); invert it first."
    return f"Looks like a chest X-ray with inverted grey scale and {turn}; invert it and {REMEDY[turn]} first."
