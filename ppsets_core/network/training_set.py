"""Labelled X-rays held in memory, small and 8-bit, and the part of them kept aside by patient."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ppsets_core.errors import InputError
from ppsets_core.network.preprocess import resized_square
from ppsets_core.xrays.folder import Refused, XrayFolder


@dataclass(frozen=True)
class TrainingSet:
    """Square grey X-rays (N, 1, side, side) as uint8, their class numbers, and whose they are."""

    greys: Tensor
    labels: Tensor
    patients: tuple[str, ...]
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Tensor) -> "TrainingSet":
        """The X-rays of these rows."""
        patients = tuple(self.patients[row] for row in rows.tolist())
        return TrainingSet(self.greys[rows], self.labels[rows], patients, self.classes)

    def rows_by_patient(self, share: float, seed: int) -> tuple[Tensor, Tensor]:
        """(rest, held out) as row numbers: about `share` of the X-rays held out, no patient on both sides."""
        names, count = sorted(set(self.patients)), Counter(self.patients)
        held_out: set[str] = set()
        held = 0
        for index in np.random.default_rng(seed).permutation(len(names)):
            if held >= share * len(self):
                break
            held_out.add(names[index])
            held += count[names[index]]
        is_held = torch.tensor([patient in held_out for patient in self.patients])
        return (~is_held).nonzero()[:, 0], is_held.nonzero()[:, 0]


def square_grey(grey: np.ndarray, side: int) -> Tensor:
    """The middle square of a picture as training keeps it: 8-bit, (1, side, side)."""
    return (resized_square(grey, side) * 255).round().to(torch.uint8)


def read_training_set(
    folder: XrayFolder, side: int, *, progress: Callable[[int], None] | None = None
) -> tuple[TrainingSet, tuple[Refused, ...]]:
    """A labelled folder in memory (side² bytes an X-ray), ordered by name, and what had to be left out.

    An X-ray without a patient counts as a patient of its own."""
    rows, refused = [], list(folder.refused)
    for xray, picture in zip(folder.xrays, folder.pictures(at_least=2 * side), strict=True):
        if isinstance(picture, Refused):
            refused.append(picture)
        elif xray.label is None:
            refused.append(Refused(xray.name, "it has no label, so nothing can be learnt from it"))
        else:
            rows.append((xray.name, xray.label, xray.patient or xray.name, square_grey(picture.grey, side)))
        if progress:
            progress(len(rows) + len(refused) - len(folder.refused))
    rows.sort(key=lambda row: row[0])
    classes = tuple(sorted({label for _, label, _, _ in rows}))
    if len(classes) < 2:
        raise InputError(
            f"Training needs labelled X-rays of at least two classes; here there are {len(rows)} of {len(classes)}. "
            "Put each class in a sub-folder of its name, or give a labels CSV with columns file and label."
        )
    data = TrainingSet(
        torch.stack([grey for *_, grey in rows]),
        torch.tensor([classes.index(label) for _, label, _, _ in rows]),
        tuple(patient for _, _, patient, _ in rows),
        classes,
    )
    return data, tuple(refused)
