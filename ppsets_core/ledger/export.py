"""The ledger for the record: releases as CSV, everything as JSON. Fingerprints stay in."""

import csv
import io
import json

from ppsets_core.calibration import Calibration
from ppsets_core.files.spreadsheet import plain_cell
from ppsets_core.ledger.accounts import Release
from ppsets_core.ledger.amounts import shown
from ppsets_core.ledger.ledger import Ledger

PUBLIC = ("method", "alpha", "n", "m", "per", "unit", "model")
COLUMNS = ("id", "time", "dataset", "epsilon", "status", *PUBLIC, "threshold")


def export_csv(ledger: Ledger) -> str:
    """One line per release; a name that a spreadsheet would run as a formula is quoted as text."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    for release in ledger.releases():
        row = _row(release)
        writer.writerow({name: plain_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()})
    return out.getvalue()


def export_json(ledger: Ledger) -> str:
    """Accounts, every budget set or raised, and every release."""
    accounts = [
        {"name": d.name, "budget": shown(d.budget), "spent": shown(d.spent), "left": shown(d.left)}
        for d in ledger.accounts()
    ]
    changes = [{"dataset": c.account, "budget": shown(c.budget), "time": c.time} for c in ledger.budget_changes()]
    releases = [_row(release) for release in ledger.releases()]
    return json.dumps({"datasets": accounts, "budgets": changes, "releases": releases}, indent=2, ensure_ascii=False)


def _row(release: Release) -> dict:
    calibration = release.calibration
    public = {name: getattr(calibration, name) if calibration else None for name in PUBLIC}
    status = "released" if calibration else "charged, not released"
    return {
        "id": release.id,
        "time": release.time,
        "dataset": release.account,
        "epsilon": shown(release.epsilon),
        "status": status,
        **public,
        "threshold": None if calibration is None else _threshold(calibration),
    }


def _threshold(calibration: Calibration) -> float | str:
    return calibration.threshold if calibration.per is None else thresholds_in_words(calibration)


def thresholds_in_words(calibration: Calibration) -> str:
    """ŝ, or what it is for each diagnosis or group."""
    if calibration.per is None:
        return f"{calibration.threshold:.6g}"
    pairs = zip(calibration.names, calibration.thresholds, strict=True)
    return "; ".join(f"{name}: {value:.6g}" for name, value in pairs)
