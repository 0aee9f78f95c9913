"""A folder of X-rays, labelled or not: what is in it, what is not usable and why, and its pictures as a stream."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.xrays.formats import HEAD, kind_of, why_not_a_picture
from ppsets_core.xrays.labelling import Labelling, Labels, Told, label_pictures
from ppsets_core.xrays.limits import MAX_BYTES
from ppsets_core.xrays.listing import Entry
from ppsets_core.xrays.picture import Picture, decode
from ppsets_core.xrays.prefetch import worked_ahead
from ppsets_core.xrays.sources import Source, list_source, title_of

USABLE = "Usable are PNG, JPEG, TIFF and DICOM files, in a folder, in a zip, or several at once."
TABLES = (".csv", ".tsv")


@dataclass(frozen=True)
class Xray:
    """One X-ray of a folder, not decoded yet. `patient` is None where no column names patients, '' where its row names
    nobody."""

    name: str
    label: str | None
    patient: str | None


@dataclass(frozen=True)
class XrayFolder:
    """What `read_folder` found. `notes` are sentences on the whole, such as where the labels come from."""

    xrays: tuple[Xray, ...]
    refused: tuple[Refused, ...]
    notes: tuple[str, ...]
    _entries: tuple[Entry, ...] = field(repr=False)

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels that occur, in alphabetical order."""
        return tuple(sorted({xray.label for xray in self.xrays if xray.label is not None}))

    def original(self, name: str) -> bytes:
        """The file of one X-ray as it was given, read again; FileError if it is not there any more."""
        (entry,) = (entry for entry in self._entries if entry.name == name)
        return entry.read(MAX_BYTES + 1)

    @property
    def files(self) -> tuple[Path | None, ...]:
        """Where each X-ray lies on disk; None for one in a zip or an upload."""
        return tuple(entry.file for entry in self._entries)

    def piece(self, place: slice) -> "XrayFolder":
        """Some of the X-rays, without what was said of the whole."""
        return XrayFolder(self.xrays[place], (), (), self._entries[place])

    def pictures(self, at_least: int | None = None) -> Iterator[Picture]:
        """The pictures that can be read, in the order of `xrays`; `readable` also tells which X-rays they are."""
        return (picture for _, picture in self.readable([], at_least))

    def readable(self, refused: list[Refused], at_least: int | None = None) -> Iterator[tuple[Xray, Picture]]:
        """Each X-ray with its picture, decoded a few ahead of the consumer; what cannot be read goes to `refused`."""

        def read(entry: Entry) -> Picture | Refused:
            try:
                return decode(entry.read(MAX_BYTES + 1), entry.name, at_least)
            except FileError as error:
                return Refused(entry.name, str(error))

        for xray, picture in zip(self.xrays, worked_ahead(read, self._entries), strict=True):
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
    """List a directory, a zip, an upload or several of them; pictures are decoded only by `XrayFolder.pictures`.

    `labels` is a labels file; None finds one among the files, or takes the folders' names; False leaves all unlabelled.
    `split` keeps only what the labels file's column `split` says so of. An X-ray's label comes from its own path or its
    own row: the nearest folder above it that is named after one of `classes`, else the nearest with a name of its own.
    `keep_unlabelled` keeps what no label is found for, too: labels are welcome and not needed. Where no split is asked
    for, what that column calls training is left out; `to_learn`, all that it calls otherwise.
    """
    listing = list_source(source)
    tables = [entry for entry in listing.entries if entry.name.lower().endswith(TABLES)]
    pictures, not_pictures = _sniffed(entry for entry in listing.entries if not entry.name.lower().endswith(TABLES))
    unusable = [*listing.refused, *not_pictures]
    try:
        labelling = label_pictures(pictures, [u.name for u in unusable], tables, labels, split, classes, to_learn)
    except FileError as error:
        if not keep_unlabelled:
            raise
        labelling = Labelling(["no label"] * len(pictures), [], (str(error),))
    if keep_unlabelled:
        told = [one if isinstance(one, Told) else Told(None, None) for one in labelling.told]
        labelling = Labelling(told, [], labelling.notes)
    answers = list(zip(pictures, labelling.told, strict=True))
    unlabelled = [Refused(entry.name, told) for entry, told in answers if isinstance(told, str)]
    refused = (*unusable, *unlabelled, *labelling.refused)
    used = [(entry, told) for entry, told in answers if isinstance(told, Told)]
    if not used:
        raise FileError(_nothing_usable(title_of(source), refused))
    xrays = tuple(Xray(entry.name, *told) for entry, told in used)
    return XrayFolder(xrays, refused, (*labelling.notes, *_notes(xrays)), tuple(entry for entry, _ in used))


def _sniffed(entries: Iterable[Entry]) -> tuple[list[Entry], list[Refused]]:
    """Pictures by their first bytes, and the rest with reasons."""
    pictures, refused = [], []
    for entry in entries:
        try:
            head = entry.read(HEAD)
        except FileError as error:
            refused.append(Refused(entry.name, str(error)))
            continue
        if kind_of(head):
            pictures.append(entry)
        else:
            refused.append(Refused(entry.name, why_not_a_picture(head)))
    return pictures, refused


def _notes(xrays: tuple[Xray, ...]) -> Iterator[str]:
    labels = {xray.label for xray in xrays}
    if len(labels) == 1 and None not in labels:
        yield f"Every X-ray is labelled '{labels.pop()}': one class alone leaves nothing to tell apart."


def _nothing_usable(title: str, refused: tuple[Refused, ...]) -> str:
    text = f"There is no usable X-ray in {title}. {USABLE}"
    if refused:
        text += f" Left out: {len(refused)}; first {refused[0].name}: {refused[0].reason}"
    return text
