"""One click, one charge: a release is ordered, confirmed, paid for once, and kept."""

import uuid
from dataclasses import dataclass, field

from pages.widgets.calibrate.choose_account import Payer
from ppsets_core import Calibration, Ledger, Plan, PpsetsError, Records


@dataclass(eq=False)
class Order:
    """What a confirm step names, and what came of it.

    The result is kept on the order itself, so that nothing Streamlit does between a charge and the next drawing of the
    screen can lose it; and `request` makes the ledger answer a repeated click with the same release.
    """

    reading: str
    records: Records
    plan: Plan
    payer: Payer
    request: str = field(default_factory=lambda: uuid.uuid4().hex)
    calibration: Calibration | None = None
    refusal: str = ""
    model: str | None = None

    def is_for(self, reading: str, plan: Plan, payer: Payer) -> bool:
        """Whether these are still the terms that were named."""
        return (self.reading, self.plan, self.payer) == (reading, plan, payer)

    def is_like(self, calibration: Calibration) -> bool:
        """Whether an earlier release is of as many records, protects the same unit and is for the same model."""
        wanted = (len(self.records), self.records.unit, self.model)
        return (calibration.n, calibration.unit, calibration.model) == wanted

    def spend(self, ledger: Ledger) -> None:
        """Open the account if it is new, charge it, draw ŝ: once, however often it is called."""
        if self.calibration is not None:
            return
        try:
            if self.payer.new and self.payer.name not in {account.name for account in ledger.datasets()}:
                ledger.add(self.payer.name, self.payer.budget)
            self.calibration = ledger.calibrate(
                self.payer.name,
                self.records.scores,
                self.plan.alpha,
                self.plan.epsilon,
                method=self.plan.method,
                m=self.plan.m,
                gamma=self.plan.gamma,
                unit=self.records.unit,
                model=self.model,
                uploaded=self.records.uploaded,
                request=self.request,
            )
        except PpsetsError as error:
            self.refusal = str(error)
