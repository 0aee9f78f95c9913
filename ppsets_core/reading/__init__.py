"""Score files in, checked records out."""

from ppsets_core.reading.records import Records, one_per_patient
from ppsets_core.reading.scores import read_scores

__all__ = ["Records", "one_per_patient", "read_scores"]
