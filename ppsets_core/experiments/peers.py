"""`peers`: every rule of ours, P-COQS and the non-private threshold, on the same splits at equal privacy.

Every rule draws by an exponential mechanism of bounded range ε: pure ε-differential privacy, and with it ε²/8-zCDP
(docs/method.md#the-exponential-mechanism). P-COQS is stated in zCDP and gets all of ρ = ε²/8. That favours it: it has
no pure ε at all, and our rules need less than ε²/8 where ε is large or, as the paper's rule, use half of their range.

P-COQS, Private Conformity via Quantile Search, is a noisy binary search for the conformal quantile: O. M. Romanus,
R. Molinari, "Differentially Private Conformal Prediction via Quantile Binary Search", arXiv:2507.12497. Written anew:
halve [0, 1] N = ⌈log₂(1/δ)⌉ times; each time add Gaussian noise to the number of scores up to the middle and compare
with ⌈(1−α)(n+1)⌉. The constants, δ = 1e-10 among them, are those of the authors' CoronaHack experiment
(github.com/SMAC-Group/pcoqs), which also rounds the result to two digits; that is left out here. Replacing a record
moves a count by at most 1, so noise of variance σ² makes it 1/(2σ²)-zCDP; N counts compose to N/(2σ²) = ρ with
σ² = N/(2ρ) (Bun, Steinke, "Concentrated Differential Privacy", TCC 2016). Simulation only, never a release.

Splits are a bag of records in random order, hence exchangeable: the promise of coverage holds for their average.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.errors import InputError
from ppsets_core.experiments.findings import Findings, Table, joined, standard_error
from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.style import SKY, Look, add_goal, add_line, figure, log_ticks, look_of
from ppsets_core.method.bins import limit, runs_of
from ppsets_core.method.plan import Plan, plan
from ppsets_core.method.release import draw_simulation
from ppsets_core.method.rules import RULES
from ppsets_core.method.sets import conformal_rank, conformity_scores, nonprivate_threshold
from ppsets_core.progress import Progress
from ppsets_core.validation import check_n

ALPHA = 0.1
NS = (1000, 100)
EPSILONS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
EXAMPLE_EPSILON, EXAMPLE_DELTA = 1.0, 1e-5
DELTA, FEWER = 1e-10, 1e-3


def steps_for(delta: float) -> int:
    """
    >>> steps_for(1e-10)
    34
    """
    return math.ceil(math.log2(1 / delta))


PEERS = {"P-COQS": DELTA, f"P-COQS in {steps_for(FEWER)} steps": FEWER}
"""As its authors run it; and ending its search earlier, which leaves more of ρ to each step."""


def p_coqs(
    scores: np.ndarray, alpha: float, rho: float, rng: np.random.Generator, *, delta: float = DELTA
) -> np.ndarray:
    """One threshold per row of scores (data sets, n), all in [0, 1]; each ρ-zCDP."""
    steps, target = steps_for(delta), conformal_rank(scores.shape[1], alpha)
    sigma = math.sqrt(steps / (2 * rho))
    left, right = np.zeros(len(scores)), np.ones(len(scores))
    for _ in range(steps):
        middle = (left + right) / 2
        count = (scores <= middle[:, None]).sum(axis=1) + rng.normal(0, sigma, len(scores))
        left, right = np.where(count < target, middle + delta, left), np.where(count < target, right, middle)
    return (left + right) / 2


def zcdp_of(epsilon: float) -> float:
    """The ρ that an exponential mechanism of bounded range ε satisfies: ε²/8, proved in
    docs/method.md#the-exponential-mechanism (M. Cesar, R. Rogers, ALT 2021, arXiv:2004.07223).

    It is no less than what the mechanism needs, and more where ε is large.
    """
    return epsilon**2 / 8


def epsilon_of(rho: float, delta: float) -> float:
    """ρ-zCDP is (ε, δ)-differentially private with ε = ρ + 2√(ρ·log(1/δ)): Bun and Steinke, Proposition 1.3."""
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


@dataclass(frozen=True, eq=False)
class Trial:
    """How one threshold per split did on the records left over; `trivial`: too few records to promise more."""

    coverage: np.ndarray
    mean_size: np.ndarray
    trivial: bool = False

    @property
    def standard_error(self) -> float:
        """Of the mean coverage."""
        return standard_error(self.coverage)

    @property
    def below(self) -> float:
        """The share of splits that cover less than asked for."""
        return float((self.coverage < 1 - ALPHA - 1e-12).mean())

    @property
    def falls_short(self) -> bool:
        """Mean coverage is less than promised by more than two standard errors."""
        return bool(self.coverage.mean() < 1 - ALPHA - 2 * self.standard_error)

    @property
    def coverage_text(self) -> str:
        return f"{self.coverage.mean():.4f} ± {self.standard_error:.4f}"

    @property
    def numbers(self) -> dict[str, Any]:
        """Means over the splits."""
        return {
            "coverage": float(self.coverage.mean()),
            "standard_error": self.standard_error,
            "below": self.below,
            "mean_size": float(self.mean_size.mean()),
            "trivial": self.trivial,
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Trials with n records, by series (a rule's name, a peer's, or NONPRIVATE), one for each ε."""

    n: int
    trials: dict[str, tuple[Trial, ...]]


def run(
    *,
    seed: int = 0,
    splits: int = 1000,
    progress: Progress | None = None,
    records: Labelled | None = None,
    ns: Sequence[int] = NS,
) -> tuple[Comparison, ...]:
    """For each n, splits that all series and every ε share."""
    records = records or Labelled.of(bundled_scores())
    splits, rng = check_n(splits), np.random.default_rng(seed)
    if max(ns) >= len(records):
        raise InputError(f"Calibrating on {max(ns)} of {len(records)} records leaves none to evaluate on.")
    found = []
    for done, n in enumerate(ns, start=1):
        found.append(Comparison(n, _trials(_Splits(records, n, splits, rng), n, rng)))
        if progress:
            progress(done, len(ns))
    return tuple(found)


def _trials(shuffled: "_Splits", n: int, rng: np.random.Generator) -> dict[str, tuple[Trial, ...]]:
    trials: dict[str, tuple[Trial, ...]] = {}
    for rule in RULES:
        plans = [plan(n, ALPHA, epsilon, method=rule) for epsilon in EPSILONS]
        trials[rule] = tuple(shuffled.by_rule(chosen, rng) for chosen in plans)
    for peer, delta in PEERS.items():
        drawn = [p_coqs(shuffled.calibration, ALPHA, zcdp_of(e), rng, delta=delta) for e in EPSILONS]
        trials[peer] = tuple(shuffled.trial(thresholds) for thresholds in drawn)
    exact = np.array([nonprivate_threshold(scores, ALPHA) for scores in shuffled.calibration])
    trials[NONPRIVATE] = (shuffled.trial(exact),) * len(EPSILONS)
    return trials


class _Splits:
    """The records in many random orders: the first n of each calibrate, the others evaluate."""

    def __init__(self, records: Labelled, n: int, splits: int, rng: np.random.Generator) -> None:
        orders = np.array([rng.permutation(len(records)) for _ in range(splits)])
        scores = conformity_scores(records.probabilities, records.labels)
        self.calibration = scores[orders[:, :n]]
        self._held_out, self._class_scores = scores[orders[:, n:]], 1 - records.probabilities
        self._others = orders[:, n:]

    def by_rule(self, chosen: Plan, rng: np.random.Generator) -> Trial:
        if chosen.is_trivial:
            return self.trial(np.ones(len(self._others)), trivial=True)
        m, mechanism = chosen.m, chosen.mechanism
        bins = [draw_simulation(mechanism, runs_of(scores, m), chosen.n, rng) for scores in self.calibration]
        return self.trial(np.array(bins) / m)

    def trial(self, thresholds: np.ndarray, trivial: bool = False) -> Trial:
        limits = limit(thresholds)[:, None]
        coverage = (self._held_out <= limits).mean(axis=1)
        sizes = np.zeros(len(thresholds))
        for column in self._class_scores.T:
            sizes += (column[self._others] <= limits).mean(axis=1)
        return Trial(coverage, sizes, trivial)


def findings(found: Sequence[Comparison]) -> Findings:
    """Three tables per n, and where P-COQS is smaller and where it falls short."""
    splits = len(found[0].trials[NONPRIVATE][0].coverage)
    return Findings(
        "Our rules, P-COQS and no privacy, at equal privacy",
        {"alpha": ALPHA, "n": [one.n for one in found], "splits": splits, "delta": PEERS},
        tuple(table for one in found for table in _tables(one)),
        (_privacy_sentence(), *(sentence for one in found for sentence in _sentences(one))),
        {f"n = {one.n}": _numbers(one) for one in found},
    )


def _tables(one: Comparison) -> list[Table]:
    cells: dict[str, Callable[[Trial], str | float]] = {
        "Mean coverage ± its standard error": lambda t: t.coverage_text,
        "Share of splits below 0.9": lambda t: f"{100 * t.below:.1f}%",
        "Mean set size": lambda t: round(float(t.mean_size.mean()), 3),
    }
    columns = ("ε", "ρ", *(_look(series).name for series in one.trials))
    by_epsilon = list(zip(EPSILONS, *one.trials.values(), strict=True))
    return [
        Table(
            f"{title}, n = {one.n:,}",
            columns,
            tuple((e, round(zcdp_of(e), 6), *(cell(trial) for trial in trials)) for e, *trials in by_epsilon),
        )
        for title, cell in cells.items()
    ]


def _privacy_sentence() -> str:
    rho = zcdp_of(EXAMPLE_EPSILON)
    return (
        f"Our rules keep pure ε, and so ρ-zCDP with ρ = ε²/8; P-COQS gets all of that ρ, but keeps no pure ε: "
        f"at ε = {EXAMPLE_EPSILON:g} its ρ = {rho:g} stands for ({epsilon_of(rho, EXAMPLE_DELTA):.2f}, "
        f"{EXAMPLE_DELTA:g})-differential privacy."
    )


def _sentences(one: Comparison) -> list[str]:
    return [*(_peer_sentence(one, peer) for peer in PEERS), _rules_sentence(one)]


def _peer_sentence(one: Comparison, peer: str) -> str:
    """A size is called smaller where the difference, split by split, is more than two standard errors."""
    trials, place = one.trials[peer], EPSILONS.index(EXAMPLE_EPSILON)
    parts = []
    for rule in RULES:
        pairs = list(zip(trials, one.trials[rule], strict=True))
        smaller = _where([_clearly_below(p.mean_size, r.mean_size) for p, r in pairs])
        sizes = " against ".join(f"{t.mean_size.mean():.3f}" for t in pairs[place])
        parts.append(f"than the {label_of(rule)} at {smaller} ({sizes} at ε = {EXAMPLE_EPSILON:g})")
    short = [trial.coverage_text for trial in trials if trial.falls_short]
    shares = sorted(trial.below for trial in trials)
    return (
        f"n = {one.n:,}: {peer} gives smaller sets {joined(parts)}; it covers less than asked for at "
        f"{_where([t.falls_short for t in trials])}{f' ({joined(short)})' if short else ''}, and from "
        f"{100 * shares[0]:.0f}% to {100 * shares[-1]:.0f}% of its splits are below {1 - ALPHA:g}."
    )


def _rules_sentence(one: Comparison) -> str:
    parts = []
    for rule in RULES:
        short, trivial = ([getattr(t, name) for t in one.trials[rule]] for name in ("falls_short", "trivial"))
        few = f" (too few records at {_where(trivial)})" if any(trivial) else ""
        parts.append(f"the {label_of(rule)} at {_where(short)}{few}")
    return f"n = {one.n:,}: less than asked for is covered by {joined(parts)}."


def _where(is_so: Sequence[bool]) -> str:
    values = [f"{epsilon:g}" for epsilon, so in zip(EPSILONS, is_so, strict=True) if so]
    if len(values) in (0, len(EPSILONS)):
        return "every ε" if values else "no ε"
    return f"ε = {joined(values)}"


def _clearly_below(first: np.ndarray, second: np.ndarray) -> bool:
    difference = first - second
    return bool(difference.mean() < -2 * standard_error(difference))


def _numbers(one: Comparison) -> dict[str, Any]:
    by_series: dict[str, Any] = {series: [t.numbers for t in trials] for series, trials in one.trials.items()}
    by_series[NONPRIVATE] = by_series[NONPRIVATE][0]
    return {"over": "epsilon", "values": EPSILONS, "rho": [zcdp_of(e) for e in EPSILONS], **by_series}


def figures(found: Sequence[Comparison]) -> dict[str, go.Figure]:
    """Coverage, splits below what is asked for, and set size along ε, for each n; hollow marks: too few records."""
    titles = {"coverage": "Mean coverage", "below": "Share of splits below 0.9", "mean_size": "Mean set size"}
    return {f"{title}, n = {one.n:,}": _figure(one, title, key) for one in found for key, title in titles.items()}


def _figure(one: Comparison, title: str, key: str) -> go.Figure:
    fig = figure("privacy loss ε (P-COQS: ρ = ε²/8)", title[0].lower() + title[1:])
    for series, trials in one.trials.items():
        values, hollow = [trial.numbers[key] for trial in trials], [trial.trivial for trial in trials]
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
