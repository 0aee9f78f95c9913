"""Files as bytes, names and columns' names: what score files, X-rays and weights have in common."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Refused:
    """A file, or a row of a labels file, that was left out; `reason` is a sentence that says why."""

    name: str
    reason: str
