"""The parts of the Model screen."""
