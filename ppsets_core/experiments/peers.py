"""`peers`: every rule of ours, P-COQS and the non-private threshold, on the same splits at equal privacy.

Our rules are ε²/8-zCDP (docs/method.md#the-exponential-mechanism). P-COQS is stated in zCDP and gets all of this ρ,
which favours it: it has no pure ε at all, and our rules need less where ε is large.

P-COQS (O. M. Romanus, R. Molinari, arXiv:2507.12497), written anew: halve [0, 1] N = ⌈log₂(1/δ)⌉ times; each time add
Gaussian noise to the number of scores up to the middle and compare with ⌈(1−α)(n+1)⌉. Replacing a record moves a count
by at most 1, so N counts with noise of variance N/(2ρ) are ρ-zCDP (Bun, Steinke, TCC 2016). δ = 1e-10 is the authors'
(github.com/SMAC-Group/pcoqs); they also round to two digits, which is left out. Simulation only, never a release.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.experiments.findings import Findings, Table, joined, standard_error
from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.style import SKY, Look, add_goal, add_line, figure, log_ticks, look_of
from ppsets_core.method.bins import limit, runs_of
from ppsets_core.method.plan import plan
from ppsets_core.method.release import draw_simulation
from ppsets_core.method.rules import RULES
from ppsets_core.method.sets import conformal_rank, nonprivate_threshold
from ppsets_core.progress import Progress
from ppsets_core.validation import check_n

ALPHA = 0.1
NS = (1000, 100)
EPSILONS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
PEERS = {"P-COQS": 1e-10, "P-COQS in 10 steps": 1e-3}
"""Each one's δ: as its authors run it; and ending its search earlier, which leaves more of ρ to each step."""


def p_coqs(scores: np.ndarray, alpha: float, rho: float, delta: float, rng: np.random.Generator) -> np.ndarray:
    """One threshold per row of scores (data sets, n), all in [0, 1]; each ρ-zCDP."""
    steps, target = math.ceil(math.log2(1 / delta)), conformal_rank(scores.shape[1], alpha)
    sigma = math.sqrt(steps / (2 * rho))
    left, right = np.zeros(len(scores)), np.ones(len(scores))
    for _ in range(steps):
        middle = (left + right) / 2
        count = (scores <= middle[:, None]).sum(axis=1) + rng.normal(0, sigma, len(scores))
        left, right = np.where(count < target, middle + delta, left), np.where(count < target, right, middle)
    return (left + right) / 2


def zcdp_of(epsilon: float) -> float:
    """The ρ that an exponential mechanism of bounded range ε satisfies (M. Cesar, R. Rogers, arXiv:2004.07223)."""
    return epsilon**2 / 8


@dataclass(frozen=True, eq=False)
class Trial:
    """Each split's coverage and mean set size on the records left over; `trivial`: too few records to promise more."""

    coverage: np.ndarray
    mean_size: np.ndarray
    trivial: bool = False

    @property
    def numbers(self) -> dict[str, Any]:
        """Means over the splits; `below` is the share of splits that cover less than asked for."""
        return {
            "coverage": float(self.coverage.mean()),
            "standard_error": standard_error(self.coverage),
            "below": float((self.coverage < 1 - ALPHA - 1e-12).mean()),
            "mean_size": float(self.mean_size.mean()),
            "trivial": self.trivial,
        }

    @property
    def falls_short(self) -> bool:
        """Mean coverage is less than promised by more than two standard errors."""
        return _clearly_below(self.coverage, 1 - ALPHA)


def _clearly_below(values: np.ndarray, others: np.ndarray | float) -> bool:
    return bool((values - others).mean() < -2 * standard_error(values - others))


Trials = dict[str, list[Trial]]
"""By series (a rule's name, a peer's, or NONPRIVATE), one for each ε."""


def run(
    *, seed: int = 0, splits: int = 1000, progress: Progress | None = None, ns: Sequence[int] = NS
) -> dict[int, Trials]:
    """For each n, splits that all series and every ε share."""
    records, rng, found = Labelled.of(bundled_scores()), np.random.default_rng(seed), {}
    for done, n in enumerate(ns, start=1):
        found[n] = _trials(records, n, check_n(splits), rng)
        if progress:
            progress(done, len(ns))
    return found


def _trials(records: Labelled, n: int, splits: int, rng: np.random.Generator) -> Trials:
    """The records in many random orders: the first n of each calibrate, the others evaluate."""
    orders = np.array([rng.permutation(len(records)) for _ in range(splits)])
    calibration, others = records.scores[orders[:, :n]], orders[:, n:]

    def trial(thresholds: np.ndarray, trivial: bool = False) -> Trial:
        limits = limit(thresholds)[:, None]
        sizes = sum((column[others] <= limits).mean(axis=1) for column in (1 - records.probabilities).T)
        return Trial((records.scores[others] <= limits).mean(axis=1), np.asarray(sizes), trivial)

    def by_rule(rule: str, epsilon: float) -> Trial:
        chosen = plan(n, ALPHA, epsilon, method=rule)
        if chosen.is_trivial:
            return trial(np.ones(splits), trivial=True)
        runs = (runs_of(scores, chosen.m) for scores in calibration)
        return trial(np.array([draw_simulation(chosen.mechanism, one, n, rng) for one in runs]) / chosen.m)

    trials = {rule: [by_rule(rule, epsilon) for epsilon in EPSILONS] for rule in RULES}
    for peer, delta in PEERS.items():
        trials[peer] = [trial(p_coqs(calibration, ALPHA, zcdp_of(e), delta, rng)) for e in EPSILONS]
    exact = trial(np.array([nonprivate_threshold(scores, ALPHA) for scores in calibration]))
    return trials | {NONPRIVATE: [exact] * len(EPSILONS)}


def findings(found: dict[int, Trials]) -> Findings:
    """Two tables per n, and where P-COQS is smaller and where it falls short."""
    return Findings(
        "Our rules, P-COQS and no privacy, at equal privacy",
        {"alpha": ALPHA, "n": list(found), "splits": len(found[max(found)][NONPRIVATE][0].coverage), "delta": PEERS},
        tuple(table for n, trials in found.items() for table in _tables(n, trials)),
        tuple(_sentence(n, peer, trials) for n, trials in found.items() for peer in PEERS),
        {f"n = {n}": _numbers(trials) for n, trials in found.items()},
    )


def _tables(n: int, trials: Trials) -> list[Table]:
    columns, coverages, sizes = ("ε", "ρ", *(_look(series).name for series in trials)), [], []
    for epsilon, *at in zip(EPSILONS, *trials.values(), strict=True):
        numbers, start = [trial.numbers for trial in at], (epsilon, round(zcdp_of(epsilon), 6))
        coverages.append((*start, *(f"{each['coverage']:.4f} ± {each['standard_error']:.4f}" for each in numbers)))
        sizes.append((*start, *(round(each["mean_size"], 3) for each in numbers)))
    return [
        Table(f"Mean coverage ± its standard error, n = {n:,}", columns, tuple(coverages)),
        Table(f"Mean set size, n = {n:,}", columns, tuple(sizes)),
    ]


def _sentence(n: int, peer: str, trials: Trials) -> str:
    """A difference counts above two standard errors, split by split."""
    parts = []
    for rule in RULES:
        pairs = zip(trials[peer], trials[rule], strict=True)
        smaller = [_clearly_below(theirs.mean_size, ours.mean_size) for theirs, ours in pairs]
        parts.append(f"than the {label_of(rule)} at {_where(smaller)}")
    short = _where([trial.falls_short for trial in trials[peer]])
    return f"n = {n:,}: {peer} gives smaller sets {joined(parts)}; it covers less than asked for at {short}."


def _where(is_so: Sequence[bool]) -> str:
    values = [f"{epsilon:g}" for epsilon, so in zip(EPSILONS, is_so, strict=True) if so]
    if len(values) in (0, len(EPSILONS)):
        return "every ε" if values else "no ε"
    return f"ε = {joined(values)}"


def _numbers(trials: Trials) -> dict[str, Any]:
    by_series: dict[str, Any] = {series: [trial.numbers for trial in each] for series, each in trials.items()}
    by_series[NONPRIVATE] = by_series[NONPRIVATE][0]
    return {"over": "epsilon", "values": EPSILONS, "rho": [zcdp_of(e) for e in EPSILONS], **by_series}


def figures(found: dict[int, Trials]) -> dict[str, go.Figure]:
    """Coverage, splits below what is asked for, and set size along ε, for each n; hollow marks: too few records."""
    titles = {"coverage": "Mean coverage", "below": "Share of splits below 0.9", "mean_size": "Mean set size"}
    return {
        f"{title}, n = {n:,}": _figure(each, title, key) for n, each in found.items() for key, title in titles.items()
    }


def _figure(trials: Trials, title: str, key: str) -> go.Figure:
    fig = figure("privacy loss ε (P-COQS: ρ = ε²/8)", title[0].lower() + title[1:])
    for series, each in trials.items():
        values, hollow = [trial.numbers[key] for trial in each], [trial.trivial for trial in each]
        add_line(fig, EPSILONS, values, _look(series), hollow=hollow)
    if key == "coverage":
        add_goal(fig, EPSILONS, 1 - ALPHA)
    if key == "below":
        fig.update_yaxes(tickformat=".0%", rangemode="tozero")
    log_ticks(fig, EPSILONS)
    return fig


def _look(series: str) -> Look:
    """The second peer looks unlike the first, to which `look_of` gives the next free look."""
    return Look(series, SKY, "longdashdot", "star", "-") if series == list(PEERS)[1] else look_of(series)
