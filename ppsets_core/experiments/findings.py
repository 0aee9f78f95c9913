"""What the experiments share: tables, sentences and numbers to hand over, and sweeps over public sources of records."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_cifar10, bundled_scores
from ppsets_core.explore import NONPRIVATE, label_of, part_of
from ppsets_core.explore.labelled import Labelled, simulated_imagenet
from ppsets_core.explore.sweeps import QUANTITIES, Sweep, outcomes_of, sweep
from ppsets_core.method.simulate import Outcome
from ppsets_core.progress import Progress

IMAGENET_N, IMAGENET_EVALUATED, CIFAR10_N, CORONAHACK_N = 30_000, 20_000, 9000, 1000


@dataclass(frozen=True)
class Table:
    """Cells are numbers or words, already rounded for reading."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]

    def as_text(self) -> str:
        """Columns aligned for a terminal."""
        cells = [list(self.columns), *([f"{c:,}" if isinstance(c, int) else f"{c}" for c in row] for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([self.title, *lines])


@dataclass(frozen=True)
class Findings:
    """One experiment's outcome; `numbers` holds everything that its figures show."""

    title: str
    settings: Mapping[str, Any]
    tables: tuple[Table, ...]
    sentences: tuple[str, ...]
    numbers: Mapping[str, Any]

    def as_text(self) -> str:
        """The tables and sentences, for a terminal."""
        tables = [table.as_text() for table in self.tables]
        return "\n\n".join([self.title, *tables, "\n".join(self.sentences)]) + "\n"

    def as_json(self, command: str) -> str:
        """Everything, one line per list of numbers."""
        document = {
            "title": self.title,
            "command": command,
            "settings": self.settings,
            "found": self.sentences,
            "tables": [vars(table) for table in self.tables],
            "numbers": self.numbers,
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


def standard_error(values: np.ndarray) -> float:
    """Of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def outcome_numbers(outcome: Outcome) -> dict[str, Any]:
    """Coverage and mean set size of each split, and the number of sets of each size in all."""
    sizes = outcome.size_counts.sum(axis=0)
    return {
        "coverage": outcome.coverage,
        "mean_size": outcome.mean_size,
        "sets_by_size": {str(size): int(sizes[size]) for size in np.flatnonzero(sizes)},
    }


def sweep_table(title: str, swept: Sweep, column: str, average: Callable[[np.ndarray], np.floating] = np.mean) -> Table:
    """Coverage, averaged over the splits by `average`, and mean set size: every rule's, and without privacy.

    `column` heads the values."""
    rows: list[tuple[str | float, ...]] = []
    for value in swept.values:
        outcomes = outcomes_of(swept.at(value))
        coverage = (round(float(average(o.coverage)), 4) for o in outcomes.values())
        rows.append((value, *coverage, *(round(float(o.mean_size.mean()), 3) for o in outcomes.values())))
    names = [label_of(series) for series in (*swept.results, NONPRIVATE)]
    columns = (column, *(f"coverage, {name}" for name in names), *(f"size, {name}" for name in names))
    return Table(title, columns, tuple(rows))


def sweep_numbers(swept: Sweep) -> dict[str, Any]:
    """Every rule's plan and every split's outcome at each value, and those without privacy on the same splits."""
    by_rule = {
        method: [{"plan": r.plan.document(), **outcome_numbers(r.private)} for r in results]
        for method, results in swept.results.items()
    }
    nonprivate = next(iter(swept.results.values()))[0].nonprivate
    return {"over": swept.over, "values": list(swept.values), **by_rule, NONPRIVATE: outcome_numbers(nonprivate)}


@dataclass(frozen=True, eq=False)
class Source:
    """Public records, how many of them calibrate, and how many splits make the means steady."""

    name: str
    records: Labelled
    n: int
    splits: int


Swept = Sequence[tuple[Source, Sweep]]


def sources(seed: int) -> tuple[Source, ...]:
    """The simulated ImageNet classifier, drawn by the seed, CIFAR-10's test images and the CoronaHack X-rays."""
    simulated = simulated_imagenet(IMAGENET_N + IMAGENET_EVALUATED, np.random.default_rng(seed))
    return (
        Source("ImageNet, simulated", simulated, IMAGENET_N, splits=100),
        Source("CIFAR-10", Labelled.of(bundled_cifar10()), CIFAR10_N, splits=500),
        Source("CoronaHack", Labelled.of(bundled_scores()), CORONAHACK_N, splits=1000),
    )


def sweep_sources(
    over: str,
    values: Callable[[int], Sequence[float]],
    alpha: float,
    epsilon: float = 1.0,
    *,
    seed: int = 0,
    splits: int | None = None,
    progress: Progress | None = None,
    of: Sequence[Source] | None = None,
) -> Swept:
    """Each source at `values(n)`, on splits that the seed alone decides; `of` replaces the sources."""
    found, chosen = [], of or sources(seed)
    for place, one in enumerate(chosen):
        at, step, rng = values(one.n), part_of(progress, place, len(chosen)), np.random.default_rng(seed)
        how = partial(sweep, alpha=alpha, epsilon=epsilon, n=one.n, progress=step)
        found.append((one, how(one.records, over, at, splits or one.splits, rng)))
    return found


def source_findings(
    found: Swept,
    title: str,
    settings: Mapping[str, float],
    column: str,
    sentence: Callable[[Source, Sweep], str],
    numbers: Callable[[Source], dict[str, Any]] = lambda one: {},
) -> Findings:
    """One table and one sentence per source; `numbers` adds to those kept of each."""
    tables = []
    for one, swept in found:
        splits = len(next(iter(swept.results.values()))[0].private.coverage)
        tables.append(sweep_table(f"{one.name}: means over {splits} splits", swept, column))
    return Findings(
        title,
        {**settings, "n": {one.name: one.n for one, _ in found}},
        tuple(tables),
        tuple(sentence(one, swept) for one, swept in found),
        {
            one.name: {"accuracy": one.records.top_accuracy(), **numbers(one), **sweep_numbers(swept)}
            for one, swept in found
        },
    )


def source_figures(found: Swept, draw: Callable[[Source, Sweep, str], go.Figure]) -> dict[str, go.Figure]:
    """Coverage and set size, one pair of figures per source."""
    return {f"{one.name}: {title}": draw(one, swept, key) for one, swept in found for key, title in QUANTITIES.items()}
