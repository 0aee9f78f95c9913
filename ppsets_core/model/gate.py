"""The chest X-ray gate: whether a picture looks like an upright frontal chest X-ray, before it is classified.

It asks the DICOM header, then looks at size, colour, contrast and shape, then at what kind of picture it is: by a very
small network, and by how badly the picture fits a Gaussian of upright chest X-rays."""

import math
import re
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.files.names import shown_name
from ppsets_core.places import MODELS
from ppsets_core.xrays.frame import to_model_square
from ppsets_core.xrays.picture import Header, Picture

BUNDLED = MODELS / "chest_xray_gate.npz"
SIDE = 32

# Computed and digital radiography, scanned films, and modalities that say nothing (other, secondary capture).
XRAY_MODALITIES = {"", "CR", "DX", "DR", "RG", "XR", "OT", "SC"}
CHEST_PARTS = ("CHEST", "THORAX", "LUNG", "RIB", "TORSO", "TRUNK")
# Words for other parts of the body. Any other word is ignored: it may mean the chest in another language.
OTHER_PARTS = re.compile(
    "ABDOM|BRAIN|SKULL|HEAD|FACE|FACIAL|ORBIT|SINUS|NASAL|MANDIB|MAXILL|DENTAL|TEETH|NECK|SPINE|SACR|COCCYX|PELVI|BREAST|"
    "KIDNEY|BLADDER|COLON|STOMACH|HUMERUS|ELBOW|FOREARM|WRIST|HAND|FINGER|THUMB|SHOULDER|FEMUR|THIGH|KNEE|TIBIA|FIBULA|"
    r"ANKLE|FOOT|CALCANEUS|EXTREMITY|\b(UPPER|LOWER)? ?(ARM|HIP|JAW|LEG|TOE)S?\b"
)
SIDE_VIEWS = ("LL", "RL", "LAT")
OBLIQUE_VIEWS = {"LAO", "RAO", "LPO", "RPO", "LLO", "RLO"}

SMALLEST = 64
COLOUR = 0.1  # mean max − min of R, G, B from which a picture counts as coloured; a tint or a marker stays below
CONTRAST = 0.008  # range of greys below which there is nothing to see; a 12-bit X-ray in 16 bits has 0.04 or more
SHAPES = (0.45, 4.0)  # width ÷ height without margins; 0.84 to 3.4 in the training X-rays
MOST_SHADING = 0.95  # share of the greys' variance that a slope may explain; in X-rays a half, 0.92 at most
# A picture of TYPICAL misfit passes if the network finds an upright chest X-ray likelier than not. Each unit of misfit
# less or more is worth WEIGHT in the logarithm of the odds. X-rays have 1 to 3, photographs about 8.
TYPICAL, WEIGHT = 3.5, 1.5
CLEARLY = 2  # how many times likelier than upright another orientation must be to be named

WANTED = "Give a frontal chest X-ray (PA or AP)."
OTHER = f"Does not look like a frontal view. {WANTED}"
LIES = {0: "", 1: "on its side", 2: "upside down", 3: "on its side"}
REMEDY = {"upside down": "turn it by 180°", "on its side": "turn it by 90°"}


class Kind(NamedTuple):
    """A chest X-ray that `quarters` quarter turns would set upright, after inverting it if `inverted`."""

    quarters: int
    inverted: bool


# The network's last output is for anything else.
KINDS = tuple(Kind(quarters, inverted) for inverted in (False, True) for quarters in range(4))


def why_not_a_chest_xray(picture: Picture) -> str:
    """Why the picture is not an upright frontal chest X-ray, in a sentence; empty if it may be classified."""
    return _header_reason(picture.header) or _plain_reason(picture) or _kind_reason(picture)


def _header_reason(header: Header) -> str:
    if header.modality not in XRAY_MODALITIES:
        return f"Its DICOM header says modality {shown_name(header.modality)}, not an X-ray. {WANTED}"
    if OTHER_PARTS.search(header.body_part) and not any(part in header.body_part for part in CHEST_PARTS):
        return f"Its DICOM header says body part {shown_name(header.body_part)}, not the chest. {WANTED}"
    if header.view in OBLIQUE_VIEWS:
        return f"Its DICOM header says an oblique view ({shown_name(header.view)}). {WANTED}"
    if header.view.startswith(SIDE_VIEWS):
        return f"Its DICOM header says a lateral view ({shown_name(header.view)}). {WANTED}"
    return ""


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
    fit, square = load_fit(), to_model_square(picture.grey, SIDE, picture.frame)
    if _shading(square) > MOST_SHADING:
        return OTHER
    assert fit.network is not None
    upright, *otherwise, _ = chances = fit.network.chances(square.reshape(1, -1))[0]
    likeliest = 1 + int(np.argmax(otherwise))
    if chances[likeliest] <= CLEARLY * upright:
        odds = math.log(max(upright, 1e-30) / max(1 - upright, 1e-30))
        fits = odds + WEIGHT * (TYPICAL - fit.misfit(square.reshape(1, -1))[0]) >= 0
        return "" if fits else OTHER
    set_right = set_upright(square, KINDS[likeliest]).reshape(1, -1)
    is_chest = chances[likeliest] > chances[-1] and fit.misfit(set_right)[0] <= TYPICAL  # else perhaps a lateral view
    return _misplaced_reason(KINDS[likeliest]) if is_chest else OTHER


def _misplaced_reason(kind: Kind) -> str:
    turn = LIES[kind.quarters]
    if not kind.inverted:
        return f"Looks like a chest X-ray {turn}; {REMEDY[turn]} first."
    if not turn:
        return "Looks like a chest X-ray with inverted grey scale (bones dark); invert it first."
    return f"Looks like a chest X-ray with inverted grey scale and {turn}; invert it and {REMEDY[turn]} first."


def _shading(square: np.ndarray) -> float:
    """Share of the greys' variance that a smooth slope explains."""
    y, x = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j].reshape(2, -1)
    slopes, _ = np.linalg.qr(np.stack([np.ones_like(x), x, y, x * y, x**2, y**2], axis=1))
    centred = square.ravel() - square.mean()
    return float(((centred @ slopes) ** 2).sum() / max((centred**2).sum(), 1e-9))


def set_upright(square: np.ndarray, kind: Kind) -> np.ndarray:
    """A square of this kind as it would be upright and not inverted."""
    return np.rot90(1 - square if kind.inverted else square, kind.quarters)


def standardised(rows: np.ndarray) -> np.ndarray:
    """Each picture (a row) at mean 0 and standard deviation 1, so that brightness and contrast do not matter."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.maximum(centred.std(axis=1, keepdims=True), 1e-6)


@dataclass(frozen=True, eq=False)
class KindNetwork:
    """Two layers on a standardised square: the chances of each of KINDS, and last of anything else."""

    first: np.ndarray  # (SIDE², hidden)
    first_bias: np.ndarray  # (hidden,)
    second: np.ndarray  # (hidden, kinds + 1)
    second_bias: np.ndarray  # (kinds + 1,)

    def chances(self, rows: np.ndarray) -> np.ndarray:
        """(N, kinds + 1), each row adding up to 1."""
        hidden = np.einsum("np,ph->nh", standardised(rows), self.first) + self.first_bias
        scores = np.maximum(hidden, 0) @ self.second + self.second_bias
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Fit:
    """A Gaussian of standardised 32 × 32 chest X-rays, the limit that a chest X-ray keeps to, and the network."""

    mean: np.ndarray  # (SIDE²,)
    components: np.ndarray  # (components, SIDE²)
    variances: np.ndarray  # (components,)
    residual: np.ndarray  # () mean squared residual of a chest X-ray
    limit: np.ndarray  # () largest misfit of a chest X-ray
    network: KindNetwork | None = None

    def misfit(self, rows: np.ndarray) -> np.ndarray:
        """Squared distance within the components plus squared residual outside them, each 1 for a typical X-ray."""
        centred = standardised(rows) - self.mean
        coefficients = np.einsum("np,kp->nk", centred, self.components)  # `@` starts threads: slow on a busy machine
        residual = (centred**2).sum(axis=1) - (coefficients**2).sum(axis=1)
        return (coefficients**2 / self.variances).mean(axis=1) + residual / self.residual


GAUSSIAN = tuple(field.name for field in fields(Fit) if field.name != "network")
NETWORK = tuple(field.name for field in fields(KindNetwork))


@cache
def load_fit(path: Path = BUNDLED) -> Fit:
    """Read the gate's numbers once."""
    try:
        with np.load(path, allow_pickle=False) as file:
            network = KindNetwork(*(file[name].astype(np.float32) for name in NETWORK))
            return Fit(**{name: file[name].astype(np.float32) for name in GAUSSIAN}, network=network)
    except (OSError, KeyError, ValueError, BadZipFile) as error:
        raise FileError(f"{path}: not the chest X-ray gate's numbers. Restore the file from the project.") from error
