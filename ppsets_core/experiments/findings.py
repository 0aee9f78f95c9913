"""What an experiment hands over: its tables, what it found in sentences, and every number behind them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppsets_core.simulation import Outcome, SplitResult
from ppsets_core.tradeoffs.sweeps import Sweep


@dataclass(frozen=True)
class Table:
    """Cells are numbers or words, already rounded as they are to be read."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


@dataclass(frozen=True)
class Findings:
    """One experiment's outcome; `numbers` holds everything that its figures show."""

    title: str
    settings: Mapping[str, Any]
    tables: tuple[Table, ...]
    sentences: tuple[str, ...]
    numbers: Mapping[str, Any]


def to_json(findings: Findings, command: str) -> str:
    """All of it as JSON, lists of numbers a line each."""
    document = {
        "title": findings.title,
        "command": command,
        "settings": findings.settings,
        "found": findings.sentences,
        "tables": [vars(table) for table in findings.tables],
        "numbers": findings.numbers,
    }
    text = json.dumps(document, indent=1, ensure_ascii=False, default=_plain)
    return re.sub(r"\[([^\[\]{}]*)\]", lambda found: "[" + " ".join(found[1].split()) + "]", text) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return [float(f"{v:.6g}") if isinstance(v, float) else v for v in value.ravel().tolist()]
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(type(value))


def sweep_numbers(sweep: Sweep) -> dict[str, Any]:
    """Every rule's plan and every split's outcome at each value, and those without privacy on the same splits."""
    by_rule = {method: [_split_numbers(r) for r in results] for method, results in sweep.results.items()}
    nonprivate = next(iter(sweep.results.values()))[0].nonprivate
    return {"over": sweep.over, "values": list(sweep.values), **by_rule, "nonprivate": outcome_numbers(nonprivate)}


def _split_numbers(result: SplitResult) -> dict[str, Any]:
    return {"plan": vars(result.plan), **outcome_numbers(result.private)}


def outcome_numbers(outcome: Outcome) -> dict[str, Any]:
    """Coverage and mean set size of each split, and how many sets of each size there were in all."""
    sizes = outcome.size_counts.sum(axis=0)
    return {
        "coverage": outcome.coverage,
        "mean_size": outcome.mean_size,
        "sets_by_size": {str(size): int(sizes[size]) for size in np.flatnonzero(sizes)},
    }
