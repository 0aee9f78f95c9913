"""A folder of X-rays, labelled or not: what is in it, what cannot be used and why, and its pictures as a stream."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.xrays.labels import LabelAndPatient, Labels, label_files
from ppsets_core.xrays.limits import MAX_BYTES
from ppsets_core.xrays.listing import Entry, Source, list_source, title_of
from ppsets_core.xrays.picture import HEAD, Picture, decode, kind_of, why_not_a_picture

USABLE = "Usable are PNG, JPEG, TIFF and DICOM files, in a folder, in a zip, or several at once."
TABLES = (".csv", ".tsv")
THREADS = min(4, os.cpu_count() or 1)

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Xray:
    """One X-ray of a folder, not decoded yet. `patient` is None if no column names patients, '' if its row is blank."""

    name: str
    label: str | None
    patient: str | None


@dataclass(frozen=True)
class XrayFolder:
    """What `read_folder` found. `notes` are sentences about all of it, such as where the labels come from; `threads`
    read ahead while pictures are decoded, 0 where each of several worker processes has one core."""

    xrays: tuple[Xray, ...]
    refused: tuple[Refused, ...]
    notes: tuple[str, ...]
    _entries: tuple[Entry, ...] = field(repr=False)
    threads: int = THREADS

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels that occur, in alphabetical order."""
        return tuple(sorted({xray.label for xray in self.xrays if xray.label is not None}))

    def original(self, name: str) -> bytes:
        """The bytes of one X-ray's file, read again; FileError if it is gone."""
        (entry,) = (entry for entry in self._entries if entry.name == name)
        return entry.read(MAX_BYTES + 1)

    @property
    def files(self) -> tuple[Path | None, ...]:
        """Each X-ray's file on disk; None in a zip or an upload."""
        return tuple(entry.file for entry in self._entries)

    def part(self, rows: slice) -> "XrayFolder":
        """Some of the X-rays, without notes and refusals."""
        return XrayFolder(self.xrays[rows], (), (), self._entries[rows])

    def pictures(self, at_least: int | None = None) -> Iterator[Picture]:
        """The pictures that can be read, in the order of `xrays`."""
        return (picture for _, picture in self.readable([], at_least))

    def readable(self, refused: list[Refused], at_least: int | None = None) -> Iterator[tuple[Xray, Picture]]:
        """Each X-ray with its picture, decoded a few ahead; what cannot be read is appended to `refused`."""

        def read(entry: Entry) -> Picture | Refused:
            try:
                return decode(entry.read(MAX_BYTES + 1), entry.name, at_least)
            except FileError as error:
                return Refused(entry.name, str(error))

        for xray, picture in zip(self.xrays, prefetch(read, self._entries, self.threads), strict=True):
            if isinstance(picture, Refused):
                refused.append(picture)
            else:
                yield xray, picture


def read_folder(
    source: Source,
    *,
    labels: Labels = None,
    split: str | None = None,
    classes: Sequence[str] = (),
    keep_unlabelled: bool = False,
    to_learn: bool = False,
) -> XrayFolder:
    """List a directory, a zip, an upload or several of them; `XrayFolder.pictures` decodes them.

    source: directory, zip, file or upload, or a list of them.
    labels: a labels file; None finds one among the files, or uses the folders' names; False leaves all unlabelled.
    split: keep only the X-rays that the labels file's column `split` gives this value.
    classes: an X-ray takes the nearest folder above it that is named after one of these, else the nearest folder whose
        name can be a label. Labels never depend on other files.
    keep_unlabelled: keep X-rays without a label too.
    to_learn: without `split`, keep only the training part of a labels file; by default that part is left out.
    """
    entries = list_source(source, skip_unopened=keep_unlabelled)
    tables = [entry for entry in entries if _is_table(entry)]
    files = [_recognised(entry) for entry in entries if not _is_table(entry)]
    try:
        answers, unlisted, notes = label_files(files, tables, labels, split, classes, to_learn)
    except FileError as error:
        if not keep_unlabelled:
            raise
        answers, unlisted, notes = [entry.problem or None for entry in files], [], (str(error),)
    if keep_unlabelled:
        answers = [
            entry.problem or (one if isinstance(one, LabelAndPatient) else LabelAndPatient(None, None))
            for entry, one in zip(files, answers, strict=True)
        ]
        unlisted = []
    both = list(zip(files, answers, strict=True))
    refused = (*(Refused(entry.name, why) for entry, why in both if isinstance(why, str)), *unlisted)
    used = [(entry, known) for entry, known in both if isinstance(known, LabelAndPatient)]
    if not used:
        raise FileError(_nothing_usable(title_of(source), refused))
    xrays = tuple(Xray(entry.name, *known) for entry, known in used)
    found = {xray.label for xray in xrays}
    if len(found) == 1 and None not in found:
        notes += (f"Every X-ray is labelled '{found.pop()}': one class alone leaves nothing to tell apart.",)
    return XrayFolder(xrays, refused, notes, tuple(entry for entry, _ in used))


def _is_table(entry: Entry) -> bool:
    return entry.name.lower().endswith(TABLES) and not entry.problem


def _recognised(entry: Entry) -> Entry:
    """With the problem of a file whose first bytes are no picture's."""
    if entry.problem:
        return entry
    try:
        head = entry.read(HEAD)
    except FileError as error:
        return replace(entry, problem=str(error))
    return entry if kind_of(head) else replace(entry, problem=why_not_a_picture(head))


def _nothing_usable(title: str, refused: tuple[Refused, ...]) -> str:
    text = f"There is no usable X-ray in {title}. {USABLE}"
    if refused:
        text += f" Left out: {len(refused)}; first {refused[0].name}: {refused[0].reason}"
    return text


def prefetch(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """`map(work, items)` on a few threads, two results for each waiting at most. Stopping early ends the threads."""
    if not threads:
        yield from map(work, items)
        return
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads, "xray-reader") as pool:
        try:
            for item in items:
                pending.append(pool.submit(work, item))
                if len(pending) > 2 * threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
