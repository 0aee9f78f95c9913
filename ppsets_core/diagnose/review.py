"""A person's review of the sets, exported with them."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from ppsets_core.diagnose.set_table import SetRow
from ppsets_core.wording import class_names

MOST_MARKS, MOST_PEOPLE, KEPT_SECONDS = 5000, 200, 12 * 3600
VERDICTS = {"seen": "Seen", "agree": "Agree with the set", "another": "Another diagnosis"}


@dataclass(frozen=True)
class Mark:
    """One X-ray's review: a verdict of VERDICTS or '', the reader's own diagnosis where it is another, and a note."""

    verdict: str = ""
    diagnosis: str = ""
    note: str = ""

    @property
    def words(self) -> str:
        """In a few words; '' where nothing is said."""
        another = f": {class_names([self.diagnosis])[0]}" if self.diagnosis else ", not named yet"
        named = another if self.verdict == "another" else ""
        return VERDICTS[self.verdict] + named if self.verdict else "Note" if self.note else ""


class Marks:
    """A reader's marks, the latest MOST_MARKS. A mark is of an X-ray, by its name and picture, and of its set: where
    another calibration gives another set, it does not stand for that one, and stands again when the set does."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, bytes, bytes, tuple[str, ...]], Mark] = {}

    def of(self, row: SetRow) -> Mark:
        return self._given.get(_key(row), Mark())

    def put(self, row: SetRow, mark: Mark) -> None:
        self._given.pop(_key(row), None)
        if mark != Mark():
            self._given[_key(row)] = mark
        while len(self._given) > MOST_MARKS:
            del self._given[next(iter(self._given))]

    def columns(self, row: SetRow) -> dict[str, object]:
        """The mark as the columns that every export adds to a row."""
        mark = self.of(row)
        named = mark.diagnosis if mark.verdict == "another" else ""
        return {"review": VERDICTS.get(mark.verdict, ""), "reviewer's diagnosis": named, "reviewer's note": mark.note}


class KeptMarks:
    """Each person's marks over their next log-in: in memory only, until they are not asked for KEPT_SECONDS."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._people: OrderedDict[Hashable, tuple[float, Marks]] = OrderedDict()

    def of(self, person: Hashable) -> Marks:
        now = self._clock()
        _, marks = self._people.pop(person, (now, Marks()))
        self._people[person] = now, marks
        while len(self._people) > MOST_PEOPLE or next(iter(self._people.values()))[0] < now - KEPT_SECONDS:
            self._people.popitem(last=False)
        return marks


def _key(row: SetRow) -> tuple[str, bytes, bytes, tuple[str, ...]]:
    """Identify a set, alike as it is shown and as it is exported."""
    seen, members = hashlib.sha256(row.thumbnail).digest(), row.table.members[row.number].tobytes()
    return row.name, seen, members, class_names(row.classes)
