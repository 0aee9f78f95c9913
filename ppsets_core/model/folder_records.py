"""A folder's probabilities as records, without what the bundled model was trained on."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ppsets_core.data.columns import TEXTS
from ppsets_core.data.records import Records
from ppsets_core.data.source import Labels
from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.files.names import same_names
from ppsets_core.method.sets import conformity_scores
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.places import ASSETS
from ppsets_core.xrays.labels import SUFFIX, parse_labels

if TYPE_CHECKING:
    from ppsets_core.model import FolderPrediction, XrayModel

SPLIT = ASSETS / "coronahack_split.csv"
"""CoronaHack by the parts that the bundled model was trained on and never saw."""
NAMESAKE = re.compile(r" \(\d+\)$")
"""What a listing adds to a repeated name."""
LEARNT = (
    "By its name it is one of the CoronaHack X-rays that the bundled model was trained on, and no promise would hold: "
    "the model knows it too well. Use others (assets/coronahack_split.csv says which), or rename it if it is another."
)


def is_learnt_from(name: str) -> bool:
    """Whether a file is named like an X-ray that the bundled model was trained on, whatever its folder."""
    name = NAMESAKE.sub("", name.casefold().rsplit("/", 1)[-1])
    return SUFFIX.sub("", name) in _learnt_from()


@lru_cache(maxsize=1)
def _learnt_from() -> frozenset[str]:
    rows = parse_labels(SPLIT.read_bytes()) if SPLIT.is_file() else []
    return frozenset(SUFFIX.sub("", row.file.casefold()) for row in rows if row.split == "train")


def label_numbers(
    model: "XrayModel", names: Sequence[str], labels: Sequence[str | None]
) -> tuple[np.ndarray, tuple[Refused, ...]]:
    """Each label's class number, in any case of letters, or −1; and what cannot be used, with the reason.

    That is what the model does not know, and what the bundled model has learnt from: its scores are too good."""
    found = _numbers(model.classes, labels)
    reasons = [
        "" if number >= 0 else f"The model does not know the label '{label}'." if label else "It has no label."
        for label, number in zip(labels, found.tolist(), strict=True)
    ]
    if model.fingerprint == bundled_fingerprint():
        reasons = [LEARNT if is_learnt_from(name) else why for name, why in zip(names, reasons, strict=True)]
    found[[bool(why) for why in reasons]] = -1
    refused = tuple(Refused(name, why) for name, why in zip(names, reasons, strict=True) if why)
    return found, refused


def _numbers(classes: Sequence[str], labels: Sequence[str | None]) -> np.ndarray:
    numbers = {name.casefold(): number for number, name in enumerate(classes)}
    return np.array([numbers.get((label or "").casefold(), -1) for label in labels], dtype=np.int64)


def known_labels(
    model: "XrayModel", names: Sequence[str], labels: Sequence[str | None]
) -> tuple[np.ndarray, tuple[Refused, ...]]:
    """Class numbers as `label_numbers` gives them, at least one of which must be usable."""
    found, refused = label_numbers(model, names, labels)
    if not len(found):
        raise FileError("None of the pictures could be read. Usable are PNG, JPEG, TIFF and DICOM files.")
    if len(refused) == len(found) and all(one.reason == LEARNT for one in refused):
        raise FileError(f"None of these X-rays can be used. {LEARNT}")
    if len(refused) == len(found):
        raise FileError(
            f"No X-ray has a label that the model knows: {', '.join(model.classes)}. Name the sub-folders so, "
            "or give a CSV with the columns file and label."
        )
    return found, refused


def records_of(
    source: str, model: "XrayModel", predicted: "FolderPrediction", *, labels: Labels = "needed"
) -> tuple[Records, tuple[Refused, ...]]:
    """Records of the X-rays whose label the model knows, and the others with the reason.

    labels: "optional" keeps all, each with its file name; what the bundled model was trained on is marked as such.
    """
    if labels == "needed":
        found, refused = known_labels(model, predicted.names, predicted.labels)
        kept = np.flatnonzero(found >= 0)
    else:
        found, refused = _numbers(model.classes, predicted.labels), ()
        kept = np.arange(len(found))
    probabilities, numbers = predicted.probabilities[kept], found[kept]
    known = np.flatnonzero(numbers >= 0)
    scores = np.full(len(kept), np.nan)
    if len(known):
        scores[known] = conformity_scores(probabilities[known], numbers[known])
    records = Records(
        source,
        scores,
        classes=model.classes,
        probabilities=probabilities,
        labels=numbers if len(known) else None,
        patients=known_patients([predicted.patients[i] for i in kept]),
        model=model.fingerprint,
        novelty=None if predicted.novelty is None else predicted.novelty[kept],
    )
    return (records if labels == "needed" else _all_of(records, model, predicted)), refused


def _all_of(records: Records, model: "XrayModel", predicted: "FolderPrediction") -> Records:
    """With file names, training parts, and the patients of those that can be checked."""
    trained = model.fingerprint == bundled_fingerprint()
    splits = np.array(["train" if trained and is_learnt_from(name) else "" for name in predicted.names], dtype=TEXTS)
    records = replace(records, splits=splits, identifiers={"file": np.array(predicted.names, dtype=TEXTS)})
    named = known_patients([predicted.patients[i] for i in records.checkable()])
    if named is not None:
        patients = np.full(len(records), "", dtype=object).astype(TEXTS)
        patients[records.checkable()] = named
        named = patients
    return replace(records, patients=named)


def known_patients(patients: Sequence[str | None]) -> np.ndarray | None:
    """Each record's patient, '' where its labels row names nobody; None where no column names patients."""
    return None if None in patients else np.array(same_names([patient or "" for patient in patients]), dtype=TEXTS)


def patients_note(patients: Sequence[str | None]) -> str:
    """What to say where some X-rays of a column of patients name nobody."""
    named = sum(map(bool, patients))
    if named == len(patients) or None in patients:
        return ""
    return (
        f"Patients are named for {named:,} of {len(patients):,} X-rays only: each of the others counts as a patient of "
        "its own. Name them, for a patient with several of those loses several times as much."
    )
