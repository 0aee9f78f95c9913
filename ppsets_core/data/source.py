"""Records from a file, an upload or a folder of parts, of any size: listed as tasks and read batch by batch."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ppsets_core.data.columns import INDEX, TEXTS, Columns, brief_name, check_names
from ppsets_core.data.reader import MAX_BYTES, RowRange, Task, has_parts, read_rows, scan, size_of, too_large
from ppsets_core.data.records import Records, are_training, joined, refuse_unused, used_classes
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.handles import FileLike
from ppsets_core.files.names import IGNORED, RESERVED, SEEN, TEXT, is_training, same_names
from ppsets_core.inputs import label_lookup
from ppsets_core.method.calibration import check_model
from ppsets_core.scores import LAC, OWN, Score, class_score, score_named
from ppsets_core.validation import Location, check_all, check_probabilities, check_scores, listed, refuse_first

ROWS_AT_ONCE = 2_000_000  # what one worker is given
SETS_AT_ONCE = 200_000  # of new patients: sets take longer to write than scores to count
SPLIT, PART = "split", "part"
IDENTIFIERS = ("id", "file", "patient", "index")
Labels = Literal["needed", "optional"]


@dataclass(frozen=True)
class Source:
    """What `open_source` found. `tasks`: the rows that are read in one go, in order.

    `rows`: how many records there are, None where it takes reading to know: of a CSV, where a column `split` says
    which rows are used, and where labels are optional. `names`: the columns in their order. `wanted`: the classes asked
    for. `first_model`: what the first row says of its model. `in_parts`: a row's number needs the name of its part.
    `score`: which score the records have.
    """

    source: str
    tasks: tuple[Task, ...]
    rows: int | None
    names: tuple[str, ...]
    group: str | None
    split: str | None
    labels: Labels
    wanted: tuple[str, ...]
    in_parts: bool
    classes: tuple[str, ...] = ()
    model: str | None = None
    first_model: str | None = None
    asked_score: Score | None = None
    score: Score = OWN

    @property
    def has_patients(self) -> bool:
        return "patient" in self.names

    @property
    def has_novelty(self) -> bool:
        return "novelty" in self.names

    def facts(self) -> dict[str, Any]:
        """Its own fields, without those of a selection."""
        return {field.name: getattr(self, field.name) for field in fields(Source)}

    def described_tasks(self) -> "list[tuple[Source, Task]]":
        """The arguments of a function of a task: what to know of the whole, and what to read."""
        described = Source(**self.facts() | {"tasks": ()})
        return [(described, task) for task in self.tasks]

    def batches(self, task: Sequence[RowRange]) -> Iterator[Records]:
        """The records of a task whose true diagnosis is known, checked."""
        if self.labels == "needed":
            return self.all_batches(task)
        return (found.labelled() for found in self.all_batches(task) if len(found.checkable()))

    def all_batches(self, task: Sequence[RowRange]) -> Iterator[Records]:
        """All records of a task, their true diagnosis known or not."""
        return map(self.records_of, self._all_columns(task, self.names))

    def columns(self, task: Sequence[RowRange], wanted: Sequence[str]) -> Iterator[Columns]:
        """Some columns of the rows of `batches`, unchecked."""
        if self.labels == "needed":
            yield from self._all_columns(task, wanted)
        elif "label" in self.names:
            for columns in self._all_columns(task, (*wanted, "label")):
                usable = label_numbers(columns, self.classes) >= 0
                if SPLIT in columns.texts:
                    usable &= ~columns.texts[SPLIT].are(is_training)
                if usable.any():
                    yield columns.take(np.flatnonzero(usable))

    def records_of(self, columns: Columns) -> Records:
        """What columns of this source mean."""
        try:
            found = _records_of(columns, self)
        except InputError as error:
            raise error if isinstance(error, FileError) else FileError(str(error)) from None
        if not self.in_parts or not found.identifiers or any(name in found.identifiers for name in IDENTIFIERS):
            return found
        part = np.full(len(found), found.source, dtype=object).astype(TEXTS)
        return replace(found, identifiers={PART: part, **found.identifiers})

    def splits(self) -> np.ndarray | None:
        """What every row says of its part of the data; None without such a column."""
        if SPLIT not in self.names:
            return None
        found = (columns.texts[SPLIT] for task in self.tasks for rows in task for columns in self._raw(rows, [SPLIT]))
        return np.concatenate([np.array([], dtype=TEXTS), *(splits.array() for splits in found)])

    def _all_columns(self, task: Sequence[RowRange], wanted: Sequence[str]) -> Iterator[Columns]:
        needed = list(dict.fromkeys([*wanted, *([SPLIT] if SPLIT in self.names else [])]))
        for rows in task:
            for columns in self._raw(rows, needed):
                used = _rows_of_part(columns, self.split, training=self.labels == "optional")
                if used is not None:
                    yield used

    def _raw(self, rows: RowRange, wanted: Sequence[str]) -> Iterator[Columns]:
        return read_rows(rows, wanted, _texts_with(self.group, self.labels))


def read_scores(
    file: bytes | str | Path | FileLike,
    name: str | None = None,
    *,
    classes: Sequence[str] = (),
    group: str | None = None,
    split: str | None = None,
    labels: Labels = "needed",
    score: str | Score | None = None,
) -> Records:
    """Records from CSV, TSV, NPY, NPZ, Parquet or JSON: a path, a folder of parts, an upload or bytes; at most 100 MB.

    Either one column of scores in [0, 1] (`score`, or the only one with numbers), or one probability column per class
    and `label`; with a `score` column no probability columns are needed. Optional columns: `patient`, empty where not
    known; `model`, the fingerprint of the model behind them, and `novelty`, as `ppsets score` writes them. Every
    refusal names file, row and column.

    classes: the wanted classes, found by name in any order; without them every column of numbers is a class.
    group: the column that says each record's group, such as its site.
    split: the part of the data to use, by the column `split`; without it all but the training rows.
    labels: "optional" for new patients, who need a probability for each class and no label: all rows are kept, training
        rows too, each with the file's own identifiers.
    score: how probabilities become scores, "lac" (1 − p) where nothing is said; or which score the column `score` is,
        "own" where nothing is said: it gives a threshold and no sets.
    """
    if isinstance(file, str | Path) and size_of(Path(file)) > MAX_BYTES:
        raise too_large(name or Path(file).name)
    found = open_source(file, name, classes=classes, group=group, split=split, labels=labels, score=score, keep=True)
    records = joined([batch for task in found.tasks for batch in found.all_batches(task)], found.source)
    if labels == "needed" and not classes:
        refuse_unused(found.source, records.classes, used_classes(records))
    if labels == "optional" or (splits := found.splits()) is None:
        return records
    return replace(records, left_out=int(are_training(splits).sum()))


def open_source(
    file: bytes | str | Path | FileLike,
    name: str | None = None,
    *,
    classes: Sequence[str] = (),
    group: str | None = None,
    split: str | None = None,
    labels: Labels = "needed",
    score: str | Score | None = None,
    keep: bool = False,
) -> Source:
    """Look at the parts and the first rows, by the arguments of `read_scores`; every part must have the same columns.

    keep: keep what was parsed in memory, so that a small file is parsed once.
    """
    needed, texts = labels == "needed", _texts_with(group, labels)
    at_once = ROWS_AT_ONCE if needed else SETS_AT_ONCE
    source, tasks, rows, names = scan(file, name, texts, classes, at_once, keep=keep)
    if is_training(split):
        raise FileError(f"{source}: rows of the part '{split}' cannot be used: {SEEN}. Choose another part.")
    if split is not None and SPLIT not in names:
        raise FileError(f"{source}: there is no column 'split' that says which part each row is of.")
    rows = rows if needed and SPLIT not in names else None
    in_parts = isinstance(file, str | Path) and Path(file).is_dir()
    opened = Source(source, tasks, rows, names, group, split, labels, tuple(classes), in_parts)
    opened = replace(opened, asked_score=None if score is None else score_named(score))
    first = next((columns for task in tasks for columns in opened._all_columns(task, opened.names)), None)
    if first is None:
        raise FileError(f"{source}: {_nothing_left(opened.splits(), split)}")
    models = first.texts.get("model")
    opened = replace(opened, first_model=None if models is None else models.words[models.codes[0]])
    records = opened.records_of(first)
    return replace(opened, classes=records.classes, model=records.model, score=records.score)


def is_large(path: str | Path) -> bool:
    """Whether it is a folder, or a file that `read_scores` refuses for its size."""
    return Path(path).is_dir() or size_of(Path(path)) > MAX_BYTES


def is_data_set(path: str | Path) -> bool:
    """Whether it is a folder that holds Parquet, or a file of records too large to be read at once."""
    path = Path(path)
    return is_large(path) and (not path.is_dir() or has_parts(path))


# The part of the data that each row is of, by its column `split`: to train, to calibrate, to check with


def _rows_of_part(columns: Columns, split: str | None, *, training: bool = False) -> Columns | None:
    """The rows of one part, or of all but the training one, which `training` keeps; None where none of them is used."""
    splits = columns.texts.get(SPLIT)
    if splits is None or (split is None and training):
        return columns
    kept = np.flatnonzero(splits.are(lambda word: not is_training(word) if split is None else word == split))
    return columns.take(kept) if len(kept) else None


def parts_in_words(splits: np.ndarray | None, left_out: int) -> str:
    """What a file says of its parts; nothing where it says nothing."""
    if splits is None:
        return ""
    told = ", ".join(f"{brief_name(name) or 'unnamed'} {count:,}" for name, count in Counter(splits.tolist()).items())
    left = f" {left_out:,} rows of the training part are left out: {SEEN}." if left_out else ""
    return f"By its column `split` the file has the parts: {told}.{left}"


def _nothing_left(splits: np.ndarray | None, split: str | None) -> str:
    """Say why no row can be used."""
    if splits is None or not len(splits):
        return "it is empty. At least one record is needed."
    if split is None:
        return f"every row is of the training part; {SEEN}. Give rows that it never saw."
    others = sorted({brief_name(one) for one in splits.tolist() if one and not is_training(one)})[:10]
    return f"there is no row of the part '{split}'; there are: {', '.join(others) or 'none but training'}."


# What the columns of a score file mean


def _texts_with(group: str | None, labels: Labels) -> frozenset[str]:
    """The columns that are read as text."""
    return TEXT | (set(IDENTIFIERS) if labels == "optional" else set()) | ({group} if group else set())


def _records_of(columns: Columns, asked: Source) -> Records:
    """What columns mean, by the arguments of `read_scores`."""
    classes, labels, score = asked.wanted, asked.labels, asked.asked_score
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
        partial(_model, columns, asked.first_model), partial(_novelty, columns), content
    )
    return Records(
        source,
        **content_found,
        model=model,
        novelty=novelty,
        patients=patients_in(columns),
        groups=_groups(columns, asked.group),
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
