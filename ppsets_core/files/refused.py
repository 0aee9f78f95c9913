"""What could not be used, and why: one line of the report on a folder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Refused:
    """A file, or a row of a labels file, that was left out; `reason` is a sentence that says why."""

    name: str
    reason: str
