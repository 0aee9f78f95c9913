"""Ranked sets and what they say in plain words; counting, filtering and sorting them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.diagnose.findings import Finding, Findings
from ppsets_core.method.calibration import Drawn
from ppsets_core.method.sets import ranked_sets
from ppsets_core.novelty import Alarm, Watch, alarm_over, watch_for

KINDS = ("one", "several", "none", "flagged")


@dataclass(frozen=True, eq=False)
class Answer:
    """One X-ray's set, likeliest first. A picture that does not look like a chest X-ray is flagged, not counted.

    `watch`: with which X-rays it is compared."""

    number: int  # its place in the folder
    finding: Finding
    members: tuple[str, ...]
    classes: tuple[str, ...]
    watch: Watch

    @property
    def familiar(self) -> bool | None:
        """Whether it is like the calibration's X-rays, or the public reference's; None where that cannot be told."""
        return self.watch.is_familiar(self.finding.novelty)

    @property
    def unlike(self) -> str:
        """The mark of one that is not."""
        return self.watch.mark(self.familiar)

    @property
    def kind(self) -> str:
        if self.finding.doubt:
            return "flagged"
        return {0: "none", 1: "one"}.get(len(self.members), "several")

    @property
    def is_missed(self) -> bool:
        """Whether the true diagnosis is known and not in the set."""
        return self.finding.label is not None and self.finding.label not in self.members

    @property
    def probabilities(self) -> dict[str, float]:
        """Every class with its softmax, likeliest first."""
        shares = self.finding.probabilities
        return {self.classes[i]: float(shares[i]) for i in np.argsort(-shares, kind="stable")}

    @property
    def words(self) -> str:
        """The reading of the set in a sentence or two."""
        if not self.members:
            return "No diagnosis is likely enough. The model is at a loss: have the X-ray read by a person."
        if len(self.members) == 1:
            return f"One diagnosis: {self.members[0]}."
        if len(self.members) == len(self.classes):
            return "Every diagnosis that the model knows remains."
        below = [name for name in self.classes if name not in self.members]
        others = ", ".join(below) if len(below) <= 3 else f"{len(below)} others"
        return f"{len(self.members)} diagnoses remain: {_either(self.members)}. Not likely enough: {others}."


def _either(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]])


def answers_of(findings: Findings, calibration: Drawn, group: str | None = None) -> list[Answer]:
    """The sets that a calibration cuts out, in the folder's order. One of other classes is refused.

    `group`: the site, say, that all these X-rays are of, where the calibration has a threshold for each.
    """
    if not findings.xrays:
        return []
    names, groups = findings.classes, None if group is None else [group] * len(findings.xrays)
    probabilities = np.stack([finding.probabilities for finding in findings.xrays])
    sets = ranked_sets(probabilities, calibration, classes=names, groups=groups)
    watch = watch_for(calibration, findings.model)
    return [
        Answer(number, finding, tuple(names[i] for i in members), names, watch)
        for number, (finding, members) in enumerate(zip(findings.xrays, sets, strict=True))
    ]


def alarm_of(answers: Sequence[Answer]) -> Alarm:
    """The alarm over all X-rays that are counted."""
    return alarm_over([answer.familiar for answer in answers if answer.kind != "flagged"], answers[0].watch)


def counts(answers: Sequence[Answer]) -> dict[str, int]:
    """How many answers of each kind; flagged ones are in no other count."""
    kinds = [answer.kind for answer in answers]
    return {kind: kinds.count(kind) for kind in KINDS}


ORDERS = {
    "misses first": lambda a: (not a.is_missed, a.number),
    "as given": lambda a: a.number,
    "most diagnoses first": lambda a: (-len(a.members), a.finding.probabilities.max()),
    "fewest diagnoses first": lambda a: (len(a.members), -a.finding.probabilities.max()),
    "least sure first": lambda a: a.finding.probabilities.max(),
    "surest first": lambda a: -a.finding.probabilities.max(),
    "by file name": lambda a: a.finding.name,
}


def select(answers: Sequence[Answer], kind: str | None, order: str) -> list[Answer]:
    """The answers of one kind (None: of every kind), in one of ORDERS."""
    return sorted((a for a in answers if kind is None or a.kind == kind), key=ORDERS[order])
