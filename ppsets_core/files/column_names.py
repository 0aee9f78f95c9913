"""Columns that mean something, under whatever name and case a file gives them."""

from ppsets_core.files.spreadsheet import unquoted

ALIASES = {
    "scores": "score",
    "labels": "label",
    "splits": "split",
    **dict.fromkeys(("patients", "patient_id", "patientid", "patient id", "subject", "subject_id"), "patient"),
    "familiarity": "novelty",
    "probs": "probabilities",
    "softmax": "probabilities",
}
RESERVED = {"score", "label", "patient", "model", "split", "novelty", "probabilities", "classes"}
TEXT = frozenset({"label", "patient", "model", "split"})
IGNORED = {"", "file", "index", "id"}


def column_name(raw: str) -> str:
    """A header cell as the name it stands for: reserved names in any case and number."""
    name = unquoted(str(raw).strip())
    folded = name.casefold()
    folded = ALIASES.get(folded, folded)
    return folded if folded in RESERVED | IGNORED else name
