"""`read_scores`: what a score file means, once it is columns."""

import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ppsets_core.data.columns import INDEX, MAX_BYTES, TEXTS, Columns, brief_name, check_names
from ppsets_core.data.delimited import read_delimited
from ppsets_core.data.parts import usable_rows
from ppsets_core.data.records import Records
from ppsets_core.data.tables import columns_of_json, columns_of_npy, columns_of_npz, columns_of_parquet
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.column_names import IGNORED, RESERVED, TEXT
from ppsets_core.files.handles import FileLike, name_of, read_bytes
from ppsets_core.files.names import same_names, shown_name, unquoted
from ppsets_core.method.sets import conformity_scores
from ppsets_core.model_fingerprint import FINGERPRINT
from ppsets_core.validation import Location, check_probabilities, check_scores, refuse_first

BY_FIRST_BYTES = {
    b"\x93NUMPY": columns_of_npy,
    b"PK\x03\x04": columns_of_npz,
    b"PAR1": columns_of_parquet,
    b"[": columns_of_json,
    b"{": columns_of_json,
}
BY_ENDING = {
    ".npy": columns_of_npy,
    ".npz": columns_of_npz,
    ".parquet": columns_of_parquet,
    ".json": columns_of_json,
    ".csv": read_delimited,
    ".tsv": read_delimited,
}


def read_scores(
    file: bytes | str | Path | FileLike,
    name: str | None = None,
    *,
    group: str | None = None,
    split: str | None = None,
) -> Records:
    """Calibration records from CSV, TSV, NPY, NPZ, Parquet or JSON: a path, an upload or bytes.

    Either one column of scores in [0, 1] (`score`, or the only one with numbers) or one probability column per class
    and `label`, which a `score` column makes superfluous; `patient`, empty where not known; `model`, the fingerprint of
    the model behind them, and `novelty`, as `ppsets score` writes them.
    `group` names a column that says each record's group, such as its site. Where a column `split` says which part of
    the data each row is of, the training rows are left out, and `split` chooses one of the other parts. Every refusal
    names file, row and column.
    """
    try:
        return _records(read_columns(file, name, frozenset(TEXT if group is None else TEXT | {group})), group, split)
    except InputError as error:
        raise error if isinstance(error, FileError) else FileError(str(error)) from None


def read_columns(file: bytes | str | Path | FileLike, name: str | None, texts: frozenset[str]) -> Columns:
    """A file of any of the formats as columns, `texts` as text and the rest as numbers."""
    source = shown_name(name or name_of(file) or "scores")
    try:
        data = read_bytes(file, MAX_BYTES + 1)
    except FileError as error:
        raise FileError(f"{source}: {error}") from None
    if len(data) > MAX_BYTES:
        raise FileError(f"{source}: larger than {MAX_BYTES // 1_000_000} MB; keep only the columns and rows needed.")
    if not data.strip():
        raise FileError(f"{source}: the file is empty. At least one record is needed.")
    return _columns_of(data, source, texts)


def _columns_of(data: bytes, source: str, texts: frozenset[str]) -> Columns:
    """Content decides the format; the file's ending only where the first bytes are not a format's own."""
    start = data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    for mark, read in BY_FIRST_BYTES.items():
        if start.startswith(mark):
            return read(data.removeprefix(b"\xef\xbb\xbf"), source, texts)
    return BY_ENDING.get(Path(source).suffix.casefold(), read_delimited)(data, source, texts)


def _records(columns: Columns, group: str | None, split: str | None) -> Records:
    columns, left_out = usable_rows(columns, split)
    return replace(records_of(columns, group), splits=columns.values.get("split"), left_out=left_out)


def records_of(columns: Columns, group: str | None, first_model: str | None = None) -> Records:
    """What columns mean; `first_model` is what the first row of a data set says, where these are not its first rows."""
    source, values = columns.location.source, columns.values
    other = RESERVED | IGNORED | ({group} if group else set())
    numeric = [name for name in values if name not in other and not INDEX.fullmatch(name)]
    facts: dict[str, Any] = {
        "patients": patients_in(values),
        "model": model_of(columns, first_model),
        "groups": _groups(columns, group),
        "novelty": novelty_of(columns),
    }
    if "label" in values and "score" not in values and len(numeric) >= 2:
        classes = tuple(brief_name(name) for name in numeric)
        check_names(classes, source)
        place = Location(source, columns.location.row, rows=columns.location.rows, columns=classes)
        probabilities = check_probabilities(np.column_stack([values[name] for name in numeric]), place)
        labels = _labels(values["label"], tuple(numeric), columns.location)
        scores = conformity_scores(probabilities, labels)
        return Records(source, scores, scores, classes, probabilities, labels, **facts)
    if "score" not in values and "label" in values:
        raise FileError(
            f"{source}: there is a 'label' but no probabilities to go with it. "
            "Add one probability column for each class, or a 'score' column."
        )
    name = "score" if "score" in values else _only(numeric, source)
    place = Location(source, columns.location.row, rows=columns.location.rows, column=brief_name(name))
    scores = check_scores(values[name], place)
    return Records(source, scores, scores, **facts)


def _only(numeric: list[str], source: str) -> str:
    if len(numeric) == 1:
        return numeric[0]
    if not numeric:
        raise FileError(f"{source}: there is no column of numbers. Give a 'score' column, or classes and 'label'.")
    raise FileError(
        f"{source}: {len(numeric)} columns hold numbers and it is not clear which to use. "
        "Name one of them 'score', or add a 'label' column if they are class probabilities."
    )


def label_numbers(labels: np.ndarray, classes: tuple[str, ...], in_file: tuple[str, ...] | None = None) -> np.ndarray:
    """Labels as column numbers: by class name, in any case of letters, or by position where no class is a number.
    `in_file`: the classes in the order of the file, by which it numbers them, where that is another one.

    Each label on its own: what one record says must not change how another is read. −1 where it is none of them."""
    classes = tuple(unicodedata.normalize("NFC", name) for name in classes)
    written = (label if label.isascii() else unicodedata.normalize("NFC", label) for label in labels)
    places = classes if in_file is None else tuple(unicodedata.normalize("NFC", name) for name in in_file)
    by_place = () if any(name.isdigit() for name in classes) else places
    numbers = {str(place): classes.index(name) for place, name in enumerate(by_place)}
    numbers |= {name.casefold(): i for i, name in reversed(list(enumerate(classes)))}
    numbers |= {name: i for i, name in enumerate(classes)}
    return np.array([numbers[label] if label in numbers else _otherwise(label, numbers) for label in written], np.int64)


def _otherwise(label: str, numbers: dict[str, int]) -> int:
    """In another case of letters, as pandas writes whole numbers beside missing ones, or quoted for spreadsheets."""
    spelled = label.casefold(), re.sub(r"\.0$", "", label), unquoted(label)
    return next((numbers[name] for name in spelled if name in numbers), -1)


def _labels(labels: np.ndarray, classes: tuple[str, ...], place: Location) -> np.ndarray:
    found = label_numbers(labels, classes)
    known = ", ".join(brief_name(name) for name in classes[:20]) + (", …" if len(classes) > 20 else "")
    place = Location(place.source, place.row, rows=place.rows, column="label")
    refuse_first(found < 0, place, f"the label is none of the probability columns ({known})")
    return found


def patients_in(values: dict[str, np.ndarray]) -> np.ndarray | None:
    """Each record's patient, in one spelling, so that one patient is one."""
    named = values.get("patient")
    return None if named is None else np.array(same_names(named.tolist()), dtype=TEXTS)


def model_of(columns: Columns, first: str | None = None) -> str | None:
    """The fingerprint that every row names; None where all rows have another program's word for a model, or none."""
    models = columns.values.get("model")
    if models is None or not len(models):
        return None
    place = Location(columns.location.source, columns.location.row, rows=columns.location.rows, column="model")
    other = "it is of another model than the first row; calibrate with the scores of one model"
    first = str(models[0]) if first is None else first
    refuse_first(models != first, place, other)
    return first if re.fullmatch(FINGERPRINT, first) else None


def novelty_of(columns: Columns) -> np.ndarray | None:
    if (values := columns.values.get("novelty")) is None:
        return None
    place = Location(columns.location.source, columns.location.row, rows=columns.location.rows, column="novelty")
    return check_scores(values, place, "the novelty is outside [0, 1]; take it as `ppsets score` writes it")


def _groups(columns: Columns, group: str | None) -> dict[str, np.ndarray]:
    if group is None:
        return {}
    if group not in columns.values:
        raise FileError(
            f"{columns.location.source}: there is no column '{brief_name(group)}' that says each record's group."
        )
    return {group: columns.values[group]}
