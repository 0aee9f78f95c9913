"""Run the same fixed inputs through two checkouts and compare plan, n, sets, checks and exports.

python tools/compare_trees.py /path/to/old /path/to/new

Columns that were renamed count as the same. The draw is random, so both checkouts use the calibrations that the old one
made. Prints what differs; the exit code is the number of differences.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

CLASSES = ("bacterial", "normal", "viral")
RENAMED = {"familiarity": "novelty", "label": "true diagnosis", "not a chest X-ray because": "flagged because"}
OPPOSITE = {"like the calibration's": "unfamiliar", "like the public reference's": "unfamiliar"}
PLANNED = ("n", "m", "level", "rank", "gamma", "coverage_lower", "alpha", "epsilon", "per", "classes", "unit")
PERS = {"all": (), "diagnosis": ("--per", "diagnosis"), "site": ("--per", "site", "--groups", "north,south")}


def made(rows: int, seed: int) -> pd.DataFrame:
    """Labels, patients, sites and probabilities of a made-up ward."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(len(CLASSES), 0.4), rows)
    labels = [CLASSES[rng.choice(len(CLASSES), p=row)] for row in shares]
    facts = {"patient": [f"p{number}" for number in rng.integers(0, rows, rows)], "label": labels}
    facts |= {"site": rng.choice(["north", "south"], rows), "familiarity": rng.random(rows)}
    return pd.DataFrame(facts | dict(zip(CLASSES, shares.T, strict=True)))


def run(tree: Path, *arguments: object) -> str:
    """The output of a command of one checkout."""
    command = [sys.executable, "-m", "ppsets_core", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{tree}: {' '.join(command)}\n{done.stderr}")
    return done.stdout


def planned(tree: Path, folder: Path, per: str) -> dict[str, object]:
    """What a release of one checkout plans; the calibration stays in the folder."""
    out = folder / f"{tree.name}-{per}.json"
    share = "--familiarity-share" if (tree / "ppsets_core" / "familiarity").is_dir() else "--novelty-share"
    spend = ("--epsilon", 2, "--budget", 2, share, 0, "--ledger", folder / f"{tree.name}-{per}.sqlite")
    run(tree, "calibrate", folder / "cal.csv", *spend, *PERS[per], "--out", out)
    found = json.loads(out.read_text(encoding="utf-8"))
    return {name: found.get(name) for name in PLANNED}


def twelve(number: str) -> float:
    return round(float(number), 12)


def checked(tree: Path, folder: Path, calibration: Path) -> dict[str, object]:
    """The numbers of a check, to twelve digits: intervals have come from SciPy since."""
    found = json.loads(
        run(tree, "check", folder / "new.csv", "--calibration", calibration, "--json"), parse_float=twelve
    )
    return {name: value for name, value in found.items() if name not in ("words", "note", "verdict")}


def sets(tree: Path, folder: Path, source: str, calibration: Path, ending: str) -> pd.DataFrame:
    """The sets that one checkout writes, under today's column names."""
    out = folder / f"{tree.name}-{calibration.stem}-{source}{ending}"
    run(tree, "predict", folder / source, "--calibration", calibration, "--out", out)
    found = pd.read_csv(out) if ending == ".csv" else pd.read_parquet(out)
    for old, new in OPPOSITE.items():
        if old in found:
            found[new] = found.pop(old).map({True: False, False: True})
    return found.rename(columns=RENAMED).drop(columns=["exported", "ppsets"], errors="ignore")


def texts(column: pd.Series) -> list[str]:
    """Cells as text, missing ones empty."""
    return [
        str(value) if isinstance(value, list | np.ndarray) or not pd.isna(value) else "" for value in column.tolist()
    ]


def differences(old: Path, new: Path, folder: Path) -> list[str]:
    """What one checkout says and the other does not."""
    found = []
    made(900, 1).to_csv(folder / "cal.csv", index=False)
    made(400, 2).to_csv(folder / "new.csv", index=False)
    (folder / "new").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(400), 3)):
        made(400, 2).iloc[rows].to_parquet(folder / "new" / f"{number}.parquet", index=False)
    for per in PERS:
        before, after = (planned(tree, folder, per) for tree in (old, new))
        found += [
            f"{per}: plan, {name}: {before[name]} → {after[name]}" for name in PLANNED if before[name] != after[name]
        ]
        calibration = folder / f"{old.name}-{per}.json"
        one, other = (checked(tree, folder, calibration) for tree in (old, new))
        found += [f"{per}: check: {one} → {other}"] if one != other else []
        for source, ending in (("new.csv", ".csv"), ("new.csv", ".parquet"), ("new", "")):
            one, other = (sets(tree, folder, source, calibration, ending) for tree in (old, new))
            lost = set(one) - set(other)
            found += [f"{per}: {source}{ending}: no column {name}" for name in sorted(lost)]
            for name in one.columns.intersection(other.columns):
                if texts(one[name]) != texts(other[name]):
                    found.append(f"{per}: {source}{ending}: column {name} differs")
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        told = differences(*(Path(path).resolve() for path in sys.argv[1:3]), Path(temporary))
    print("\n".join(told) or "no difference")
    raise SystemExit(len(told))
