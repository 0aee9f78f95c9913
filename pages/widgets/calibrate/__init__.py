"""The parts of the Calibrate screen."""
