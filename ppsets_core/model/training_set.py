"""Labelled X-rays in memory, small and 8-bit; the part of them held out by patient, and what is measured on it."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ppsets_core.errors import InputError
from ppsets_core.files import Refused
from ppsets_core.files.names import shown_name
from ppsets_core.model.network import stretched
from ppsets_core.xrays.folder import XrayFolder


@dataclass(frozen=True)
class TrainingSet:
    """Square grey X-rays (N, 1, side, side) as uint8, their class numbers, and whose they are: '' where a row names
    nobody, None where no column names patients."""

    greys: Tensor
    labels: Tensor
    patients: tuple[str | None, ...]
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def has_patients(self) -> bool:
        return None not in self.patients

    @property
    def names_everyone(self) -> bool:
        return all(self.patients)

    def take(self, rows: Tensor) -> "TrainingSet":
        """The X-rays of these rows."""
        patients = tuple(self.patients[row] for row in rows.tolist())
        return TrainingSet(self.greys[rows], self.labels[rows], patients, self.classes)

    def rows_by_patient(self, share: float, seed: int) -> tuple[Tensor, Tensor]:
        """(rest, held out) as row numbers: about `share` of the X-rays held out, no patient on both sides.

        Who is held out depends on who else is there; private training needs `rows_by_each_patient`."""
        count = Counter(self._owners())
        names = sorted(count)
        held_out: set[str] = set()
        held = 0
        for index in np.random.default_rng(seed).permutation(len(names)):
            if held >= share * len(self):
                break
            held_out.add(names[index])
            held += count[names[index]]
        return self._apart(held_out)

    def rows_by_each_patient(self, share: float, seed: int) -> tuple[Tensor, Tensor]:
        """(rest, held out), each patient held out with chance `share` by the seed and the patient's name alone, so that
        adding or removing an X-ray moves no other."""
        return self._apart({owner for owner in set(self._owners()) if _place(owner, seed) < share})

    def _owners(self) -> list[str]:
        """The patient of each X-ray; one that names nobody is its own, by its pixels."""
        return [
            patient or hashlib.sha256(grey.numpy().tobytes()).hexdigest()
            for patient, grey in zip(self.patients, self.greys, strict=True)
        ]

    def _apart(self, held_out: set[str]) -> tuple[Tensor, Tensor]:
        is_held = torch.tensor([owner in held_out for owner in self._owners()])
        return (~is_held).nonzero()[:, 0], is_held.nonzero()[:, 0]


def _place(patient: str, seed: int) -> float:
    """In [0, 1), as if drawn at random."""
    digest = hashlib.sha256(f"{seed}:{patient}".encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:4]) / 2**32


def square_grey(grey: np.ndarray, side: int) -> Tensor:
    """The whole X-ray as training keeps it: 8-bit, (1, side, side)."""
    return (stretched(grey, side) * 255).round().to(torch.uint8)


def read_training_set(
    folder: XrayFolder,
    side: int,
    *,
    classes: Sequence[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[TrainingSet, tuple[Refused, ...]]:
    """Read a labelled folder into memory (side² bytes per X-ray), ordered by name; also return what was left out.

    classes: leave out X-rays with other labels; None takes the labels that occur."""
    if classes is not None:
        check_classes(classes)
    rows, refused = [], list(folder.refused)
    for xray, picture in folder.readable(refused, at_least=2 * side):
        if xray.label is None:
            refused.append(Refused(xray.name, "it has no label, so nothing can be learnt from it"))
        elif classes is not None and xray.label not in classes:
            reason = f"its label '{xray.label}' is none of the classes to learn: {', '.join(classes)}"
            refused.append(Refused(xray.name, reason))
        else:
            square = square_grey(picture.grey, side)
            rows.append((xray.name, xray.label, xray.patient, square))
        if progress:
            progress(len(rows) + len(refused) - len(folder.refused))
    rows.sort(key=lambda row: row[0])
    if classes is not None and not rows:
        raise InputError(f"No X-ray has one of the labels {', '.join(classes)}, so nothing can be learnt.")
    classes = tuple(classes or sorted({label for _, label, _, _ in rows}))
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


def check_classes(classes: Sequence[str]) -> None:
    """Refuse classes that are repeated or that no label can be."""
    if not 2 <= len(set(classes)) == len(classes) or not all(name and name == shown_name(name) for name in classes):
        raise InputError("Name at least two classes, each once, separated by commas.")


def class_weights(data: TrainingSet) -> Tensor:
    """Weights by the inverse root of each class's share, so that rarer classes count more."""
    share = torch.bincount(data.labels, minlength=len(data.classes)).clamp(min=1).float() / len(data)
    weights = share.rsqrt()
    return weights / (weights * share).sum()


def accuracy_and_recall(logits: Tensor, labels: Tensor) -> tuple[float, float]:
    """Share recognised, over all X-rays and averaged over the classes that occur; NaN without X-rays."""
    if len(labels) == 0:
        return float("nan"), float("nan")
    right = (logits.argmax(1) == labels).float()
    recalls = [right[labels == label].mean() for label in labels.unique()]
    return right.mean().item(), torch.stack(recalls).mean().item()


def fit_temperature(logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> float:
    """The divisor of the logits, between ¼ and 4, that makes the held-out labels likeliest; 1 without any.

    weights: how many X-rays each stands for."""
    if len(labels) == 0:
        return 1.0
    weights = torch.ones(len(labels)) if weights is None else weights

    def loss(temperature: float) -> float:
        return float(weights.double() @ F.cross_entropy(logits.double() / temperature, labels, reduction="none"))

    return min(torch.logspace(-2, 2, 401, base=2, dtype=torch.float64).tolist(), key=loss)
