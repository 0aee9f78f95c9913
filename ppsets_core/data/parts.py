"""The part of the data that each row is of, by its column `split`: to train, to calibrate, to check with."""

from collections import Counter

import numpy as np

from ppsets_core.data.columns import Columns, brief_name
from ppsets_core.errors import FileError
from ppsets_core.files.column_names import SEEN, is_training


def are_training(splits: np.ndarray) -> np.ndarray:
    names = splits.tolist()
    training = {name for name in set(names) if is_training(name)}
    return np.array([name in training for name in names], dtype=bool)


def check_split(source: str, split: str | None) -> None:
    if is_training(split):
        raise FileError(f"{source}: rows of the part '{split}' cannot be used: {SEEN}. Choose another part.")


def rows_of_part(columns: Columns, split: str | None, *, training: bool = False) -> Columns | None:
    """The rows of one part, or of all but the training one, which `training` keeps; None where none of them is used."""
    splits = columns.values.get("split")
    if splits is None or (split is None and training):
        return columns
    kept = np.flatnonzero(~are_training(splits) if split is None else splits == split)
    return columns.take(kept) if len(kept) else None


def parts_in_words(splits: np.ndarray | None, left_out: int) -> str:
    """What a file says of its parts; nothing where it says nothing."""
    if splits is None:
        return ""
    told = ", ".join(f"{brief_name(name) or 'unnamed'} {count:,}" for name, count in Counter(splits.tolist()).items())
    left = f" {left_out:,} rows of the training part are left out: {SEEN}." if left_out else ""
    return f"By its column `split` the file has the parts: {told}.{left}"


def nothing_left(splits: np.ndarray | None, split: str | None) -> str:
    """Say why no row can be used."""
    if splits is None or not len(splits):
        return "it is empty. At least one record is needed."
    if split is None:
        return f"every row is of the training part; {SEEN}. Give rows that it never saw."
    others = sorted({brief_name(one) for one in splits.tolist() if one and not is_training(one)})[:10]
    return f"there is no row of the part '{split}'; there are: {', '.join(others) or 'none but training'}."
