"""The parts of the Diagnose screen."""
