"""A source's files by name, none of them read yet."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.files.names import shown_name
from ppsets_core.xrays.limits import MAX_FILES


@dataclass(frozen=True)
class Entry:
    """One file of a source: its name for people, with forward slashes and different from all others; how to read its
    first so many bytes (or FileError); and where it is, which no other file has a say in and labels go by: its path in
    the folder or zip that was given, and where that folder is, or the zip's name."""

    name: str
    read: Callable[[int], bytes]
    path: str = ""
    given_in: str = ""

    @property
    def file(self) -> Path | None:
        """The file on disk, where it is one: what another process can open, too."""
        given = self.read.args[0] if isinstance(self.read, partial) and self.read.args else None
        return Path(given).absolute() if isinstance(given, str | Path) else None


@dataclass(frozen=True)
class Listing:
    """The files that may be read, and those that may not."""

    entries: tuple[Entry, ...]
    refused: tuple[Refused, ...] = ()

    def named_inside(self, folder: str) -> "Listing":
        """The same files, their names one folder deeper."""
        return Listing(
            tuple(replace(entry, name=f"{folder}/{entry.name}") for entry in self.entries),
            tuple(replace(refused, name=f"{folder}/{refused.name}") for refused in self.refused),
        )


def check_count(number: int, where: str) -> None:
    """Refuse a source with more files than anyone would classify at once."""
    if number > MAX_FILES:
        raise FileError(f"{where}: more than {MAX_FILES:,} files. Split it.")


def joined(listings: Iterable[Listing]) -> Listing:
    """Several listings as one, names fit to show; a name that came before gets a number, so that each is unique."""
    entries: dict[str, Entry] = {}
    refused: list[Refused] = []
    times: Counter[str] = Counter()
    for listing in listings:
        refused += [replace(one, name=shown_name(one.name)) for one in listing.refused]
        for entry in listing.entries:
            name = shown = shown_name(entry.name)
            while name in entries:
                times[shown] += 1
                name = f"{shown} ({times[shown] + 1})"
            entries[name] = Entry(name, entry.read, shown_name(entry.path), entry.given_in)
        check_count(len(entries) + len(refused), "The selection")
    return Listing(tuple(entries.values()), tuple(refused))
