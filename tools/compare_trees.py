"""Run the same fixed inputs through two checkouts and compare plans, bin counts, cohorts, sets, checks and exports.

python tools/compare_trees.py /path/to/old /path/to/new

The draw is random, so both checkouts use the calibrations that the old one made, which the new one must be able to
read. Prints what differs; the exit code is the number of differences.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

CLASSES = ("bacterial", "normal", "viral")
RELEASED = ("n", "alpha", "epsilon", "method", "coverage_lower", "per", "classes", "unit")
PLANS = [
    {"n": n, "alpha": alpha, "epsilon": epsilon, "method": method, **per}
    for n in (40, 536, 10**5)
    for alpha, epsilon in ((0.1, 1.0), (0.05, 0.3))
    for method in ("sharp", "paper")
    for per in ({}, {"per": "diagnosis", "classes": 3}, {"per": "site", "groups": ["north", "south"]})
    if method == "sharp" or not per
]
"""Each is planned without and with a fifth of ε for novelty."""
PROBE = """
import hashlib, json, sys
from functools import partial
asked, files = json.loads(sys.argv[1]), json.loads(sys.argv[2])
from ppsets_core.data.counts import select
from ppsets_core.data.source import open_source
from ppsets_core.method.plan import plan
from ppsets_core.ledger.charging import CohortBuilder

def planned(share, **given):
    return plan(given.pop("n"), given.pop("alpha"), given.pop("epsilon"), novelty_share=share, **given)

def counted(file, group, share, **given):
    chosen = select(open_source(file, group=group))
    return chosen.counts(planned(share, n=len(chosen), **given), partial(CohortBuilder, b"k" * 32))

def facts(found):
    told = {name: getattr(found, name) for name in ("m", "gamma", "level", "rank", "coverage_lower", "epsilon")}
    if (beside := found.novelty) is not None:
        told |= {f"novelty {name}": getattr(beside, name) for name in ("alpha", "m", "epsilon", "rank")}
    return told

def digest(array):
    return hashlib.sha256(array.tobytes()).hexdigest()

out = {f"plan {given}, novelty {share}": facts(planned(share, **given)) for given in asked for share in (0, 0.2)}
for file, group, given in files:
    for share in (0, 0.2):
        found = counted(file, group, share, alpha=0.1, epsilon=2.0, **given)
        people = found.cohort.hashes
        out[f"counts of {file}, {given}, novelty {share}"] = {
            "n": len(found), "unit": found.unit, "classes": list(found.classes),
            "bins": [b.tolist() for b in found.bins], "cohort": [found.cohort.by_patient, digest(people[people > 0])],
        }
print(json.dumps(out))
"""
"""What only the library shows."""
PERS = {"all": (), "diagnosis": ("--per", "diagnosis"), "site": ("--per", "site", "--groups", "north,south")}


def made(rows: int, seed: int) -> pd.DataFrame:
    """Labels, patients, sites and probabilities of a made-up ward."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(len(CLASSES), 0.4), rows)
    labels = [CLASSES[rng.choice(len(CLASSES), p=row)] for row in shares]
    facts = {"patient": [f"p{number}" for number in rng.integers(0, rows, rows)], "label": labels}
    facts |= {"site": rng.choice(["north", "south"], rows), "novelty": rng.random(rows)}
    return pd.DataFrame(facts | dict(zip(CLASSES, shares.T, strict=True)))


def run(tree: Path, *arguments: object, program: tuple[str, str] = ("-m", "ppsets_core")) -> str:
    """The output of a command of one checkout."""
    command = [sys.executable, *program, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{tree}: {' '.join(command)}\n{done.stderr}")
    return done.stdout


def released(tree: Path, folder: Path, per: str) -> dict[str, object]:
    """What a release of one checkout says but for its thresholds; the calibration stays in the folder."""
    out = folder / f"{tree.name}-{per}.json"
    spend = ("--epsilon", 2, "--budget", 2, "--ledger", folder / f"{tree.name}-{per}.sqlite")
    run(tree, "calibrate", folder / "cal.csv", *spend, *PERS[per], "--out", out)
    found = json.loads(out.read_text(encoding="utf-8"))
    return {name: found.get(name) for name in RELEASED}


def probed(tree: Path, folder: Path) -> dict[str, dict[str, object]]:
    """Plans of one checkout, and what it counts of some files."""
    grouped = ("site", {"per": "site", "groups": ["north", "south"]})
    whole = (None, {}), (None, {"method": "paper"}), (None, {"per": "diagnosis", "classes": CLASSES}), grouped
    files = [(str(folder / file), *how) for file in ("cal.csv", "new") for how in whole]
    found: dict[str, dict[str, object]] = json.loads(
        run(tree, json.dumps(PLANS), json.dumps(files), program=("-c", PROBE))
    )
    return found


def xrays(tree: Path, folder: Path, calibration: Path) -> list[dict[str, object]]:
    """The sets of the bundled X-rays."""
    found = json.loads(run(tree, "predict", folder, "--calibration", calibration, "--json"))
    kept = ("file", "set", "probabilities", "novelty", "unfamiliar", "flagged because")
    return [{name: row[name] for name in kept} for row in found["sets"]]


def checked(tree: Path, folder: Path, calibration: Path) -> dict[str, object]:
    """The numbers of a check."""
    found = json.loads(run(tree, "check", folder / "new.csv", "--calibration", calibration, "--json"))
    return {name: value for name, value in found.items() if name not in ("words", "note", "verdict")}


def sets(tree: Path, folder: Path, source: str, calibration: Path, ending: str) -> pd.DataFrame:
    """The sets that one checkout writes."""
    out = folder / f"{tree.name}-{calibration.stem}-{source}{ending}"
    run(tree, "predict", folder / source, "--calibration", calibration, "--out", out)
    found = pd.read_csv(out) if ending == ".csv" else pd.read_parquet(out)
    return found.drop(columns=["exported", "ppsets"], errors="ignore")


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
    before, after = (probed(tree, folder) for tree in (old, new))
    found += [
        f"{what}, {name}: {value} → {after[what].get(name)}"
        for what, values in before.items()
        for name, value in values.items()
        if value != after[what].get(name)
    ]
    found += of_xrays(old, new, folder)
    for per in PERS:
        before, after = (released(tree, folder, per) for tree in (old, new))
        found += [f"{per}: {name}: {before[name]} → {after[name]}" for name in RELEASED if before[name] != after[name]]
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


def of_xrays(old: Path, new: Path, folder: Path) -> list[str]:
    """Which of the bundled X-rays have other sets; two that are no chest X-rays lie with them."""
    pictures, calibration = folder / "xrays", folder / "bundled.json"
    pictures.mkdir()
    for path in sorted((old / "assets").glob("synthetic_*.png")):
        shutil.copy(path, pictures)
    Image.new("L", (300, 300), 128).save(pictures / "grey.png")
    Image.effect_noise((300, 300), 60).save(pictures / "noise.png")
    spend = ("--split", "calibration", "--epsilon", 1, "--budget", 1, "--novelty-share", 0.2)
    scores, ledger = old / "assets" / "coronahack_softmax.csv", folder / "bundled.sqlite"
    run(old, "calibrate", scores, *spend, "--ledger", ledger, "--out", calibration)
    one, other = (xrays(tree, pictures, calibration) for tree in (old, new))
    if len(one) != len(other):
        return [f"X-rays: {len(one)} → {len(other)}"]
    return [f"X-ray: {was} → {now}" for was, now in zip(one, other, strict=True) if was != now]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        told = differences(*(Path(path).resolve() for path in sys.argv[1:3]), Path(temporary))
    print("\n".join(told) or "no difference")
    raise SystemExit(len(told))
