"""One click, one charge: a release is confirmed, paid for once, and kept."""

import uuid
from dataclasses import dataclass, field

from ppsets_core import Account, Calibration, Ledger, Plan, PpsetsError, Records
from ppsets_core.data.counting import Chosen, Counted


@dataclass(eq=False)
class PendingRelease:
    """What a confirm step names, and what came of it.

    The result is kept here, so that nothing Streamlit does between a charge and the next drawing of the screen can lose
    it; and `request` makes the ledger answer a repeated click with the same release.
    """

    reading: str
    records: Records | Chosen | Counted
    plan: Plan
    account: Account
    reason: str = ""
    request: str = field(default_factory=lambda: uuid.uuid4().hex)
    calibration: Calibration | None = None
    refusal: str = ""

    def is_of(self, reading: str, records: Records | Chosen | Counted) -> bool:
        """Whether it is of these very records: a file may have several parts."""
        return self.reading == reading and self.records == records

    def is_for(self, wanted: "PendingRelease") -> bool:
        """Whether these are still the terms that were named."""
        same = (self.plan, self.account) == (wanted.plan, wanted.account)
        return same and self.is_of(wanted.reading, wanted.records)

    def is_like(self, calibration: Calibration) -> bool:
        """Whether an earlier release is of as many records, protects the same unit and is for the same model."""
        wanted = (len(self.records), self.records.unit, self.records.model)
        return (calibration.n, calibration.unit, calibration.model) == wanted

    def spend(self, ledger: Ledger) -> None:
        """Charge the account and draw: once, however often it is called. A data set must have been counted."""
        if self.calibration is not None or isinstance(self.records, Chosen):
            return
        try:
            self.calibration = ledger.release(
                self.records, self.plan, self.account, request=self.request, reason=self.reason
            )
        except PpsetsError as error:
            self.refusal = str(error)
