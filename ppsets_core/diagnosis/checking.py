"""Labelled X-rays as records to check their sets with."""

from collections.abc import Sequence

import numpy as np

from ppsets_core.calibration import Drawn
from ppsets_core.diagnosis.answers import Answer
from ppsets_core.records.columns import TEXTS
from ppsets_core.records.records import Records
from ppsets_core.sets import conformity_scores


def records_of_answers(
    answers: Sequence[Answer], calibration: Drawn, model: str | None, source: str, group: str | None = None
) -> Records | None:
    """Every X-ray whose true diagnosis the model knows, flagged ones as well; None where there is none."""
    known = [answer for answer in answers if answer.finding.label is not None]
    if not known:
        return None
    classes = known[0].classes
    probabilities = np.stack([answer.finding.probabilities for answer in known])
    labels = np.array([classes.index(str(answer.finding.label)) for answer in known])
    scores = conformity_scores(probabilities, labels)
    patients = [answer.finding.patient for answer in known]
    named = None if None in patients else np.array(patients, dtype=TEXTS)
    groups = {} if group is None else {str(calibration.per): np.full(len(known), group)}
    return Records(source, scores, scores, classes, probabilities, labels, named, model, groups)
