"""Labelled X-rays as records to check their sets with."""

from collections.abc import Sequence

import numpy as np

from ppsets_core.data.records import Records
from ppsets_core.diagnose.answers import Answer
from ppsets_core.method.calibration import Drawn
from ppsets_core.method.sets import conformity_scores
from ppsets_core.model.folder_records import known_patients
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.xrays.coronahack import is_learnt_from


def records_of_answers(
    answers: Sequence[Answer], calibration: Drawn, model: str | None, source: str, group: str | None = None
) -> Records | None:
    """Every X-ray whose true diagnosis the model knows, flagged ones as well, but not what the bundled model has learnt
    from; None where there is none."""
    known = [answer for answer in answers if answer.finding.label is not None and not _is_learnt(answer, model)]
    if not known:
        return None
    classes = known[0].classes
    probabilities = np.stack([answer.finding.probabilities for answer in known])
    labels = np.array([classes.index(str(answer.finding.label)) for answer in known])
    scores = conformity_scores(probabilities, labels)
    named = known_patients([answer.finding.patient for answer in known])
    groups = {} if group is None else {str(calibration.per): np.full(len(known), group)}
    return Records(source, scores, scores, classes, probabilities, labels, named, model, groups)


def not_checked(answers: Sequence[Answer], model: str | None) -> str:
    """What to say where X-rays with a true diagnosis are in no check."""
    learnt = sum(answer.finding.label is not None and _is_learnt(answer, model) for answer in answers)
    return f"Not checked: {learnt:,} that, by their names, the bundled model has learnt from." if learnt else ""


def _is_learnt(answer: Answer, model: str | None) -> bool:
    return model == bundled_fingerprint() and is_learnt_from(answer.finding.name)
