"""`python -m tools.robustness CORONAHACK`: the same held-out X-rays as other machines and exports would give them.

Prints the table of models/README.md: how much accuracy each alteration costs, and how many the gate flags
(a flagged picture is not counted, neither before nor after)."""

import argparse
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from ppsets_core.model.gate import why_not_a_chest_xray
from ppsets_core.model.prediction import predict
from ppsets_core.model.weights import XrayModel, load_model
from ppsets_core.xrays.folder import Xray
from ppsets_core.xrays.picture import read_picture
from tools.coronahack import HELD_OUT, read_coronahack

XRAYS, SEED = 300, 0
Alteration = Callable[[np.ndarray], bytes]


def _png(grey: np.ndarray, levels: int = 255) -> bytes:
    """Greys in [0, 1] as a PNG: 8 bit, or 16 bit with the largest value `levels`."""
    out = io.BytesIO()
    kind = np.uint8 if levels == 255 else np.uint16
    Image.fromarray((grey.clip(0, 1) * levels).round().astype(kind)).save(out, "PNG")
    return out.getvalue()


def _bits(bits: int) -> Alteration:
    return lambda grey: _png(grey, 2**bits - 1)


def _bordered(value: float) -> Alteration:
    def alter(grey: np.ndarray) -> bytes:
        rows, columns = (round(0.25 * side) for side in grey.shape)
        return _png(np.pad(grey, ((rows, rows), (columns, columns)), constant_values=value))

    return alter


def _jpeg(grey: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray((grey * 255).round().astype(np.uint8)).save(out, "JPEG", quality=10)
    return out.getvalue()


def _small(grey: np.ndarray) -> bytes:
    scale = 64 / min(grey.shape)
    size = tuple(max(64, round(side * scale)) for side in grey.shape[::-1])
    return _png(np.asarray(Image.fromarray(grey).resize(size, Image.Resampling.BILINEAR)))


def _tilted(grey: np.ndarray) -> bytes:
    return _png(np.asarray(Image.fromarray(grey).rotate(10, Image.Resampling.BILINEAR, expand=True)))


ALTERATIONS: dict[str, Alteration] = {
    "as it is": _png,
    **{f"{bits} bits in a 16-bit file": _bits(bits) for bits in (12, 13, 14, 15)},
    "contrast × 0.25": lambda grey: _png(0.25 * grey + 0.375),
    "gamma 0.4": lambda grey: _png(grey**0.4),
    "gamma 2.5": lambda grey: _png(grey**2.5),
    "black border of 25%": _bordered(0.0),
    "white border of 25%": _bordered(1.0),
    "JPEG, quality 10": _jpeg,
    "64 pixels": _small,
    "tilted by 10°": _tilted,
}


def held_out_sample(coronahack: Path, count: int = XRAYS) -> list[tuple[Xray, np.ndarray]]:
    """A random sample of the held-out X-rays with their greys."""
    both = [pair for split in HELD_OUT for pair in read_coronahack(coronahack, split).readable([])]
    chosen = np.random.default_rng(SEED).permutation(len(both))[:count]
    return [(both[index][0], both[index][1].grey) for index in sorted(chosen)]


def measure(
    model: XrayModel, sample: list[tuple[Xray, np.ndarray]], alter: Alteration
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each altered X-ray is recognised, and whether it is flagged."""
    pictures = [read_picture(alter(grey), at_least=model.preprocessing.read_at_least) for _, grey in sample]
    said = predict(model, pictures).argmax(axis=1)
    right = [model.classes[index] == xray.label for index, (xray, _) in zip(said, sample, strict=True)]
    return np.array(right), np.array([bool(why_not_a_chest_xray(picture)) for picture in pictures])


def table(model: XrayModel, sample: list[tuple[Xray, np.ndarray]]) -> str:
    """Accuracy of those not flagged, against the accuracy of the same X-rays as they are."""
    plain, plain_flagged = measure(model, sample, ALTERATIONS["as it is"])
    lines = ["| alteration | accuracy | lost, points | flagged |", "| --- | --- | --- | --- |"]
    for name, alter in ALTERATIONS.items():
        right, flagged = measure(model, sample, alter)
        counted = ~flagged & ~plain_flagged
        lost = 100 * (plain[counted].mean() - right[counted].mean())
        lines.append(f"| {name} | {right[counted].mean():.3f} | {lost:.1f} | {flagged.mean():.1%} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("coronahack", type=Path, help="folder with CoronaHack's pictures")
    parser.add_argument("--weights", type=Path, help="weights to measure (default: the bundled ones)")
    arguments = parser.parse_args()
    print(table(load_model(arguments.weights), held_out_sample(arguments.coronahack)))
