"""The privacy ledger: every data set's budget, and every release charged against it before it is drawn."""

from ppsets_core.ledger.accounts import Account, BudgetChange, Release
from ppsets_core.ledger.ledger import Ledger

__all__ = ["Account", "BudgetChange", "Ledger", "Release"]
