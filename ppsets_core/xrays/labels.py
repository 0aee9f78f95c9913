"""Which label and patient an X-ray has: by its own path or its own row, never by what else is there.

One X-ray more, less or elsewhere then changes no other, so that neighbouring folders are neighbouring records."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ppsets_core.xrays.label_file import LabelRow

SUFFIX = re.compile(r"\.(png|jpe?g|tiff?|dcm|dicom)$")
NOT_A_LABEL = {
    *("train", "test", "val", "valid", "validation", "calibration"),
    *("data", "image", "images", "img", "pictures", "xray", "xrays", "x-ray", "x-rays"),
}


class LabelRows:
    """A labels file's rows by the paths they give. Looking an X-ray up takes a step for each of its folders."""

    def __init__(self, rows: Sequence[LabelRow], label_file: str) -> None:
        self.label_file = label_file
        self.rows = rows
        self._by_path: dict[str, LabelRow] = {}
        self._by_name: dict[str, LabelRow] = {}
        self._met: set[str] = set()
        for row in rows:
            path = row.file.casefold()
            self._add(self._by_path, path, row)
            if row.folder:
                self._add(self._by_path, f"{row.folder}/{path}", row)
            if "/" in path:
                self._add(self._by_name, path.rsplit("/", 1)[-1], row)

    def row_of(self, path: str, given_in: str = "") -> LabelRow | None:
        """The row that gives the longest end of this path, with the picture's suffix or without; where an upload lost
        its folders, the row of its name."""
        without_folders = _spellings(path) if "/" not in path else ()
        self._met.update(f"/{name}" for name in without_folders)
        for ending in _endings(f"{given_in}/{path}"):
            if ending in self._by_path:
                self._met.add(ending)
                return self._by_path[ending]
        return next((self._by_name[name] for name in without_folders if name in self._by_name), None)

    def unmet(self) -> Iterator[LabelRow]:
        """Rows that no file has asked for."""
        for row in self.rows:
            path = row.file.casefold()
            asked = {path, f"{row.folder}/{path}", f"/{path.rsplit('/', 1)[-1]}" if "/" in path else path}
            if not asked & self._met:
                yield row

    def _add(self, rows: dict[str, LabelRow], key: str, row: LabelRow) -> None:
        known = rows.setdefault(key, row)
        if (known.label, known.patient, known.split) != (row.label, row.patient, row.split):
            twice = f"{self.label_file} lists it twice with different labels or patients."
            rows[key] = replace(known, problem=twice)


def is_whole(row: LabelRow, path: str) -> bool:
    """Whether the row gives the file's whole path, with the picture's suffix or without."""
    return row.file.casefold() in _spellings(path)


def label_from_folders(path: str, given_in: str = "", classes: Sequence[str] = ()) -> str | None:
    """The nearest folder above that is named after a class; else, within what was given, the nearest with a name of its
    own.

    >>> label_from_folders("train/NORMAL/a.png"), label_from_folders("flu/patient 1/a.png", "ward", ["none", "flu"])
    ('NORMAL', 'flu')
    """
    known = {name.casefold(): name for name in classes}
    inside = path.split("/")[-2::-1]
    for folder in (*inside, *given_in.split("/")[::-1]):
        if folder.casefold() in known:
            return known[folder.casefold()]
    return next((folder for folder in inside if folder.lower() not in NOT_A_LABEL), None)


def _endings(path: str) -> Iterator[str]:
    """The path as a labels file may write it: whole, then with fewer and fewer folders."""
    for whole, bare in _folders_dropped(*_spellings(path)):
        yield whole
        yield bare


def _folders_dropped(*spellings: str) -> Iterator[tuple[str, ...]]:
    while True:
        yield spellings
        if "/" not in spellings[0]:
            return
        spellings = tuple(spelling.split("/", 1)[1] for spelling in spellings)


def _spellings(name: str) -> tuple[str, str]:
    """How a labels file may write a name: with the picture's suffix or without."""
    return name.casefold(), SUFFIX.sub("", name.casefold())
