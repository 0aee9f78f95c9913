"""A synthetic model of 14 diagnoses: score files and tables of new patients, made in code."""

import numpy as np

CLASSES = (
    "atelectasis", "cardiomegaly", "consolidation", "edema", "effusion", "emphysema", "fibrosis", "hernia",
    "infiltration", "mass", "nodule", "pleural thickening", "pneumonia", "pneumothorax",
)  # fmt: skip


def drawn(rows: int, seed: int, sharpness: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and true diagnoses: the likelier ones often, the rarer ones seldom."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(len(CLASSES), rows, p=np.linspace(2, 1, len(CLASSES)) / np.linspace(2, 1, len(CLASSES)).sum())
    logits = rng.normal(0, 1, (rows, len(CLASSES)))
    logits[np.arange(rows), labels] += sharpness
    shares = np.exp(logits)
    return shares / shares.sum(axis=1, keepdims=True), labels


def table(rows: int, seed: int, *, labelled: bool = True, prefix: str = "n", extra: dict | None = None) -> str:
    """A CSV with identifiers of its own; `extra` adds columns, each a list of texts."""
    shares, labels = drawn(rows, seed)
    extra = extra or {}
    head = ["id", *(["label"] if labelled else []), *extra, *CLASSES]
    lines = [",".join(head)]
    for row in range(rows):
        told = [CLASSES[labels[row]]] if labelled else []
        own = [values[row] for values in extra.values()]
        lines.append(",".join([f"{prefix}{row}", *told, *own, *map(repr, shares[row].tolist())]))
    return "\n".join(lines)
