"""What privacy costs, in numbers: what Explore and the experiments compute, without plotly and without Streamlit."""

from ppsets_core.method.rules import rule_named

NONPRIVATE = "nonprivate"
"""What results call ordinary calibration, which every rule is compared with."""


def label_of(series: str) -> str:
    """A rule as people call it, or "without privacy"."""
    return "without privacy" if series == NONPRIVATE else rule_named(series).label
