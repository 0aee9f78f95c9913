"""Learns the generator: `python -m tools.learn_synthetic coronahack --out models/synthetic_xrays.npz`.

Only CoronaHack's `train` split is read. No differential privacy is involved: the data set is public, and what is kept
are averages over its X-rays; no X-ray contributes more than 1.2% to any component.

No draw is nearly a copy of an X-ray of the data set. Root mean square difference of standardised pictures at 64 px, to
the nearest training X-ray: 900 draws least 0.32, median 0.46; new patients' X-rays least 0.07, median 0.44; training
X-rays to the nearest of another patient 1% below 0.30, median 0.44.
"""

import argparse
from pathlib import Path

import numpy as np

from ppsets_core.synthetic.components import principal_components, standardised
from ppsets_core.synthetic.generator import SIDE, Generator, save_generator
from ppsets_core.synthetic.texture import TEXTURE_SIDE, stretched
from tools.training_xrays import TrainingXrays, read_training_xrays

COMPONENTS = 240
SPREAD = 0.85
"""Draws are a little more typical than the X-rays they are learnt from."""
EMPHASIS = 0.8
"""How far a class's mean is moved away from the nearest other class, so that draws are clear cases of their class."""
TEXTURE = 0.5
"""Share of the missing detail that is put back: random phase turns edges into grain, so not all of it."""


def learn_generator(xrays: TrainingXrays, components: int = COMPONENTS) -> Generator:
    """Components over all classes; the Gaussian, the spectrum and the strength of the texture class by class."""
    rows = xrays.at(SIDE)
    brightness, contrast = rows.mean(axis=1), rows.std(axis=1)
    mean, basis, _ = principal_components(standardised(rows), components)
    steps = np.abs(basis).max(axis=1) / 127
    quantised = np.round(basis / steps[:, None]).astype(np.int8)
    coefficients = (standardised(rows) - mean) @ basis.T
    soft = coefficients @ (quantised * steps[:, None]).astype(np.float32)
    soft = (soft + mean) * contrast[:, None] + brightness[:, None]
    classes = sorted(set(xrays.labels))
    textures = [_Texture() for _ in classes]
    log_texture = np.empty(len(rows))
    for i, (grey, label) in enumerate(zip(xrays.greys, xrays.labels, strict=True)):
        missing = grey / 255 - stretched(soft[i].reshape(SIDE, SIDE), TEXTURE_SIDE, TEXTURE_SIDE)
        log_texture[i] = np.log(TEXTURE * missing.std())
        textures[classes.index(label)].add(missing / missing.std())
    latents = np.column_stack([coefficients, brightness, np.log(contrast), np.log(xrays.aspects), log_texture])
    by_class = [latents[xrays.labels == name] for name in classes]
    return Generator(
        classes=np.array(classes),
        mean=mean,
        components=quantised,
        steps=steps,
        latent_mean=emphasised(np.stack([own.mean(axis=0) for own in by_class])),
        latent_root=SPREAD * np.stack([np.linalg.cholesky(np.cov(own.T)) for own in by_class]),
        spectrum=np.stack([texture.spectrum() for texture in textures]),
        strength=np.stack([texture.strength() for texture in textures]),
    )


def emphasised(means: np.ndarray) -> np.ndarray:
    """Every class mean moved away from the class whose mean is nearest."""
    distances = np.linalg.norm(means[:, None] - means, axis=2) + np.diag(np.full(len(means), np.inf))
    return means + EMPHASIS * (means - means[distances.argmin(axis=1)])


class _Texture:
    """Average power by frequency and by place of what the components miss, over the X-rays of a class."""

    def __init__(self) -> None:
        self.count, self.power, self.square = 0, 0.0, 0.0
        self.window = np.outer(np.hanning(TEXTURE_SIDE), np.hanning(TEXTURE_SIDE))

    def add(self, missing: np.ndarray) -> None:
        self.count += 1
        self.power = self.power + np.abs(np.fft.rfft2(missing * self.window)) ** 2
        self.square = self.square + missing**2

    def spectrum(self) -> np.ndarray:
        """Amplitude at every second frequency of one quadrant, its largest set to 1."""
        half = TEXTURE_SIDE // 2
        mirrored = np.concatenate([self.power[:1], self.power[: half - 1 : -1]])
        amplitude = np.sqrt(self.power[: half + 1] + mirrored)[::2, ::2]
        return amplitude / amplitude.max()

    def strength(self) -> np.ndarray:
        """Root mean square in a 16 × 16 map, 1 on average."""
        blocks = (self.square / self.count).reshape(16, TEXTURE_SIDE // 16, 16, TEXTURE_SIDE // 16)
        return np.sqrt(blocks.mean(axis=(1, 3)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learns the generator of synthetic X-rays from the train split.")
    parser.add_argument("data", type=Path, help="folder with CoronaHack's pictures")
    parser.add_argument("--out", type=Path, required=True, help="where to write the generator (.npz)")
    arguments = parser.parse_args()
    xrays = read_training_xrays(arguments.data)
    save_generator(learn_generator(xrays), arguments.out)
    print(f"{arguments.out}: from {len(xrays.greys):,} X-rays, {arguments.out.stat().st_size / 1e6:.1f} MB")
