"""Score files in, checked records out."""

from ppsets_core.records.records import Records, one_per_patient
from ppsets_core.records.score_file import read_scores

__all__ = ["Records", "one_per_patient", "read_scores"]
