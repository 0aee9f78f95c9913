"""The state of a training run after an epoch, so that it can go on after a break."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from ppsets_core.errors import FileError
from ppsets_core.model.recipe import Recipe


def keep(folder: Path, parts: dict[str, Any], recipe: Recipe, epochs_done: int) -> None:
    """Writes what each of `parts` (network, optimiser, …) needs to go on; a break while writing harms nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / "checkpoint.part"
    states = {name: part.state_dict() for name, part in parts.items()}
    torch.save({"recipe": asdict(recipe), "epochs_done": epochs_done, **states}, unfinished)
    unfinished.replace(folder / "checkpoint.pt")


def restore(folder: Path, parts: dict[str, Any], recipe: Recipe) -> int:
    """Puts `parts` back as they were kept and says how many epochs are done; 0 if nothing was kept."""
    path = folder / "checkpoint.pt"
    if not path.exists():
        return 0
    try:
        kept = torch.load(path, weights_only=True)
        same = kept["recipe"] == asdict(recipe)
        if same:
            for name, part in parts.items():
                part.load_state_dict(kept[name])
    except Exception as error:  # a damaged or foreign file fails in as many ways as there are bytes
        raise FileError(
            f"{path} cannot be read as the state of this training. Give another --resume folder."
        ) from error
    if not same:
        raise FileError(
            f"{path} belongs to a run with other settings. Give the same settings or another --resume folder."
        )
    return kept["epochs_done"]
