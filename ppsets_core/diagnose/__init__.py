"""From X-rays to answers: classify a folder once, then read off the ranked sets of any calibration. No torch here."""

from ppsets_core.diagnose.answers import Answer, alarm_of, answers_of, counts, select
from ppsets_core.diagnose.findings import Finding, Findings, examine

__all__ = ["Answer", "Finding", "Findings", "alarm_of", "answers_of", "counts", "examine", "select"]
