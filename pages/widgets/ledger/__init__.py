"""The parts of the Ledger screen."""
