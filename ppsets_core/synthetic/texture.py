"""Fine texture with the right spectrum and random phase; without it a healthy lung looks hazy, like pneumonia."""

import numpy as np
from PIL import Image

TEXTURE_SIDE = 256


def stretched(
    grid: np.ndarray, width: int, height: int, how: Image.Resampling = Image.Resampling.BICUBIC
) -> np.ndarray:
    """A float picture or map resized, smoothly."""
    return np.asarray(Image.fromarray(np.asarray(grid, dtype=np.float32)).resize((width, height), how))


def full_spectrum(quadrant: np.ndarray) -> np.ndarray:
    """Amplitudes (256 × 129, as rfft2 orders them) from the stored corner of a symmetric spectrum."""
    half = TEXTURE_SIDE // 2
    upper = stretched(quadrant, half + 1, half + 1, Image.Resampling.BILINEAR)
    full = np.concatenate([upper, upper[half - 1 : 0 : -1]])
    full[0, 0] = 0
    return full


def random_texture(spectrum: np.ndarray, strength: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One texture (256 × 256): noise of this full spectrum, of unit variance, times a map of local strength."""
    noise = rng.standard_normal((TEXTURE_SIDE, TEXTURE_SIDE), dtype=np.float32)
    noise = np.fft.irfft2(np.fft.rfft2(noise) * spectrum, s=noise.shape).astype(np.float32)
    return noise / noise.std() * strength
