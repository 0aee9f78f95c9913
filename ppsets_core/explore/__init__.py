"""What privacy costs: each trade-off with its figure, shared by the screens and the experiments.

labelled (public and simulated records), expected_sets, level_curves and sweeps; figures of
the other screens (figures), what all figures share (style), and figures as a page and CSV (page).
"""

import pandas  # noqa: F401  plotly uses it where it is loaded: never half loaded, by another session at that moment

from ppsets_core.method.rules import rule_named
from ppsets_core.progress import Progress

NONPRIVATE = "nonprivate"
"""What results call ordinary calibration, which every rule is compared with."""


def label_of(series: str) -> str:
    """A rule as people call it, or "without privacy"."""
    return "without privacy" if series == NONPRIVATE else rule_named(series).label


def part_of(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of one part of several, reported as progress of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(place * total + done, parts * total)
