"""What the columns of a score file mean."""

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from ppsets_core.data.columns import INDEX, TEXTS, Columns, brief_name, check_names
from ppsets_core.data.records import Records
from ppsets_core.errors import FileError
from ppsets_core.files.names import IGNORED, RESERVED, TEXT, same_names
from ppsets_core.inputs import label_lookup
from ppsets_core.method.calibration import check_model
from ppsets_core.scores import LAC, OWN, Score, class_score
from ppsets_core.validation import Location, check_all, check_probabilities, check_scores, listed, refuse_first

IDENTIFIERS = ("id", "file", "patient", "index")
Labels = Literal["needed", "optional"]


def texts_with(group: str | None, labels: Labels) -> frozenset[str]:
    """The columns that are read as text."""
    return TEXT | (set(IDENTIFIERS) if labels == "optional" else set()) | ({group} if group else set())


def records_of(
    columns: Columns,
    *,
    classes: tuple[str, ...] = (),
    group: str | None = None,
    labels: Labels = "needed",
    first_model: str | None = None,
    score: Score | None = None,
) -> Records:
    """What columns mean, by the arguments of `read_scores`.

    first_model: what the first row of a data set says, where these are not its first rows.
    """
    source, numbers, has_label = columns.location.source, columns.numbers, "label" in columns.texts
    numeric = [name for name in numbers if name not in RESERVED | IGNORED and not INDEX.fullmatch(name)]
    if labels == "optional" or (has_label and "score" not in numbers and len(numeric) >= 2):
        content = partial(_probabilities, columns, _wanted(numeric, classes, source), labels, score or LAC)
    elif "score" not in numbers and has_label:
        raise FileError(
            f"{source}: there is a 'label' but no probabilities to go with it. "
            "Add one probability column for each class, or a 'score' column."
        )
    else:
        name = "score" if "score" in numbers else _only(numeric, source)
        content = partial(_scores, columns, name, classes, score or OWN)
    model, novelty, content_found = check_all(
        partial(_model, columns, first_model), partial(_novelty, columns), content
    )
    return Records(
        source,
        **content_found,
        model=model,
        novelty=novelty,
        patients=patients_in(columns),
        groups=_groups(columns, group),
        splits=columns.texts["split"].array() if "split" in columns.texts else None,
        half_precision=not columns.half_precision.isdisjoint([*numeric, "score", "novelty"]),
        identifiers=_identifiers(columns) if labels == "optional" else {},
    )


def _scores(columns: Columns, name: str, classes: tuple[str, ...], score: Score) -> dict[str, Any]:
    """Scores that the file gives, and labels where the classes are known."""
    checks = [partial(check_scores, columns.numbers[name], _column(columns, brief_name(name)))]
    if classes and "label" in columns.texts:
        words = f"the label is none of the classes ({listed(classes)})"
        checks.append(partial(label_numbers, columns, classes, None, words))
    scores, *found = check_all(*checks)
    return {"scores": scores, "score": score} | ({"classes": classes, "labels": found[0]} if found else {})


def _probabilities(columns: Columns, names: list[str], labels: Labels, score: Score) -> dict[str, Any]:
    """Probabilities for each class, and the scores of the rows whose label is known."""
    place, values = columns.location, columns.numbers
    classes = tuple(brief_name(name) for name in names)
    check_names(classes, place.source)
    where = replace(place, columns=classes)
    checks = [partial(check_probabilities, np.column_stack([values[name] for name in names]), where)]
    if "label" in columns.texts:
        words = f"the label is none of the probability columns ({listed(classes, 20)})" if labels == "needed" else ""
        in_file = tuple(name for name in values if name in names)
        checks.append(partial(label_numbers, columns, tuple(names), in_file, words))
    probabilities, *labelled = check_all(*checks)
    scores, found = np.full(len(probabilities), np.nan), labelled[0] if labelled else None
    if found is not None and len(rows := np.flatnonzero(found >= 0)):
        scores[rows] = class_score(score).of_labels(probabilities[rows], found[rows])
    return {"scores": scores, "score": score, "classes": classes, "probabilities": probabilities, "labels": found}


def _wanted(numeric: list[str], classes: tuple[str, ...], source: str) -> list[str]:
    """The columns of the wanted classes, in their order; without any wanted, all."""
    by_name = {brief_name(name): name for name in numeric}
    if missing := [name for name in classes if name not in by_name]:
        raise FileError(
            f"{source}: the calibration is for {len(classes)} diagnoses and there is no column of probabilities for "
            f"{listed(missing)}; found are {listed(list(by_name))}. Use the calibration of the model that "
            "gave these probabilities, or name the columns as the calibration does."
        )
    if len(numeric) < 2:
        raise FileError(f"{source}: there is no probability for each of two or more diagnoses. Give a column for each.")
    return [by_name[name] for name in classes] if classes else numeric


def _identifiers(columns: Columns) -> dict[str, np.ndarray]:
    """The file's own columns that say which row is which, else the number of the row."""
    if found := {name: columns.texts[name].array() for name in IDENTIFIERS if name in columns.texts}:
        return found
    place = columns.location
    return {place.row: np.array(range(1, len(columns) + 1) if place.rows is None else place.rows).astype(TEXTS)}


def _column(columns: Columns, name: str) -> Location:
    return replace(columns.location, column=name)


def _only(numeric: list[str], source: str) -> str:
    if len(numeric) == 1:
        return numeric[0]
    if not numeric:
        raise FileError(f"{source}: there is no column of numbers. Give a 'score' column, or classes and 'label'.")
    raise FileError(
        f"{source}: {len(numeric)} columns hold numbers and it is not clear which to use. "
        "Name one of them 'score', or add a 'label' column if they are class probabilities."
    )


def label_numbers(
    columns: Columns, classes: tuple[str, ...], in_file: tuple[str, ...] | None = None, refusal: str = ""
) -> np.ndarray:
    """The labels as column numbers, by `label_lookup`; an unknown one is refused in these words, or −1 without any."""
    lookup, labels = label_lookup(classes, in_file), columns.texts["label"]
    found = labels.of_words([lookup(word) for word in labels.words], np.int64)
    if refusal:
        refuse_first(found < 0, _column(columns, "label"), refusal)
    return found


def patients_in(columns: Columns) -> np.ndarray | None:
    """Each record's patient, in one spelling, so that one patient is one."""
    if (names := columns.texts.get("patient")) is None:
        return None
    return names.of_words(same_names(names.words), TEXTS)


def _model(columns: Columns, first: str | None = None) -> str | None:
    """The fingerprint, or the user's own word for the model, that every row has; None without one."""
    models = columns.texts.get("model")
    if models is None or not len(models):
        return None
    other = "it is of another model than the first row; calibrate with the scores of one model"
    first = models.words[models.codes[0]] if first is None else first
    refuse_first(models.are(lambda word: word != first), _column(columns, "model"), other)
    check_model(first or None)
    return first or None


def _novelty(columns: Columns) -> np.ndarray | None:
    if (values := columns.numbers.get("novelty")) is None:
        return None
    outside = "the novelty is outside [0, 1]; take it as `ppsets score` writes it"
    return check_scores(values, _column(columns, "novelty"), outside)


def _groups(columns: Columns, group: str | None) -> dict[str, np.ndarray]:
    if group is None:
        return {}
    if group not in columns.texts:
        raise FileError(
            f"{columns.location.source}: there is no column '{brief_name(group)}' that says each record's group."
        )
    return {group: columns.texts[group].array()}
