"""Draws labelled synthetic X-rays by seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.synthetic.generator import EXTRAS, Generator, load_generator
from ppsets_core.synthetic.texture import TEXTURE_SIDE, full_spectrum, random_texture, stretched

ASPECTS = (0.85, 2.2)
"""Narrowest and widest picture drawn, width ÷ height."""


@dataclass(frozen=True, eq=False)
class SyntheticXray:
    """A chest X-ray of nobody: `grey` float32 (rows, columns) in [0, 1], shorter side 256 pixels, and its class."""

    grey: np.ndarray
    label: str


def draw_xrays(count: int, seed: int, label: str | None = None) -> list[SyntheticXray]:
    """`count` X-rays, the classes in turn (equally many of each) or all of class `label`.

    The i-th depends on the seed and i alone: drawing more with the same seed only adds to the list."""
    return list(iter_xrays(count, seed, label))


def iter_xrays(count: int, seed: int, label: str | None = None) -> Iterator[SyntheticXray]:
    """As `draw_xrays`, one at a time, so that thousands need not be held in memory."""
    if count < 0 or seed < 0:
        raise InputError(f"The count and the seed must be 0 or more, not {count} and {seed}.")
    generator = load_generator()
    names = tuple(str(name) for name in generator.classes)
    if label is not None and label not in names:
        raise InputError(f"There is no synthetic X-ray of class {label!r}; the classes are {', '.join(names)}.")
    return (
        _draw(generator, names.index(label) if label else i % len(names), np.random.default_rng([seed, i]))
        for i in range(count)
    )


def _draw(generator: Generator, k: int, rng: np.random.Generator) -> SyntheticXray:
    mean, root = generator.latent_mean[k], generator.latent_root[k]
    latent = mean + root @ rng.standard_normal(len(mean), dtype=np.float32)
    brightness, log_contrast, log_aspect, log_texture = latent[-EXTRAS:]
    soft = generator.standardised_picture(latent[:-EXTRAS]) * np.exp(log_contrast) + brightness
    spectrum, strength = _texture_maps(generator, k)
    texture = random_texture(spectrum, strength, rng) * np.exp(log_texture)
    square = np.clip(stretched(soft, TEXTURE_SIDE, TEXTURE_SIDE) + texture, 0, 1)
    aspect = float(np.clip(np.exp(log_aspect), *ASPECTS))
    width, height = round(TEXTURE_SIDE * max(aspect, 1)), round(TEXTURE_SIDE * max(1 / aspect, 1))
    return SyntheticXray(np.clip(stretched(square, width, height), 0, 1), str(generator.classes[k]))


@cache
def _texture_maps(generator: Generator, k: int) -> tuple[np.ndarray, np.ndarray]:
    """A class's full spectrum and local strength, worked out once."""
    return full_spectrum(generator.spectrum[k]), stretched(generator.strength[k], TEXTURE_SIDE, TEXTURE_SIDE)
