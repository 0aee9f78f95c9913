"""What kind of picture it is, by a very small network: an upright chest X-ray, one turned or inverted, or something
else."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ppsets_core.synthetic.components import standardised


class Kind(NamedTuple):
    """A chest X-ray that `quarters` quarter turns would set upright, after inverting it if `inverted`."""

    quarters: int
    inverted: bool


KINDS = tuple(Kind(quarters, inverted) for inverted in (False, True) for quarters in range(4))
"""Every kind of chest X-ray; whatever comes after them is something else."""


@dataclass(frozen=True, eq=False)
class KindNetwork:
    """Two layers on a standardised square: the chances of each of KINDS, and last of something else."""

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


def set_upright(square: np.ndarray, kind: Kind) -> np.ndarray:
    """A square of this kind as it would be upright and not inverted."""
    return np.rot90(1 - square if kind.inverted else square, kind.quarters)


def misplaced(square: np.ndarray, kind: Kind) -> np.ndarray:
    """An upright square as one of this kind: the reverse of `set_upright`."""
    return np.rot90(1 - square if kind.inverted else square, -kind.quarters)
