"""What people truly lose: random sequences of releases, checks and trainings against a plain model of the rule.

People have several records under several spellings, in files that name everyone, some or nobody, in several accounts.
"""

import csv
import io
import os
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppsets_core import BudgetError, Ledger, calibrate, one_per_patient, plan, read_scores
from ppsets_core.ledger.amounts import MOST_DELTA, Price
from ppsets_core.ledger.training import TrainingPayment
from tests.ledger.spending import records_of

SPELLINGS = (
    ("José", unicodedata.normalize("NFD", "José"), "JOSÉ", " José "),
    ("17", "017", "17.0", "１７"),
    ("P 3", "p  3", "P\u00a03", "P 3\u200b"),
    ("=1", "'=1"),
    ("x", "X", "x\u3164"),
)
STRANGER = None
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # a disk would take most of the time
EXAMPLES = int(os.environ.get("PPSETS_EXAMPLES", "300"))
CALIBRATION = calibrate(records_of(np.linspace(0, 1, 60), classes=("a", "b"), labels=np.arange(60) % 2), 0.3, 5.0)


@dataclass(frozen=True)
class Step:
    """One charge. rows: whose each record is, and how it is spelt; None where the record names nobody.

    has_column: whether the file names patients at all. one_each: whether one record per patient is used.
    """

    kind: str
    account: str
    epsilon: str
    rows: tuple[tuple[int, int | None], ...]
    has_column: bool
    one_each: bool
    delta: float
    is_interrupted: bool


ROWS = st.lists(
    st.tuples(st.integers(0, len(SPELLINGS) - 1), st.one_of(st.integers(0, 3), st.integers(0, 3), st.none())),
    min_size=1,
    max_size=6,
).map(tuple)
STEPS = st.builds(
    Step,
    st.sampled_from(["release", "check", "training"]),
    st.sampled_from("AB"),
    st.sampled_from(["0.1", "0.25", "0.3", "0.5", "0.7"]),
    ROWS,
    st.sampled_from([True, True, False]),
    st.booleans(),
    st.sampled_from([1e-6, 0.001, 0.004]),
    st.booleans(),
)
RAISES = st.tuples(st.sampled_from("AB"), st.sampled_from(["1.5", "2"]))


@dataclass
class Charge:
    """A charge as the rule sees it (`named`, `unnamed`), and how many records of each person it truly used."""

    account: str
    price: Price
    named: Counter
    unnamed: bool
    records: list[tuple[int, int]]
    hidden: Counter

    def counts(self, person: int | None, account: str) -> int:
        is_for_everyone = self.unnamed and self.account == account
        return max(self.named[person], 1) if is_for_everyone else self.named[person]

    def truly(self, person: int) -> int:
        """Records of the person; where some are hidden beside others the rule promises nothing of these."""
        return max(self.named[person], min(self.hidden[person], 1))


@dataclass
class Model:
    budgets: dict[str, Decimal]
    charges: list[Charge] = field(default_factory=list)

    def has_room(self, new: Charge) -> bool:
        affected = set(new.named)
        if new.unnamed:
            affected |= {STRANGER}.union(*(set(one.named) for one in self.charges if one.account == new.account))
        return all(self._within(person, new) for person in affected)

    def _within(self, person: int | None, new: Charge) -> bool:
        found = [(one.counts(person, new.account), one.price) for one in [*self.charges, new]]
        epsilon = sum(times * price.epsilon for times, price in found)
        delta = sum(price.delta_of(times) for times, price in found)
        return epsilon <= self.budgets[new.account] and delta <= MOST_DELTA

    def check(self, ledger: Ledger) -> None:
        """Nobody, and no record, has lost more than the budget, nor more than the ledger says of everyone."""
        for name, budget in self.budgets.items():
            here = [one for one in self.charges if one.account == name]
            bound = ledger.snapshot().most_lost(ledger.account(name))
            assert bound.epsilon <= budget
            for person in range(len(SPELLINGS)):
                assert sum(one.truly(person) * one.price.epsilon for one in here) <= bound.epsilon
                assert sum(one.price.delta_of(one.truly(person)) for one in here) <= bound.delta
            records = {record for one in here for record in one.records}
            assert all(sum(one.price.epsilon for one in here if r in one.records) <= budget for r in records)


def file_of(step: Step) -> bytes:
    """A score file; each person's records have a score of their own, by which the model knows them again."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*(["patient"] if step.has_column else []), "label", "a", "b"])
    for place, (person, spelling) in enumerate(step.rows):
        name = "" if spelling is None else SPELLINGS[person][spelling % len(SPELLINGS[person])]
        share = (place + 1) / 128
        writer.writerow([*([name] if step.has_column else []), "ab"[place % 2], share, 1 - share])
    return out.getvalue().encode()


def used_rows(step: Step) -> tuple[object, list[int]]:
    """What is charged, and which of the rows it uses."""
    if step.kind == "training":
        names = [None if s is None else SPELLINGS[p][s % len(SPELLINGS[p])] for p, s in step.rows]
        return [(name or "") if step.has_column else None for name in names], list(range(len(step.rows)))
    records = read_scores(file_of(step), "file.csv", classes=("a", "b"), labels="optional").labelled()
    records = one_per_patient(records) if step.one_each or step.kind == "check" else records
    return records, [round(share * 128) - 1 for share in records.probabilities[:, 0].tolist()]


def charge_of(step: Step, rows: list[int]) -> Charge:
    used = [step.rows[row] for row in rows]
    is_named = [step.has_column and spelling is not None for _, spelling in used]
    named = Counter(person for (person, _), named in zip(used, is_named, strict=True) if named)
    hidden = Counter(person for (person, _), named in zip(used, is_named, strict=True) if not named)
    delta = Decimal(repr(step.delta)) if step.kind == "training" else Decimal(0)
    records = [(step.rows[row][0], row) for row in rows]
    return Charge(step.account, Price(Decimal(step.epsilon), delta), named, bool(hidden), records, hidden)


def carry_out(ledger: Ledger, step: Step, given) -> None:
    account, epsilon = ledger.account(step.account), float(step.epsilon)
    if step.is_interrupted:
        charge, ledger = ledger.charge, Ledger(ledger._store.path)

        def charge_and_crash(*arguments, **options):
            charge(*arguments, **options)
            raise InterruptedError

        ledger.charge = charge_and_crash
    if step.kind == "training":
        TrainingPayment(ledger, account, epsilon, step.delta).charge(given)
    elif step.kind == "check":
        ledger.check(given, CALIBRATION, account, epsilon, again=True)
    else:
        planned = plan(len(given), 0.3, epsilon, m=10, per="diagnosis", classes=("a", "b"))
        ledger.release(given, planned, account, again=True)


@pytest.mark.faults
@settings(max_examples=EXAMPLES, deadline=None)
@given(steps=st.lists(st.one_of(STEPS, STEPS, STEPS, STEPS, RAISES), min_size=2, max_size=14))
def test_nobody_loses_more_than_the_budget_and_a_refusal_is_the_rules(steps):
    with TemporaryDirectory(dir=MEMORY) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("ppsets_core.ledger.charging.MOST_REFUSALS", 10**6)
        ledger, model = Ledger(Path(folder) / "ledger.sqlite"), Model({"A": Decimal(1), "B": Decimal("0.7")})
        for name, budget in model.budgets.items():
            ledger.open_account(name, budget)
        for step in steps:
            if isinstance(step, Step):
                play(ledger, model, step)
            elif Decimal(step[1]) > model.budgets[step[0]]:
                model.budgets[step[0]] = ledger.raise_budget(*step).budget
            model.check(ledger)


def play(ledger: Ledger, model: Model, step: Step) -> None:
    given, rows = used_rows(step)
    wanted = charge_of(step, rows)
    if wanted.price.delta_of(max(wanted.named.values(), default=1)) > MOST_DELTA:
        return
    try:
        carry_out(ledger, step, given)
        paid = True
    except InterruptedError:
        paid = True
    except BudgetError:
        paid = False
    assert paid == model.has_room(wanted)
    model.charges += [wanted] if paid else []
