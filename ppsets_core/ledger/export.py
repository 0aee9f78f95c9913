"""The ledger for the record: releases as CSV, everything as JSON.

Hashes stay in, and so do refusals, which tell that people were charged before.
"""

import csv
import io
import json

from ppsets_core.files.names import plain_cell
from ppsets_core.ledger.accounts import Event, Release
from ppsets_core.ledger.amounts import shown
from ppsets_core.ledger.ledger import Ledger
from ppsets_core.method.calibration import Calibration
from ppsets_core.method.private_check import PrivateCheck

PUBLIC = ("method", "alpha", "n", "m", "per", "unit", "model")
WHO = ("issuer", "subject", "reason")
CHARGED = ("id", "time", "dataset", "kind", "epsilon", "delta", "counted_by", "status")
COLUMNS = (*CHARGED, *PUBLIC, "threshold", "covered", *WHO)


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
    """Accounts, every budget set or raised, every release, and what was published or withdrawn."""
    seen = ledger.snapshot()
    accounts = [
        {"name": d.name, "budget": shown(d.budget), "spent": shown(d.spent), "left": shown(d.left)}
        for d in seen.accounts
    ]
    changes = [
        {"dataset": c.account, "budget": shown(c.budget), "time": c.time, **_who(c)} for c in seen.budget_changes
    ]
    releases = [_row(release) for release in seen.releases]
    shelf = [{"release": c.release, "change": c.kind, "time": c.time, **_who(c)} for c in seen.shelf_changes]
    document = {"datasets": accounts, "budgets": changes, "releases": releases, "shelf": shelf}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _row(release: Release) -> dict:
    calibration, check = release.calibration, release.check
    public = {name: getattr(calibration or check, name, None) for name in PUBLIC}
    if release.trained is not None:
        public["model"] = release.trained
    return {
        "id": release.id,
        "time": release.time,
        "dataset": release.account,
        "kind": release.kind,
        "epsilon": shown(release.epsilon),
        "delta": shown(release.delta),
        "counted_by": release.counted_by,
        "status": release.status,
        **public,
        "threshold": None if calibration is None else _threshold(calibration),
        "covered": None if check is None else covered_in_words(check),
        **_who(release),
    }


def _who(entry: Event) -> dict[str, str | None]:
    who = (None, None) if entry.actor is None else (entry.actor.issuer, entry.actor.subject)
    return dict(zip(WHO, (*who, entry.reason), strict=True))


def _threshold(calibration: Calibration) -> float | str:
    return calibration.threshold if calibration.per is None else thresholds_in_words(calibration)


def covered_in_words(check: PrivateCheck) -> str:
    """The noisy share that was covered with its 95% interval, overall or of each diagnosis."""
    told = [
        f"{100 * share:.1f}% ({100 * low:.1f}% to {100 * high:.1f}%)"
        for share, (low, high) in zip(check.shares(), check.intervals(), strict=True)
    ]
    if check.per is None:
        return told[0]
    return "; ".join(f"{name}: {words}" for name, words in zip(check.classes, told, strict=True))


def thresholds_in_words(calibration: Calibration) -> str:
    """ŝ, or what it is for each diagnosis or group."""
    if calibration.per is None:
        return f"{calibration.threshold:.6g}"
    pairs = zip(calibration.names, calibration.thresholds, strict=True)
    return "; ".join(f"{name}: {value:.6g}" for name, value in pairs)
