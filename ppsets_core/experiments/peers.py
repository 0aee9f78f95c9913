"""`peers`: every rule of ours, P-COQS and the non-private threshold, on the same splits at equal privacy.

Every rule draws by an exponential mechanism of bounded range ε: pure ε-differential privacy, and with it ε²/8-zCDP
(docs/method.md#the-exponential-mechanism). P-COQS is stated in zCDP and gets all of ρ = ε²/8. That favours it: it has
no pure ε at all, and our rules need less than ε²/8 where ε is large or, as the paper's rule, use half of their range.

Splits are a bag of records in random order, hence exchangeable: the promise of coverage holds for their average.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.errors import InputError
from ppsets_core.experiments.findings import Findings, Table, joined
from ppsets_core.experiments.p_coqs import DELTA, epsilon_of, p_coqs, steps_for, zcdp_of
from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.explore.figures.style import GREEN, SKY, Look, figure, look_of
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.sweeps import Progress, part_of
from ppsets_core.method.bins import runs_of
from ppsets_core.method.draw import draw_simulation
from ppsets_core.method.nonprivate import nonprivate_threshold
from ppsets_core.method.plan import Plan, plan
from ppsets_core.method.rules import RULES
from ppsets_core.method.sets import conformity_scores
from ppsets_core.validation import check_n

ALPHA = 0.1
NS = (1000, 100)
EPSILONS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
FEWER = 1e-3
PEERS = {"P-COQS": DELTA, f"P-COQS in {steps_for(FEWER)} steps": FEWER}
"""As its authors run it; and ending its search earlier, which leaves more of ρ to each step."""
EXAMPLE_EPSILON, EXAMPLE_DELTA = 1.0, 1e-5
_COVERAGE, _BELOW, _SIZE = "Mean coverage", "Share of splits below 0.9", "Mean set size"


@dataclass(frozen=True, eq=False)
class Trial:
    """One threshold per split, and how it did on the records left over; `trivial`: too few records to promise more."""

    threshold: np.ndarray
    coverage: np.ndarray
    mean_size: np.ndarray
    trivial: bool = False

    @property
    def standard_error(self) -> float:
        """Of the mean coverage."""
        return _error(self.coverage)

    @property
    def below(self) -> float:
        """The share of splits that cover less than asked for."""
        return float((self.coverage < 1 - ALPHA - 1e-12).mean())

    @property
    def falls_short(self) -> bool:
        """Mean coverage is less than promised by more than two standard errors."""
        return bool(self.coverage.mean() < 1 - ALPHA - 2 * self.standard_error)


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
    for place, n in enumerate(ns):
        shuffled = _Splits(records, n, splits, rng)
        found.append(Comparison(n, _trials(shuffled, n, rng, part_of(progress, place, len(ns)))))
    return tuple(found)


def _trials(
    shuffled: "_Splits", n: int, rng: np.random.Generator, progress: Progress | None
) -> dict[str, tuple[Trial, ...]]:
    trials: dict[str, tuple[Trial, ...]] = {}
    for place, rule in enumerate(RULES):
        plans = [plan(n, ALPHA, epsilon, method=rule) for epsilon in EPSILONS]
        trials[rule] = tuple(shuffled.by_rule(chosen, rng) for chosen in plans)
        if progress:
            progress(place + 1, len(RULES) + 1)
    for peer, delta in PEERS.items():
        drawn = [p_coqs(shuffled.calibration, ALPHA, zcdp_of(e), rng, delta=delta) for e in EPSILONS]
        trials[peer] = tuple(shuffled.trial(thresholds) for thresholds in drawn)
    exact = np.array([nonprivate_threshold(scores, ALPHA) for scores in shuffled.calibration])
    trials[NONPRIVATE] = (shuffled.trial(exact),) * len(EPSILONS)
    if progress:
        progress(len(RULES) + 1, len(RULES) + 1)
    return trials


class _Splits:
    """The records in many random orders: the first n of each calibrate, the others evaluate."""

    def __init__(self, records: Labelled, n: int, splits: int, rng: np.random.Generator) -> None:
        orders = np.array([rng.permutation(len(records)) for _ in range(splits)])
        scores = conformity_scores(records.probabilities, records.labels)
        self.calibration = scores[orders[:, :n]]
        self._held_out, self._class_scores = scores[orders[:, n:]], 1 - records.probabilities
        self._orders, self._n = orders, n

    def by_rule(self, chosen: Plan, rng: np.random.Generator) -> Trial:
        if chosen.is_trivial:
            return self.trial(np.ones(len(self._orders)), trivial=True)
        m, mechanism = chosen.m, chosen.mechanism
        bins = [draw_simulation(mechanism, runs_of(scores, m), chosen.n, rng) for scores in self.calibration]
        return self.trial(np.array(bins) / m)

    def trial(self, thresholds: np.ndarray, trivial: bool = False) -> Trial:
        coverage = (self._held_out <= thresholds[:, None]).mean(axis=1)
        sizes = np.zeros(len(thresholds))
        for column in self._class_scores.T:
            sizes += (column[self._orders[:, self._n :]] <= thresholds[:, None]).mean(axis=1)
        return Trial(thresholds, coverage, sizes, trivial)


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
        f"{_COVERAGE} ± its standard error": lambda t: f"{t.coverage.mean():.4f} ± {t.standard_error:.4f}",
        _BELOW: lambda t: f"{100 * t.below:.1f}%",
        _SIZE: lambda t: round(float(t.mean_size.mean()), 3),
    }
    columns = ("ε", "ρ", *(_label(series) for series in one.trials))
    return [
        Table(f"{title}, n = {one.n:,}", columns, tuple(_row(one, place, cell) for place in range(len(EPSILONS))))
        for title, cell in cells.items()
    ]


def _row(one: Comparison, place: int, cell: Callable[[Trial], str | float]) -> tuple[str | float, ...]:
    epsilon = EPSILONS[place]
    return (epsilon, round(zcdp_of(epsilon), 6), *(cell(trials[place]) for trials in one.trials.values()))


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
        parts.append(f"than the {_label(rule)} at {smaller} ({sizes} at ε = {EXAMPLE_EPSILON:g})")
    short = [f"{t.coverage.mean():.4f} ± {t.standard_error:.4f}" for t in trials if t.falls_short]
    shares = [f"{100 * trial.below:.0f}%" for trial in (min(trials, key=_below), max(trials, key=_below))]
    return (
        f"n = {one.n:,}: {peer} gives smaller sets {joined(parts)}; it covers less than asked for at "
        f"{_where([t.falls_short for t in trials])}{f' ({joined(short)})' if short else ''}, and from {shares[0]} to "
        f"{shares[1]} of its splits are below {1 - ALPHA:g}."
    )


def _below(trial: Trial) -> float:
    return trial.below


def _rules_sentence(one: Comparison) -> str:
    parts = []
    for rule in RULES:
        short, trivial = ([getattr(t, name) for t in one.trials[rule]] for name in ("falls_short", "trivial"))
        few = f" (too few records at {_where(trivial)})" if any(trivial) else ""
        parts.append(f"the {_label(rule)} at {_where(short)}{few}")
    return f"n = {one.n:,}: less than asked for is covered by {joined(parts)}."


def _where(is_so: Sequence[bool]) -> str:
    values = [f"{epsilon:g}" for epsilon, so in zip(EPSILONS, is_so, strict=True) if so]
    if len(values) in (0, len(EPSILONS)):
        return "every ε" if values else "no ε"
    return f"ε = {joined(values)}"


def _clearly_below(first: np.ndarray, second: np.ndarray) -> bool:
    difference = first - second
    return bool(difference.mean() < -2 * _error(difference))


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _label(series: str) -> str:
    return series if series in PEERS else label_of(series)


def _numbers(one: Comparison) -> dict[str, Any]:
    numbers: dict[str, Any] = {"over": "epsilon", "values": EPSILONS, "rho": [zcdp_of(e) for e in EPSILONS]}
    for series, trials in one.trials.items():
        kept = [_trial_numbers(trial) for trial in trials]
        numbers[series] = kept[0] if series == NONPRIVATE else kept
    return numbers


def _trial_numbers(trial: Trial) -> dict[str, Any]:
    """Means over the splits."""
    return {
        "coverage": float(trial.coverage.mean()),
        "standard_error": trial.standard_error,
        "below": trial.below,
        "mean_size": float(trial.mean_size.mean()),
        "trivial": trial.trivial,
    }


def figures(found: Sequence[Comparison]) -> dict[str, go.Figure]:
    """Coverage, splits below what is asked for, and set size along ε, for each n; hollow marks: too few records."""
    values: dict[str, Callable[[Trial], float]] = {
        _COVERAGE: lambda t: float(t.coverage.mean()),
        _BELOW: _below,
        _SIZE: lambda t: float(t.mean_size.mean()),
    }
    return {f"{title}, n = {one.n:,}": _figure(one, title, value) for one in found for title, value in values.items()}


def _figure(one: Comparison, title: str, value: Callable[[Trial], float]) -> go.Figure:
    drawn = figure("privacy loss ε (P-COQS: ρ = ε²/8)", title[0].lower() + title[1:])
    for series, trials in one.trials.items():
        look = _look(series)
        drawn.add_scatter(
            x=EPSILONS,
            y=[value(trial) for trial in trials],
            mode="lines+markers",
            name=look.name,
            line={"color": look.colour, "dash": look.dash},
            marker={"symbol": [f"{look.symbol}-open" if t.trivial else look.symbol for t in trials], "size": 8},
        )
    if title == _COVERAGE:
        ends = [min(EPSILONS), max(EPSILONS)]
        line = {"color": GREEN, "dash": "longdash", "width": 2}
        drawn.add_scatter(x=ends, y=[1 - ALPHA] * 2, mode="lines", name="asked for", line=line)
    if title == _BELOW:
        drawn.update_yaxes(tickformat=".0%", rangemode="tozero")
    drawn.update_xaxes(type="log", tickvals=EPSILONS, ticktext=[f"{epsilon:g}" for epsilon in EPSILONS])
    return drawn


def _look(series: str) -> Look:
    """The second peer looks unlike the first, to which `look_of` gives the next free look."""
    return Look(series, SKY, "longdashdot", "star", "-") if series == list(PEERS)[1] else look_of(series)
