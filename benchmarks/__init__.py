"""Ratios within one run, never times alone: e.g. `python -m benchmarks.core`."""
