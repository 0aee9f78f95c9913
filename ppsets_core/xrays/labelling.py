"""The label and patient of every picture of a folder, by whichever of the three ways the folder offers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ppsets_core.errors import FileError
from ppsets_core.files.handles import FileLike, name_of, read_bytes
from ppsets_core.files.names import shown_name
from ppsets_core.files.refused import Refused
from ppsets_core.xrays.label_file import MAX_BYTES, LabelRow, parse_labels
from ppsets_core.xrays.labels import labels_from_folders, labels_from_rows
from ppsets_core.xrays.listing import Entry

SPLIT_COLUMNS = "the columns file, label and split"
Labels = str | Path | FileLike | Literal[False] | None


@dataclass(frozen=True)
class Labelling:
    """(label, patient) of each usable name, what was left out, and a sentence on where the labels come from."""

    told: Mapping[str, tuple[str | None, str | None]]
    refused: list[Refused]
    origin: str = ""


def label_pictures(
    names: Sequence[str], unusable: Sequence[str], tables: Sequence[Entry], labels: Labels, split: str | None
) -> Labelling:
    """By the labels file given, else by the one among `tables`, else by folder; `labels=False` asks for none.

    `unusable` names files that are no pictures, which a labels file may list all the same. With `split`, the rest of
    what the labels file lists is passed over.
    """
    if labels is False:
        return Labelling(dict.fromkeys(names, (None, None)), [])
    if labels is not None:
        origin = shown_name(name_of(labels) or "the labels file")
        unused = [Refused(table.name, f"Not used: the labels come from {origin}.") for table in tables]
        return _by_rows(names, unusable, _given_rows(labels, origin), origin, unused, split)
    found, refused = _found_rows(tables)
    if len(found) > 1:
        raise FileError(f"Several labels files: {', '.join(found)}. Keep one of them, or say which to use.")
    for origin, rows in found.items():
        return _by_rows(names, unusable, rows, origin, refused, split)
    if split is not None:
        raise FileError(
            f"Without a labels file there is no split '{split}'. Give a CSV with {SPLIT_COLUMNS} (--labels)."
        )
    return _by_folder(names, refused)


def _given_rows(labels: str | Path | FileLike, name: str) -> list[LabelRow]:
    try:
        return parse_labels(read_bytes(labels, MAX_BYTES + 1))
    except FileError as error:
        raise FileError(f"{name}: {error}") from error.__cause__


def _found_rows(tables: Sequence[Entry]) -> tuple[dict[str, list[LabelRow]], list[Refused]]:
    found, refused = {}, []
    for table in tables:
        try:
            found[table.name] = parse_labels(table.read(MAX_BYTES + 1))
        except FileError as error:
            refused.append(Refused(table.name, str(error)))
    return found, refused


def _by_rows(
    names: Sequence[str],
    unusable: Sequence[str],
    rows: list[LabelRow],
    origin: str,
    unused: list[Refused],
    split: str | None,
) -> Labelling:
    if split is not None:
        elsewhere, _ = labels_from_rows(names, unusable, [row for row in rows if row.split != split], origin)
        names = [name for name in names if name not in elsewhere]
        rows = _of_split(rows, split, origin)
    matched, left_out = labels_from_rows(names, unusable, rows, origin)
    told = {name: (row.label, row.patient) for name, row in matched.items()}
    return Labelling(told, left_out + unused, f"Labels come from {origin}.")


def _of_split(rows: list[LabelRow], split: str, origin: str) -> list[LabelRow]:
    chosen = [row for row in rows if row.split == split]
    if not chosen:
        found = ", ".join(sorted({row.split for row in rows if row.split})[:10])
        told = f"its splits: {found}" if found else f"it needs {SPLIT_COLUMNS}"
        raise FileError(f"{origin} has no row of split '{split}'; {told}.")
    return chosen


def _by_folder(names: Sequence[str], unused: list[Refused]) -> Labelling:
    labels = labels_from_folders(names)
    if not any(labels.values()):
        return Labelling(dict.fromkeys(names, (None, None)), unused)
    beside = "It lies beside the folders whose names are the labels, so it has none. Move it into one of them."
    left_out = [Refused(name, beside) for name, label in labels.items() if label is None]
    told = {name: (label, None) for name, label in labels.items() if label is not None}
    return Labelling(told, left_out + unused, "Labels are the names of the folders.")
