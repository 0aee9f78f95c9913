"""Records: validated rows of a table or a folder of X-rays, of calibration and of new patients alike."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ppsets_core.data.columns import TEXTS
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.names import is_training, same_names
from ppsets_core.inputs import (
    as_array,
    column_names,
    is_half,
    numbered,
    plain_numbers,
    read_classes,
    read_labels,
    read_table,
    read_texts,
)
from ppsets_core.method.calibration import UNITS, BaseCalibration, check_model
from ppsets_core.method.counts import Cohorts, Counts, CoverageCounts, check_columns, check_number
from ppsets_core.method.plan import NOVELTY, Plan
from ppsets_core.scores import LAC, ClassScore, Score, class_score, score_named
from ppsets_core.validation import check_names, check_scores

NOTHING: Mapping[str, np.ndarray] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Records:
    """One entry per record, in the order of the file. What a file does not have is None or empty.

    source: what to call them in sentences.
    scores: the conformity score of each; nan where the true diagnosis is unknown.
    classes, probabilities, labels: the diagnoses, the model's probabilities (N, K), and the true diagnosis as a column
        number, −1 where it is missing or none of the classes.
    patients: who each is of, '' for a record that names nobody, which counts as one more patient.
    model: the fingerprint of the model behind the probabilities.
    groups: columns of text, such as a site, by name.
    unit: what ε protects one of, a 'record', or a 'patient' after `one_per_patient`.
    novelty: how unfamiliar each is to the model, in [0, 1].
    splits, left_out: the part of the data each is of, and how many rows of the training part were left out.
    identifiers: the file's own columns that say which row is which, else the number of the row; of new patients only.
    half_precision: whether scores, probabilities or novelty were stored as float16.
    score: which score the scores are.
    """

    source: str
    scores: np.ndarray
    classes: tuple[str, ...] = ()
    probabilities: np.ndarray | None = None
    labels: np.ndarray | None = None
    patients: np.ndarray | None = None
    model: str | None = None
    groups: Mapping[str, np.ndarray] = field(default_factory=lambda: NOTHING)
    unit: str = "record"
    novelty: np.ndarray | None = None
    splits: np.ndarray | None = None
    left_out: int = 0
    identifiers: Mapping[str, np.ndarray] = field(default_factory=lambda: NOTHING)
    half_precision: bool = False
    score: Score = LAC

    def __post_init__(self) -> None:
        """Refuse what would break a release's promise; `records` explains it in more detail."""
        check_model(self.model)
        object.__setattr__(self, "classes", check_names(self.classes, "classes"))
        object.__setattr__(self, "scores", np.asarray(self.scores, dtype=np.float64))
        self._refuse(self.scores.ndim != 1 or not _is_in_unit_interval(self.scores), "a score is outside [0, 1]")
        columns = [self.probabilities, self.labels, self.patients, self.novelty, self.splits, *self.groups.values()]
        columns += self.identifiers.values()
        lengths = {len(column) for column in columns if column is not None}
        self._refuse(lengths - {len(self)}, "there is not one entry for each record in every column")
        shape, labels = (len(self), len(self.classes)), self.labels
        shares = self.probabilities
        self._refuse(
            shares is not None and (shares.shape != shape or not _is_in_unit_interval(shares)),
            "there is not a probability in [0, 1] for each of the classes",
        )
        are_numbers = labels is None or (labels.dtype.kind in "iu" and _within(labels, -1, shape[1] - 1))
        self._refuse(not are_numbers, "labels are not column numbers of the classes")
        novelty = self.novelty
        self._refuse(novelty is not None and not _within(novelty, 0, 1), "novelty is outside [0, 1]")
        are_names = all(column.dtype.kind in "UT" for column in self.groups.values())
        self._refuse(not are_names, "groups are not texts")
        self._refuse(self.unit not in UNITS, f"the unit is not one of {', '.join(UNITS)}")
        is_one_each = self.unit != "patient" or self.patient_count == len(self)
        self._refuse(not is_one_each, "there is not one record per patient")
        self._refuse(not isinstance(self.score, Score), "the score is not one of ppsets_core.scores")

    def _refuse(self, is_wrong: object, what: str) -> None:
        if is_wrong:
            raise InputError(f"{self.source}: {what}. Make records with `ppsets_core.records` or `read_scores`.")

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def has_novelty(self) -> bool:
        return self.novelty is not None

    @property
    def has_patients(self) -> bool:
        return self.patients is not None

    @property
    def names_everyone(self) -> bool:
        """Whether every record names its patient."""
        return self.patients is not None and bool((self.patients != "").all())

    @property
    def patient_count(self) -> int | None:
        """How many patients there are, each record without a name being one; None where no column names them."""
        if self.patients is None:
            return None
        named = [name for name in self.patients.tolist() if name]
        return len(set(named)) + len(self) - len(named)

    def with_score(self, score: ClassScore) -> "Records":
        """Score the true diagnosis of each anew; as they are where there are no probabilities to do it from."""
        if self.probabilities is None or self.labels is None:
            return self
        return replace(self, scores=score.of_labels(self.probabilities, self.labels), score=score)

    def checkable(self) -> np.ndarray:
        """The rows to check sets with: their diagnosis is known, and the model has not learnt from them."""
        if self.labels is None:
            return np.empty(0, dtype=np.int64)
        seen = False if self.splits is None else are_training(self.splits)
        return np.flatnonzero((self.labels >= 0) & np.logical_not(seen))

    def check_plan(self, planned: Plan) -> None:
        """Refuse a plan that needs what the records do not say."""
        check_number(len(self), planned)
        if np.isnan(self.scores).any():
            raise InputError(f"{self.source}: the true diagnosis of every record must be known, as its `label`.")
        columns = (*self.groups, *((NOVELTY,) if self.novelty is not None else ()))
        check_columns(self.source, planned, () if self.labels is None else self.classes, columns)

    def counts(self, planned: Plan, cohorts: Cohorts | None = None) -> Counts:
        """Count them as a plan needs it, and who they are."""
        from ppsets_core.data.counts import count_records

        return count_records(self, planned, cohorts)

    def coverage(self, calibration: BaseCalibration, cohorts: Cohorts | None = None) -> CoverageCounts:
        """Count how many of one record per patient the calibration's sets cover."""
        from ppsets_core.data.counts import cover_records

        return cover_records(self, calibration, cohorts)

    def labelled(self) -> "Records":
        """The records of those rows."""
        if not len(rows := self.checkable()):
            raise InputError(f"{self.source}: no row has a `label` that is one of {', '.join(self.classes[:20])}.")
        return chosen(self, rows)


def used_classes(records: Records) -> np.ndarray:
    """Which classes have a probability above 0 or the label of some record."""
    if records.probabilities is None or records.labels is None:
        return np.ones(len(records.classes), dtype=bool)
    return records.probabilities.any(axis=0) | np.isin(np.arange(len(records.classes)), records.labels)


def refuse_unused(source: str, classes: Sequence[str], used: np.ndarray) -> None:
    """Refuse columns that were taken for classes and never are one."""
    if unused := [name for name, is_used in zip(classes, used, strict=True) if not is_used]:
        raise FileError(
            f"{source}: the column '{unused[0]}' is 0 in every record and no label names it, so it seems to be no "
            "diagnosis. Remove it, or name the columns that are: --classes flu,cold, in Python classes=[…]."
        )


def are_training(splits: np.ndarray) -> np.ndarray:
    names = splits.tolist()
    training = {name for name in set(names) if is_training(name)}
    return np.array([name in training for name in names], dtype=bool)


def _within(values: np.ndarray, least: float, most: float) -> bool:
    return not values.size or bool(values.min() >= least and values.max() <= most)  # False where a value is nan


def _is_in_unit_interval(values: np.ndarray) -> bool:
    """Whether all are in [0, 1], but for nan where nothing is known."""
    return not values.size or not (np.fmin.reduce(values, None) < 0 or np.fmax.reduce(values, None) > 1)


def of_split(records: Records, split: str) -> Records:
    """The records of one part of the data."""
    if records.splits is None:
        raise InputError(f"{records.source}: there is no column 'split' that says which part each row is of.")
    return chosen(records, np.flatnonzero(records.splits == split))


def chosen(records: Records, kept: np.ndarray) -> Records:
    """Some of the records, by their places."""

    def keep(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: column[kept] for name, column in value.items()}
        return value[kept] if isinstance(value, np.ndarray) else value

    return replace(records, **{f.name: keep(getattr(records, f.name)) for f in fields(records)})


def joined(batches: Sequence[Records], source: str) -> Records:
    """Batches of one source as one."""

    def join(values: list) -> Any:
        if isinstance(values[0], np.ndarray):
            return np.concatenate(values)
        if isinstance(values[0], bool):
            return any(values)
        if isinstance(values[0], Mapping):
            return {name: np.concatenate([value[name] for value in values]) for name in values[0]}
        return values[0]

    if len(batches) == 1:
        return replace(batches[0], source=source)
    whole = {f.name: join([getattr(batch, f.name) for batch in batches]) for f in fields(Records)}
    return Records(**whole | {"source": source})


# One record per patient, chosen from hashes of the names alone: 16 bytes a row, whatever the length of a name

BUCKETS = 64


def one_per_patient(records: Records, seed: int = 0) -> Records:
    """Keep one record per patient, so that ε protects the patient.

    Which one depends on the seed, the patient's name and how many records the patient has: never on a score, and never
    on another patient, so that replacing a patient still replaces one record. A record that names nobody stays, and
    without a column of patients all do.

    Parameters
    ----------
    records : as `read_scores` returns them
    seed : another seed chooses other records
    """
    if records.patients is None:
        return records
    return replace(chosen(records, rows_to_use(records.patients.tolist(), seed)), unit="patient")


def rows_to_use(names: Sequence[str], seed: int = 0) -> np.ndarray:
    """The places of one record of each patient, and of all that name nobody."""
    return np.flatnonzero(choose_rows(patient_hashes(names, seed)))


def patient_hashes(names: Iterable[str], seed: int = 0) -> np.ndarray:
    """Two numbers for each name, the same for the same patient; zeros for nobody. 128 bits do not meet by chance."""
    digests = hash_names(hashlib.sha256(f"{seed}:".encode()), names, 16)
    return np.frombuffer(digests, dtype=">u8").reshape(-1, 2).astype(np.uint64)


def hash_names(begun: "hashlib._Hash | hashlib.blake2b", names: Iterable[str], size: int) -> bytes:
    """So many bytes for each name, of a hash that has begun; zeros for nobody."""
    found, nobody = list[bytes](), bytes(size)
    for name in names:
        if name:
            one = begun.copy()
            one.update(name.encode("utf-8", "surrogatepass"))
            found.append(one.digest()[:size])
        else:
            found.append(nobody)
    return b"".join(found)


def choose_rows(hashes: np.ndarray) -> np.ndarray:
    """Which rows stay: one of each patient, and those that name nobody. Bucket by bucket, to bound memory."""
    bucket, kept = (hashes[:, 0] >> np.uint64(58)).astype(np.uint8), np.zeros(len(hashes), dtype=bool)
    for number in range(BUCKETS):
        rows = np.flatnonzero(bucket == number)
        kept[rows] = _kept_rows(hashes[rows])
    return kept


def _kept_rows(hashes: np.ndarray) -> np.ndarray:
    kept = np.asarray(~hashes.any(axis=1))
    named = np.flatnonzero(~kept)
    if not len(named):
        return kept
    high, low = hashes[named].T
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    starts = np.flatnonzero(np.append(True, (np.diff(high) != 0) | (np.diff(low) != 0)))
    counts = np.diff(np.append(starts, len(order)))
    kept[named[order[starts + _modulo(high[starts], low[starts], counts)]]] = True
    return kept


def _modulo(high: np.ndarray, low: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(high · 2⁶⁴ + low) mod counts, for counts below 2³²."""
    divisor = counts.astype(np.uint64)
    carry = (np.uint64(2**64 - 1) % divisor + np.uint64(1)) % divisor
    return ((high % divisor * carry + low % divisor) % divisor).astype(np.int64)


# From arrays in memory


def records(
    probabilities: Any = None,
    labels: Any = None,
    *,
    scores: Any = None,
    classes: Sequence[str] | None = None,
    patients: Any = None,
    groups: Mapping[str, Any] | None = None,
    model: str | None = None,
    score: str | Score = "lac",
) -> Records:
    """Check arrays once and make records of them, from lists, NumPy, torch, pandas or polars.

    Give probabilities with labels, or scores. `one_per_patient` then keeps one record per patient.

    Parameters
    ----------
    probabilities : one row per record, one column per class; each row adds up to 1. The columns of a DataFrame
        name the classes
    labels : each record's true class: by name, by column number, categorical or bool. With scores: only needed for a
        promise within each diagnosis, and then with classes
    scores : conformity scores in [0, 1], where there are no probabilities
    classes : names of the columns, where they have none; of a DataFrame the columns to use, in this order
    patients : whose record each is; None or '' where that is not known
    groups : columns of groups by name, such as {"site": …}
    model : your own name for the model, or its fingerprint. Another model's probabilities are refused later
    score : how probabilities become scores ("lac", "aps", "raps"), or which score the scores are; "own" gives a
        threshold and no sets

    >>> found = records([[0.75, 0.25], [0.5, 0.5]], ["a", "b"], classes=["a", "b"])
    >>> found.scores.tolist(), found.labels.tolist()
    ([0.25, 0.5], [0, 1])
    """
    if (probabilities is None) == (scores is None):
        raise InputError("records: give either probabilities, with labels, or scores.")
    of = score_named(score)
    given: dict[str, Any] = {"score": of, "model": model}
    if scores is not None:
        found = check_scores(plain_numbers(as_array(scores)))
        given |= {"half_precision": is_half(scores)} | _labels_of_scores(labels, classes, len(found))
    else:
        if labels is None:
            raise InputError("records: probabilities need the true class of every record as labels.")
        table = read_table(probabilities, classes)
        table = replace(table, values=table.values.copy())
        names = table.names or numbered(table.values.shape[1])
        numbers = read_labels(labels, len(table.values), names)
        found = class_score(of).of_labels(table.values, numbers)
        given |= {"classes": names, "probabilities": table.values, "labels": numbers}
        given["half_precision"] = table.half_precision
    if patients is not None:
        given["patients"] = np.array(same_names(read_texts(patients, len(found), "patients")), dtype=TEXTS)
    if groups is not None:
        given["groups"] = _groups(groups, len(found))
    made = Records("records", found, **given)
    if scores is None and classes is None and column_names(probabilities) is not None:
        refuse_unused(made.source, made.classes, used_classes(made))
    return made


def _labels_of_scores(labels: Any, classes: Sequence[str] | None, count: int) -> dict[str, Any]:
    if classes is None:
        if labels is not None:
            raise InputError("records: labels beside scores need the names of all classes, as classes=[…].")
        return {}
    names = read_classes(classes)
    return {"classes": names} | ({} if labels is None else {"labels": read_labels(labels, count, names)})


def _groups(groups: Any, count: int) -> dict[str, np.ndarray]:
    if not hasattr(groups, "__getitem__") or not (hasattr(groups, "keys") or hasattr(groups, "columns")):
        raise InputError('records: groups must be columns by name, such as groups={"site": sites}.')
    names = groups.columns if hasattr(groups, "columns") else groups
    return {str(name): np.array(read_texts(groups[name], count, f"groups, {name}"), dtype=TEXTS) for name in names}
