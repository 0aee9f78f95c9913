"""Private prediction sets: coverage at least 1 − α and ε-differential privacy for the calibration records, at once."""

from ppsets_core.errors import BudgetError, FileError, InputError, LedgerError, PpsetsError

__all__ = ["BudgetError", "FileError", "InputError", "LedgerError", "PpsetsError"]
