"""Paying for private training: (ε, δ), charged to everyone whose X-rays are trained on, before the first one counts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from ppsets_core.errors import LedgerError
from ppsets_core.ledger.accounts import TRAINING, Account, Release
from ppsets_core.ledger.ledger import Asked, Ledger


@dataclass
class TrainingPayment:
    """One training, one charge. `charge` is what training calls before it begins and `keep` after it has ended; what
    comes out may be handed over only then."""

    ledger: Ledger
    account: Account
    epsilon: float
    delta: float
    request: str | None = None
    reason: str | None = None
    charged: Release | None = field(default=None, init=False)
    _kept: bool = field(default=False, init=False)

    @property
    def is_wasted(self) -> bool:
        """Whether it was charged and nothing has come out, at least not yet."""
        return self.charged is not None and not self._kept

    def charge(self, patients: Sequence[str | None]) -> None:
        """Charge, before training begins; a request that was charged before pays for no second training.

        patients: one entry per X-ray, as `cohort_of_patients` takes them.
        """
        asked: Asked = {"request": self.request, "reason": self.reason}
        whom = self.ledger.cohort_of_patients(patients)
        charged = self.ledger.charge(whom, self.epsilon, self.account, kind=TRAINING, delta=self.delta, **asked)
        if charged.result is not None or self.charged is not None:
            raise LedgerError("This training was paid for and carried out before; another one costs ε anew.")
        self.charged = charged

    def keep(self, model: str | None) -> None:
        """The fingerprint of the weights that came out."""
        if self.charged is None:
            raise LedgerError("This training was not paid for. Nothing was released.")
        self.ledger.keep_result(self.charged, json.dumps({"kind": TRAINING, "model": model}))
        self._kept = True
