"""What a ledger holds, as it is read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from ppsets_core.calibration import Calibration
from ppsets_core.ledger.amounts import amount, difference
from ppsets_core.private_check import CHECK, PrivateCheck


@dataclass(frozen=True)
class Account:
    """A data set's privacy account. A new one is not in the ledger yet: its first release opens it."""

    name: str
    budget: Decimal
    spent: Decimal
    is_new: bool = False

    @property
    def left(self) -> Decimal:
        return difference(self.budget, self.spent)

    def can_pay(self, epsilon: float) -> bool:
        return amount(epsilon) <= self.left


@dataclass(frozen=True)
class Release:
    """One charge. Without a result it is being drawn, or was interrupted: spent, and not released."""

    id: int
    account: str
    epsilon: Decimal
    time: str
    result: str | None

    @cached_property
    def calibration(self) -> Calibration | None:
        return None if self.result is None or self.check else Calibration.from_json(self.result)

    @cached_property
    def check(self) -> PrivateCheck | None:
        is_check = self.result is not None and json.loads(self.result).get("kind") == CHECK
        return PrivateCheck.from_json(self.result) if self.result and is_check else None

    @property
    def status(self) -> str:
        return "charged, not released" if self.result is None else "released"


@dataclass(frozen=True)
class BudgetChange:
    """A budget as it was set or raised."""

    account: str
    budget: Decimal
    time: str


@dataclass(frozen=True)
class Snapshot:
    """A whole ledger at one moment; `owners` says which account knows the records of each fingerprint."""

    accounts: tuple[Account, ...]
    releases: tuple[Release, ...]
    budget_changes: tuple[BudgetChange, ...]
    owners: Mapping[str, str]

    def account(self, name: str) -> Account | None:
        return next((account for account in self.accounts if account.name == name), None)
