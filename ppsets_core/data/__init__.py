"""Score files in, checked records out."""

from ppsets_core.data.records import Records, of_split, one_per_patient
from ppsets_core.data.source import read_scores

__all__ = ["Records", "of_split", "one_per_patient", "read_scores"]
