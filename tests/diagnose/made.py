"""X-rays as `examine` finds them, made by hand."""

import dataclasses
from types import SimpleNamespace

import numpy as np

from ppsets_core import Simulation, plan, simulate
from ppsets_core.diagnose.set_table import SetTable, sets_of
from ppsets_core.diagnose.xrays import XrayRecords
from ppsets_core.model import FolderPrediction
from ppsets_core.model.folder_records import records_of


def xrays(rows, *, classes=("a", "b", "c"), model=None, refused=(), novelty=None, **facts) -> XrayRecords:
    """One for each row of probabilities. `facts`: names, labels, patients, doubts, thumbnails, identities of each."""

    def each(name: str, otherwise: object) -> tuple:
        return tuple(facts.get(name) or [otherwise] * len(rows))

    predicted = FolderPrediction(
        tuple(facts.get("names") or [f"{number}.png" for number in range(len(rows))]),
        each("labels", None),
        each("patients", None),
        np.array(rows, dtype=float).reshape(-1, len(classes)),
        tuple(refused),
        None if novelty is None else np.array(novelty),
    )
    records, _ = records_of("X-rays", SimpleNamespace(classes=classes, fingerprint=model), predicted, labels="optional")
    return XrayRecords(records, each("doubts", ""), each("thumbnails", b""), each("identities", {}), predicted.refused)


def xray_sets(rows, calibration, group: str | None = None, **facts) -> SetTable:
    found = xrays(rows, **facts)
    return sets_of(found.records, calibration, group=group, xrays=found)


def cut_at(threshold: float) -> Simulation:
    """A calibration with this threshold."""
    drawn = simulate(np.linspace(0, 0.8, 500), plan(500, 0.1, 5.0), np.random.default_rng(0))
    return dataclasses.replace(drawn, drawn=(threshold,))
