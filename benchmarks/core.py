"""Planning and simulation against a plain transcription of the paper's pseudo-code, side by side in one run.

python -m benchmarks.core
"""

import subprocess
import sys
import time

import numpy as np

from ppsets_core import Setting, calibrate, conformity_scores, plan, prediction_sets, random_splits, records
from ppsets_core.method import plan as planning_module
from ppsets_core.method.plan import DIAGNOSIS, best_m
from ppsets_core.method.rules import DEFAULT, RULES, sharp
from ppsets_core.method.rules.paper import best_gamma, paper_level
from ppsets_core.method.rules.sharp.bound import path_minima
from ppsets_core.method.rules.sharp.class_ranks import class_ranks
from ppsets_core.method.simulate import private_quantile


def transcribed_quantile(scores: np.ndarray, m: int, level: float, epsilon: float, rng: np.random.Generator) -> float:
    """Algorithm 2: counts in m bins, a utility for each, one random draw."""
    edges = np.linspace(0, 1, m + 1)
    counts, _ = np.histogram(scores, edges)
    upto = np.cumsum(counts)
    w = np.maximum((upto - counts) / level, (len(scores) - upto) / (1 - level))
    weights = np.exp(-epsilon * min(level, 1 - level) * (w - w.min()) / 2)
    return edges[1:][rng.choice(m, p=weights / weights.sum())]


def transcribed_plan(n: int, alpha: float, epsilon: float, rng: np.random.Generator) -> int:
    """Algorithm 5: 50 bin counts, a private quantile of fresh uniform scores for each, the m of the least."""
    outputs = {}
    for m in np.round(np.logspace(2, 6, 50)).astype(int):
        level = paper_level(n, alpha, epsilon, m, best_gamma(n, alpha, epsilon))
        outputs[m] = 1.0 if level >= 1 else transcribed_quantile(rng.random(n), m, level, epsilon, rng)
    return min(outputs, key=outputs.get)


def seconds(work, repeat: int = 5) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def fresh_plan(n: int, epsilon: float, method: str, m: int | None = None, classes: int | None = None) -> None:
    """As if it had never been asked for."""
    for cached in (best_m, planning_module._expected_output, sharp._aim, sharp._group_m, path_minima, class_ranks):
        cached.cache_clear()
    chosen = plan(n, 0.1, epsilon, method=method, m=m, per=DIAGNOSIS if classes else None, classes=classes)
    assert chosen.coverage_expected > 0


def planning(rng: np.random.Generator) -> None:
    print("plan, alpha = 0.1, epsilon = 1, against the transcription")
    for n in (1_000, 30_000):
        theirs = seconds(lambda n=n: transcribed_plan(n, 0.1, 1.0, rng), repeat=2)
        for method in RULES:
            ours = seconds(lambda n=n, method=method: fresh_plan(n, 1.0, method))
            times = f"{1e3 * ours:6.1f} ms  transcription {theirs:5.2f} s"
            print(f"  n = {n:>6,}  {method}  {times}  ratio {theirs / ours:5.0f}")
    kinds = {f"{rule}, m chosen": {"method": rule} for rule in RULES}
    kinds |= {f"{DEFAULT}, m = {m:,}": {"method": DEFAULT, "m": m} for m in (1_000, 1_000_000)}
    kinds |= {f"{DEFAULT}, per diagnosis": {"method": DEFAULT, "classes": 3}}
    print("slowest first call, n from 10 to 1,000,000, epsilon from 0.01 to 100")
    for kind, choices in kinds.items():
        took, n, epsilon = max(
            (seconds(lambda n=n, e=e, choices=choices: fresh_plan(n, e, **choices), 3), n, e)
            for n in (10, 100, 1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
            for e in (0.01, 0.1, 1.0, 10.0, 100.0)
        )
        print(f"  {kind}: {1e3 * took:.1f} ms at n = {n:,}, epsilon = {epsilon}")


def quantiles(rng: np.random.Generator) -> None:
    n, m, total = 30_000, 10**6, 50_000
    print(f"one private quantile of a random split, n = {n:,} of {total:,}, m = {m:,}, epsilon = 5")
    truth = np.sort(rng.random(total))
    for method in RULES:
        chosen = plan(n, 0.1, 5.0, method=method, m=m)
        quantile = private_quantile(truth, chosen)

        def ours(quantile=quantile):
            taken = np.zeros(total, dtype=bool)
            taken[rng.permutation(total)[:n]] = True
            quantile(np.cumsum(taken), rng)

        def theirs(level=chosen.level):
            transcribed_quantile(rng.permutation(truth)[:n], m, level, 5.0, rng)

        fast, plain = seconds(ours, 20), seconds(theirs, 5)
        print(f"  {method}  {1e3 * fast:6.2f} ms  transcription {1e3 * plain:6.1f} ms  ratio {plain / fast:5.0f}")


def splits(rng: np.random.Generator) -> None:
    labels = rng.integers(0, 3, 1500)
    logits = rng.normal(size=(1500, 3)) + 2 * np.eye(3)[labels]
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    for settings in (
        [Setting(0.1, 1.0)],
        [Setting(0.1, 1.0, rule) for rule in RULES],
        [Setting(0.1, 1.0, per=DIAGNOSIS)],
    ):
        taken = seconds(lambda s=settings: random_splits(probabilities, labels, 1000, s, 1000, rng), 2)
        print(f"1,000 splits of 1,500 x 3 probabilities, {len(settings)} setting(s): {taken:.2f} s")


def sets(rng: np.random.Generator) -> None:
    rows, classes = 10**6, 14
    print(f"{rows:,} x {classes} probabilities, against bare NumPy")
    shares = rng.dirichlet(np.ones(classes), rows)
    labels, sites = rng.integers(0, classes, rows), rng.choice(["east", "north", "south"], rows)
    scores = 1 - shares[np.arange(5000), labels[:5000]]
    together = calibrate(scores, 0.1, 1.0)
    groups = ["east", "north", "south"]
    each = calibrate(records(scores=scores, groups={"site": sites[:5000]}), 0.1, 1.0, per="site", groups=groups)
    names, place, thresholds = sites.tolist(), np.searchsorted(groups, sites), np.array(each.thresholds)
    works = {
        "prediction_sets": (
            lambda: prediction_sets(shares, together),
            lambda: 1 - shares <= together.threshold,
        ),
        "prediction_sets per group": (
            lambda: prediction_sets(shares, each, groups=names),
            lambda: 1 - shares <= thresholds[place][:, None],
        ),
        "conformity_scores": (
            lambda: conformity_scores(shares, labels),
            lambda: 1 - shares[np.arange(rows), labels],
        ),
    }
    for name, (ours, plain) in works.items():
        fast, bare = seconds(ours), seconds(plain)
        print(f"  {name}: {1e3 * fast:.0f} ms  NumPy {1e3 * bare:.0f} ms  ratio {fast / bare:.1f}")


def starting() -> None:
    """Processor time of new Pythons, the least of five; scikit-learn is installed here."""
    count = "import time; t = time.process_time(); {}; print(time.process_time() - t)"
    release = "pp.calibrate([i / 300 for i in range(300)], 0.1, 1.0)"
    works = {
        "import numpy": count.format("import numpy"),
        "import ppsets_core": count.format("import ppsets_core"),
        "first calibrate": "import ppsets_core as pp; " + count.format(release),
    }
    took = {
        name: min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))
        for name, code in works.items()
    }
    ratio = took["import ppsets_core"] / took["import numpy"]
    print(", ".join(f"{name}: {one:.2f} s" for name, one in took.items()), f"; import ratio {ratio:.1f}")


if __name__ == "__main__":
    generator = np.random.default_rng(0)
    planning(generator)
    quantiles(generator)
    splits(generator)
    sets(generator)
    starting()
