"""The label and patient of every picture of a folder, by whichever of the three ways the folder offers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.files.column_names import SEEN, is_training
from ppsets_core.files.handles import FileLike, name_of, read_bytes
from ppsets_core.files.names import shown_name
from ppsets_core.xrays.label_file import MAX_BYTES, LabelRow, names_labels, parse_labels
from ppsets_core.xrays.labels import LabelRows, is_whole, label_from_folders
from ppsets_core.xrays.listing import Entry

NOT_TO_LEARN = "a model that learns from them can neither be calibrated nor checked with them"
SPLIT_COLUMNS = "the columns file, label and split"
Labels = str | Path | FileLike | Literal[False] | None


class Told(NamedTuple):
    """What is known of one X-ray; no patient (None) where no column names them, '' where its row names nobody."""

    label: str | None
    patient: str | None


@dataclass(frozen=True)
class Labelling:
    """The label and patient of each picture, or why it is not used, in order (None: it is of another split); rows that
    no file asked for, tables that were not used; and sentences on where the labels come from."""

    told: Sequence[Told | str | None]
    refused: list[Refused]
    notes: tuple[str, ...] = ()


def label_pictures(
    pictures: Sequence[Entry],
    unusable: Sequence[str],
    tables: Sequence[Entry],
    labels: Labels,
    split: str | None,
    classes: Sequence[str],
    to_learn: bool = False,
) -> Labelling:
    """By the labels file given, else by the one among `tables`, else by folder; `labels=False` asks for none.

    `unusable` names files that are no pictures, which a labels file may list all the same. Unless a split is asked for,
    rows of the training part are left out, or, `to_learn`, those of any other part.
    """
    if labels is False:
        return Labelling([Told(None, None)] * len(pictures), [])
    if labels is not None:
        origin = shown_name(name_of(labels) or "the labels file")
        unused = [Refused(table.name, f"Not used: the labels come from {origin}.") for table in tables]
        return _by_rows(
            pictures, unusable, LabelRows(_given_rows(labels, origin), origin), unused, split, classes, to_learn
        )
    found, refused = _found_rows(tables)
    if len(found) > 1:
        raise FileError(f"Several labels files: {', '.join(found)}. Keep one of them, or say which to use.")
    for origin, rows in found.items():
        return _by_rows(pictures, unusable, LabelRows(rows, origin), refused, split, classes, to_learn)
    if split is not None:
        raise FileError(
            f"Without a labels file there is no split '{split}'. Give a CSV with {SPLIT_COLUMNS} (--labels)."
        )
    told = [Told(label_from_folders(one.path, one.given_in, classes), None) for one in pictures]
    by_folder = ("Labels are the names of the folders.",) if any(one.label for one in told) else ()
    return Labelling(told, refused, by_folder)


def _given_rows(labels: str | Path | FileLike, name: str) -> list[LabelRow]:
    try:
        return parse_labels(read_bytes(labels, MAX_BYTES + 1))
    except FileError as error:
        raise FileError(f"{name}: {error}") from error.__cause__


def _found_rows(tables: Sequence[Entry]) -> tuple[dict[str, list[LabelRow]], list[Refused]]:
    found, refused = {}, []
    for table in tables:
        data = b""
        try:
            data = table.read(MAX_BYTES + 1)
            found[table.name] = parse_labels(data)
        except FileError as error:
            if names_labels(data):  # a bad row must not make the folders' names the labels of all
                raise FileError(f"{table.name}: {error}") from error.__cause__
            refused.append(Refused(table.name, str(error)))
    return found, refused


def _by_rows(
    pictures: Sequence[Entry],
    unusable: Sequence[str],
    rows: LabelRows,
    unused: list[Refused],
    split: str | None,
    classes: Sequence[str],
    to_learn: bool,
) -> Labelling:
    if split is not None:
        _check_split(rows, split, to_learn)
    spelt = {name.casefold(): name for name in classes}

    def is_of_another_part(row: LabelRow) -> bool:
        return split is None and bool(row.split) and is_training(row.split) != to_learn

    def told(picture: Entry, row: LabelRow | None) -> Told | str | None:
        if row is None:
            return f"{rows.label_file} does not list it, so it has no label."
        if split not in (None, row.split):
            return None
        if is_of_another_part(row):
            return f"{rows.label_file} says that it is of the part '{row.split}': {NOT_TO_LEARN if to_learn else SEEN}."
        if row.problem:
            return row.problem
        if (first := firsts[id(row)]) is not picture:
            return f"{rows.label_file} lists '{row.file}' once, which is {first.name}. Give the folder of each."
        return Told(spelt.get(str(row.label).casefold(), row.label), row.patient)

    found = [rows.row_of(one.path, one.given_in) for one in pictures]
    firsts = _one_for_each(pictures, found)
    answers = [told(picture, row) for picture, row in zip(pictures, found, strict=True)]
    for path in unusable:
        rows.row_of(path)
    gone = f"{rows.label_file} lists it, but there is no such file."
    unmet = [
        Refused(row.file, gone) for row in rows.unmet() if split in (None, row.split) and not is_of_another_part(row)
    ]
    return Labelling(answers, unmet + unused, (f"Labels come from {rows.label_file}.",))


def _one_for_each(pictures: Sequence[Entry], found: Sequence[LabelRow | None]) -> dict[int, Entry]:
    """The file of each row: a row is one X-ray, so a namesake can neither take it away nor make it two. First comes the
    file whose whole path it gives, then the first by path."""
    firsts: dict[int, tuple[bool, str, str, Entry]] = {}
    for one, row in zip(pictures, found, strict=True):
        if row is not None:
            rank = (not is_whole(row, one.path), one.path, one.name, one)
            firsts[id(row)] = min(firsts.get(id(row), rank), rank, key=lambda known: known[:3])
    return {row: first[3] for row, first in firsts.items()}


def _check_split(rows: LabelRows, split: str, to_learn: bool) -> None:
    if is_training(split) and not to_learn:
        raise FileError(f"{rows.label_file}: X-rays of the part '{split}' cannot be used: {SEEN}. Choose another part.")
    splits = {row.split for row in rows.rows if row.split}
    if split not in splits:
        told = f"its splits: {', '.join(sorted(splits)[:10])}" if splits else f"it needs {SPLIT_COLUMNS}"
        raise FileError(f"{rows.label_file} has no row of split '{split}'; {told}.")
