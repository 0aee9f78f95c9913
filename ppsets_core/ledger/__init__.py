"""The privacy ledger: every data set's budget, and every release charged against it before it is drawn."""

from ppsets_core.ledger.ledger import BudgetChange, DataSet, Ledger, Release

__all__ = ["BudgetChange", "DataSet", "Ledger", "Release"]
