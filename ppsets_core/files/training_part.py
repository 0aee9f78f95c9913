"""Rows that a model has learnt from, by what their column `split` says."""

TRAINING = frozenset({"train", "training"})
SEEN = "the model has learnt from them, so that their scores are too good and no promise would hold"


def is_training(split: str | None) -> bool:
    return (split or "").strip().casefold() in TRAINING
