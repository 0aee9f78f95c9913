"""The privacy ledger: budgets, what each patient has lost, and every release, charged before it is drawn."""

from ppsets_core.ledger.accounts import TRAINING, Account, Actor, BudgetChange, Published, Refusal, Release
from ppsets_core.ledger.charging import Cohort
from ppsets_core.ledger.ledger import Ledger

__all__ = [
    "TRAINING",
    "Account",
    "Actor",
    "BudgetChange",
    "Cohort",
    "Ledger",
    "Published",
    "Refusal",
    "Release",
]
