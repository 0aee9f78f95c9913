"""The parts of the Home screen."""
