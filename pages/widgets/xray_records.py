"""A labelled folder's probabilities as calibration records."""

from collections.abc import Sequence

import numpy as np

from ppsets_core import FileError, Records, conformity_scores
from ppsets_core.xrays import Refused


def records_of(
    source: str, classes: tuple[str, ...], probabilities: np.ndarray, names: Sequence[str], labels: Sequence, patients
) -> tuple[Records, tuple[Refused, ...]]:
    """Records of every X-ray whose label the model knows, in any case of letters, and the others with the reason."""
    numbers = {name.casefold(): number for number, name in enumerate(classes)}
    found = np.array([numbers.get((label or "").casefold(), -1) for label in labels], dtype=np.int64)
    refused = tuple(
        Refused(name, f"The model does not know the label '{label}'." if label else "It has no label.")
        for name, label, number in zip(names, labels, found, strict=True)
        if number < 0
    )
    kept = np.flatnonzero(found >= 0)
    if not len(kept):
        raise FileError(
            f"No X-ray has a label that the model knows: {', '.join(classes)}. Name the sub-folders so, "
            "or give a CSV with the columns file and label."
        )
    scores = conformity_scores(probabilities[kept], found[kept])
    who = None
    if any(patients[i] for i in kept):
        who = np.array([patients[i] or names[i] for i in kept])
    return Records(source, scores, scores, classes, probabilities[kept], found[kept], who), refused
