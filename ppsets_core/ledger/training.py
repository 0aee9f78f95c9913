"""Paying for private training: (ε, δ), charged to everyone whose X-rays are trained on, before the first one counts."""

import json
from collections.abc import Sequence

from ppsets_core.errors import LedgerError
from ppsets_core.ledger.accounts import TRAINING, Account, Release
from ppsets_core.ledger.ledger import Ledger


class TrainingPayment:
    """One training, one charge. `charge` is what training calls before it begins and `keep` after it has ended; what
    comes out may be handed over only then."""

    def __init__(
        self,
        ledger: Ledger,
        account: Account,
        epsilon: float,
        delta: float,
        *,
        request: str | None = None,
        reason: str | None = None,
    ) -> None:
        self._ledger, self._account, self._price = ledger, account, (epsilon, delta)
        self._request, self._reason = request, reason
        self._charged: Release | None = None
        self._kept = False

    @property
    def payer(self) -> str | None:
        """The account that was charged."""
        return None if self._charged is None else self._charged.account

    @property
    def is_wasted(self) -> bool:
        """Whether it was charged and nothing has come out, at least not yet."""
        return self._charged is not None and not self._kept

    def charge(self, patients: Sequence[str | None]) -> None:
        """Charge, before training begins; a request that was charged before pays for no second training.

        patients: one entry per X-ray, as `cohort_of_patients` takes them.
        """
        epsilon, delta = self._price
        charged = self._ledger.charge(
            *(self._ledger.cohort_of_patients(patients), epsilon, self._account),
            kind=TRAINING,
            delta=delta,
            request=self._request,
            reason=self._reason,
        )
        if charged.result is not None or self._charged is not None:
            raise LedgerError("This training was paid for and carried out before; another one costs ε anew.")
        self._charged = charged

    def keep(self, model: str | None) -> None:
        """The fingerprint of the weights that came out."""
        if self._charged is None:
            raise LedgerError("This training was not paid for. Nothing was released.")
        self._ledger.keep_result(self._charged, json.dumps({"kind": TRAINING, "model": model}))
        self._kept = True
