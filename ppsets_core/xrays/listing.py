"""A source's files by name, none of them read yet."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ppsets_core.errors import FileError
from ppsets_core.files.names import shown_name
from ppsets_core.files.refused import Refused
from ppsets_core.xrays.limits import MAX_FILES


@dataclass(frozen=True)
class Entry:
    """One file of a source: its name with forward slashes, and how to read its first so many bytes (or FileError)."""

    name: str
    read: Callable[[int], bytes]


@dataclass(frozen=True)
class Listing:
    """The files that may be read, and those that may not."""

    entries: tuple[Entry, ...]
    refused: tuple[Refused, ...] = ()

    def inside(self, folder: str) -> "Listing":
        """The same files, one folder deeper."""
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
            entries[name] = replace(entry, name=name)
        check_count(len(entries) + len(refused), "The selection")
    return Listing(tuple(entries.values()), tuple(refused))
