"""What an experiment hands over: its tables, what it found in sentences, and every number behind them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.explore.outcomes import outcomes_of
from ppsets_core.explore.sweeps import Sweep
from ppsets_core.method.simulate import Outcome, SplitResult


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
    """All of it as JSON, one line per list of numbers."""
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


def with_rule(series: str) -> str:
    """How a sentence names a series: "with the paper's rule", "without privacy"."""
    return label_of(series) if series == NONPRIVATE else f"with the {label_of(series)}"


def joined(parts: Sequence[str]) -> str:
    """
    >>> joined(["one"]), joined(["one", "two", "three"])
    ('one', 'one, two and three')
    """
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def sweep_table(title: str, sweep: Sweep, column: str, average: Callable[[np.ndarray], np.floating] = np.mean) -> Table:
    """Coverage, as `average` over the splits says, and mean set size along a sweep: every rule's, and without privacy.

    `column` heads the values."""
    rows: list[tuple[str | float, ...]] = []
    for value in sweep.values:
        outcomes = outcomes_of(sweep.at(value))
        coverage = (round(float(average(o.coverage)), 4) for o in outcomes.values())
        rows.append((value, *coverage, *(round(float(o.mean_size.mean()), 3) for o in outcomes.values())))
    names = [label_of(series) for series in (*sweep.results, NONPRIVATE)]
    columns = (column, *(f"coverage, {name}" for name in names), *(f"size, {name}" for name in names))
    return Table(title, columns, tuple(rows))


def sweep_numbers(sweep: Sweep) -> dict[str, Any]:
    """Every rule's plan and every split's outcome at each value, and those without privacy on the same splits."""
    by_rule = {method: [_split_numbers(r) for r in results] for method, results in sweep.results.items()}
    nonprivate = next(iter(sweep.results.values()))[0].nonprivate
    return {"over": sweep.over, "values": list(sweep.values), **by_rule, NONPRIVATE: outcome_numbers(nonprivate)}


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
