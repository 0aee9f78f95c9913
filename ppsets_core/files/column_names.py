"""Columns that mean something, under any name and case, and the words for rows a model was trained on."""

from ppsets_core.files.names import unquoted

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
TRAINING = frozenset({"train", "training"})
SEEN = "the model has learnt from them, so that their scores are too good and no promise would hold"


def column_name(raw: str) -> str:
    """A header cell as the name it stands for: reserved names in any case and number."""
    name = unquoted(str(raw).strip())
    folded = name.casefold()
    folded = ALIASES.get(folded, folded)
    return folded if folded in RESERVED | IGNORED else name


def is_training(split: str | None) -> bool:
    """Whether the column `split` says that the model was trained on the row."""
    return (split or "").strip().casefold() in TRAINING
