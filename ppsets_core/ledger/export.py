"""The ledger for the record: releases as CSV, everything as JSON. Fingerprints stay in."""

import csv
import io
import json

from ppsets_core.files.spreadsheet import plain_cell
from ppsets_core.ledger.amounts import shown
from ppsets_core.ledger.ledger import Ledger, Release

COLUMNS = ("id", "time", "dataset", "epsilon", "status", "method", "alpha", "n", "m", "threshold", "unit", "model")


def export_csv(ledger: Ledger) -> str:
    """One line a release; a data set's name that a spreadsheet would run as a formula is quoted as text."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    for release in ledger.releases():
        writer.writerow(_row(release) | {"dataset": plain_cell(release.dataset)})
    return out.getvalue()


def export_json(ledger: Ledger) -> str:
    """Accounts, every budget set or raised, and every release."""
    accounts = [
        {"name": d.name, "budget": shown(d.budget), "spent": shown(d.spent), "left": shown(d.left)}
        for d in ledger.datasets()
    ]
    changes = [{"dataset": c.dataset, "budget": shown(c.budget), "time": c.time} for c in ledger.budget_changes()]
    releases = [_row(release) for release in ledger.releases()]
    return json.dumps({"datasets": accounts, "budgets": changes, "releases": releases}, indent=2, ensure_ascii=False)


def _row(release: Release) -> dict:
    calibration = release.calibration
    public = {name: getattr(calibration, name) if calibration else None for name in COLUMNS[5:]}
    status = "released" if calibration else "charged, not released"
    return {
        "id": release.id,
        "time": release.time,
        "dataset": release.dataset,
        "epsilon": shown(release.epsilon),
        "status": status,
        **public,
    }
