"""`audit`: the exact privacy loss of every rule and of the research code's scaling, and releases against their law."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from math import ceil

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.data.counts import as_records, count_records
from ppsets_core.experiments.findings import Findings, Table
from ppsets_core.explore.style import GREY, figure, look_of
from ppsets_core.method.bins import Runs
from ppsets_core.method.plan import plan
from ppsets_core.method.release import release, release_distribution
from ppsets_core.method.rules import RULES
from ppsets_core.method.rules.mechanism import Mechanism, log_weights
from ppsets_core.method.rules.paper import PaperQuantile, best_gamma, paper_level
from ppsets_core.progress import Progress

ALPHA = 0.1
SMALL_N, SMALL_M = 8, 4
LARGE = ((500, 1.0), (500, 0.5), (1000, 10.0))
CAPPED = (100, 1.0)  # too few records for this ε: the research code goes on at a level of 1 − 1e-12
RESEARCH = "research code's scaling"
RESEARCH_BINS, LARGEST_LEVEL = 10_000, 1 - 1e-12
LEVELS = (0.5, 0.75, 0.9, 0.95, 0.97, 0.99)
RELEASE_N, RELEASE_EPSILON = 1000, 1.0
LEAST_EXPECTED = 5.0


@dataclass(frozen=True)
class ResearchQuantile(PaperQuantile):
    """P(ŝ = e_j) ∝ exp(−ε·min(α,1−α)·w_j/2): the research code's α where the proof has the level q, nearer to 1.

    For audits only: it is not private at the ε it is given. See docs/method.md#the-papers-rule.
    """

    alpha: float = 0.1

    def log_weight(self, below: np.ndarray, upto: np.ndarray, n: int) -> np.ndarray:
        ranks_off = np.maximum(below / self.level, (n - upto) / (1 - self.level))
        return -self.epsilon / 2 * min(self.alpha, 1 - self.alpha) * ranks_off


@dataclass(frozen=True)
class Loss:
    """The largest loss found for one mechanism, a rule's or `RESEARCH`, over the data sets that `over` names."""

    rule: str
    n: int
    m: int
    level: float
    epsilon: float
    over: str
    loss: float

    @property
    def is_kept(self) -> bool:
        return self.loss <= self.epsilon * (1 + 1e-9)


@dataclass(frozen=True)
class Fit:
    """Releases drawn by OpenDP compared with the exact law of ŝ."""

    rule: str
    draws: int
    statistic: float
    degrees: int
    p_value: float


Audit = tuple[tuple[Loss, ...], tuple[Fit, ...]]


def run(*, seed: int = 0, draws: int = 2000, progress: Progress | None = None) -> Audit:
    """The losses are exact and always the same; a release takes no seed, so the chi-squares differ each time."""
    scores = np.random.default_rng(seed).permutation(bundled_scores().scores)[:RELEASE_N]
    cases: list[Callable[[], Loss | Fit]] = [*_small_cases(), *_large_cases()]
    cases += [partial(fit_of_releases, scores, method, draws) for method in RULES]
    found = []
    for done, case in enumerate(cases, start=1):
        found.append(case())
        if progress:
            progress(done, len(cases))
    losses = tuple(one for one in found if isinstance(one, Loss))
    return losses, tuple(one for one in found if isinstance(one, Fit))


def _small_cases() -> Iterator[Callable[[], Loss]]:
    """Every data set there is, at every rank and level from ½ up; the worst of them."""
    n, m = SMALL_N, SMALL_M
    aims = [(rank / n, rank) for rank in range(ceil(n / 2), n + 1)] + [(level, ceil(level * n)) for level in LEVELS]
    mechanisms: dict[str, list[Mechanism | None]] = {
        name: [rule.mechanism(level, rank, 1.0) for level, rank in aims] for name, rule in RULES.items()
    }
    mechanisms[RESEARCH] = [ResearchQuantile(level, 1.0, ALPHA) for level in LEVELS if level >= 1 - ALPHA]

    def worst(name: str) -> Loss:
        found = [one for one in mechanisms[name] if one is not None]
        loss, level = max((loss_of_all(one, n, m), one.target(n) / n) for one in found)
        return Loss(name, n, m, level, 1.0, "every data set", loss)

    return (partial(worst, name) for name in mechanisms)


def _large_cases() -> Iterator[Callable[[], Loss]]:
    """As calibrations are planned, over data sets of at most three different scores; a trivial plan draws nothing."""
    for n, epsilon in LARGE:
        for method in RULES:
            chosen = plan(n, ALPHA, epsilon, method=method)
            if not chosen.is_trivial:
                yield partial(_three, method, chosen.mechanism, n, chosen.m)
        yield partial(_three, RESEARCH, *research_code(n, epsilon))
    yield partial(_three, RESEARCH, *research_code(*CAPPED))


def research_code(n: int, epsilon: float) -> tuple[ResearchQuantile, int, int]:
    """The research code's mechanism, with its level capped below 1 where there are too few records; n and m."""
    level = paper_level(n, ALPHA, epsilon, RESEARCH_BINS, best_gamma(n, ALPHA, epsilon))
    return ResearchQuantile(min(level, LARGEST_LEVEL), epsilon, ALPHA), n, RESEARCH_BINS


def _three(rule: str, mechanism: Mechanism, n: int, m: int) -> Loss:
    loss = loss_at_three_scores(mechanism, n, m)
    return Loss(rule, n, m, mechanism.target(n) / n, mechanism.epsilon, "at most three scores", loss)


def loss_of_all(mechanism: Mechanism, n: int, m: int) -> float:
    """Over every data set of n records in m bins and every replacement of one record; for small n and m."""
    return _largest_loss(mechanism, n, tuple(range(1, m + 1)), m)


def loss_at_three_scores(mechanism: Mechanism, n: int, m: int) -> float:
    """Over every data set whose n records take at most three scores, at both ends and the middle of [0, 1] or next to
    an end, and every replacement among them: a few million pairs that come close to the worst of all."""
    places = {(1, m // 2, m), (1, 2, m), (1, m - 1, m)}
    return max(_largest_loss(mechanism, n, three, m) for three in places)


def _largest_loss(mechanism: Mechanism, n: int, places: tuple[int, ...], m: int) -> float:
    """Records may lie in the bins `places`, which begin with bin 1."""
    counts = _all_counts(n, len(places))
    logs = _log_laws(mechanism, counts, np.array(places), n, m)
    digits = (n + 1) ** np.arange(len(places))[::-1]
    keys = counts @ digits
    loss = 0.0
    for a, b in permutations(range(len(places)), 2):
        movable = np.flatnonzero(counts[:, a])
        neighbours = np.searchsorted(keys, keys[movable] - digits[a] + digits[b])
        loss = max(loss, float(np.abs(logs[movable] - logs[neighbours]).max()))
    return loss


def _all_counts(n: int, places: int) -> np.ndarray:
    """Every way to put n records at so many places, in lexicographic order."""
    bars = np.array(list(combinations(range(n + places - 1), places - 1)))
    return np.diff(bars, axis=1, prepend=-1, append=n + places - 1) - 1


def _log_laws(mechanism: Mechanism, counts: np.ndarray, places: np.ndarray, n: int, m: int) -> np.ndarray:
    """log P(ŝ = e_j), one row per data set; one column per place, and one for the alike bins between it and the next.

    Logarithms throughout, as a mechanism that is not private may make a bin all but impossible.
    """
    between = np.append(places[1:], m + 1) - places - 1
    kept = np.flatnonzero(between)
    bins = np.append(np.ones(len(places), dtype=int), between[kept])
    upto = np.cumsum(counts, axis=1)
    below = np.hstack([upto - counts, upto[:, kept]])
    edges = np.broadcast_to(np.append(places, places[kept] + 1), below.shape)
    weights = log_weights(mechanism, Runs(edges, edges, below, np.hstack([upto, upto[:, kept]]), m), n)
    return weights - np.log(np.exp(weights) @ bins)[:, None]


def fit_of_releases(scores: np.ndarray, method: str, draws: int) -> Fit:
    """Draw real releases, on public scores, and compare them with the law that they should follow."""
    chosen = plan(len(scores), ALPHA, RELEASE_EPSILON, method=method)
    law, counts = release_distribution(scores, chosen), count_records(as_records(scores), chosen)
    drawn = [release(counts).threshold for _ in range(draws)]
    observed = np.bincount(np.searchsorted(law.upper, drawn), minlength=len(law.upper))
    return Fit(method, draws, *chi_square(observed, law.probability))


def chi_square(observed: np.ndarray, probability: np.ndarray) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value; neighbours are pooled until each pool expects five draws."""
    from scipy.special import chdtrc

    expected = probability * observed.sum()
    pool, pools, filled = np.empty(len(expected), dtype=int), 0, 0.0
    for place, value in enumerate(expected):
        pool[place] = pools
        filled += value
        if filled >= LEAST_EXPECTED:
            pools, filled = pools + 1, 0.0
    pool = np.minimum(pool, max(pools - 1, 0))
    o, e = np.bincount(pool, weights=observed), np.bincount(pool, weights=expected)
    statistic, degrees = float(((o - e) ** 2 / e).sum()), len(e) - 1
    return statistic, degrees, float(chdtrc(degrees, statistic))


def findings(audit: Audit) -> Findings:
    losses, found = audit
    rules = [loss for loss in losses if loss.rule != RESEARCH]
    research = [loss for loss in losses if loss.rule == RESEARCH]
    fits = tuple(
        (look_of(fit.rule).name, fit.draws, round(fit.statistic, 1), fit.degrees, round(fit.p_value, 3))
        for fit in found
    )
    law = f"Releases against their exact law (CoronaHack scores, n = {RELEASE_N:,}, ε = {RELEASE_EPSILON:g})"
    return Findings(
        "Privacy audit",
        {"alpha": ALPHA},
        (
            Table("Exact privacy loss over all replacements of one record", _COLUMNS, tuple(map(_row, losses))),
            Table(law, ("rule", "releases", "chi-square", "degrees of freedom", "p-value"), fits),
        ),
        (
            f"The rules keep their ε in {sum(loss.is_kept for loss in rules)} of {len(rules)} cases; the {RESEARCH} "
            f"exceeds it in {sum(not loss.is_kept for loss in research)} of {len(research)}.",
        ),
        {"losses": [vars(loss) for loss in losses], "fits": [vars(fit) for fit in found]},
    )


_COLUMNS = ("mechanism", "n", "m", "level", "data sets", "ε", "loss", "kept")


def _row(one: Loss) -> tuple[str | float, ...]:
    level = "1 − 1e-12" if 0.9999 < one.level < 1 else f"{one.level:.4f}"
    loss = f"{one.loss:.3f}" if one.loss < 1e4 else f"{one.loss:.1e}"
    return (look_of(one.rule).name, one.n, one.m, level, one.over, one.epsilon, loss, "yes" if one.is_kept else "NO")


def figures(audit: Audit) -> dict[str, go.Figure]:
    """The loss found beside the ε that was promised, on a logarithmic axis."""
    fig = figure("privacy loss / ε promised", "", height=420)
    for rule in dict.fromkeys(loss.rule for loss in audit[0]):
        look, losses = look_of(rule), [loss for loss in audit[0] if loss.rule == rule]
        x = [loss.loss / loss.epsilon for loss in losses]
        y = [f"n = {loss.n:,}, ε = {loss.epsilon:g}" for loss in losses]
        marker = {"symbol": look.symbol, "size": 12, "color": look.colour}
        fig.add_scatter(x=x, y=y, mode="markers", name=look.name, marker=marker)
    fig.add_vline(x=1, line={"color": GREY, "dash": "dash"})
    fig.update_xaxes(type="log", dtick=1)
    return {"Exact privacy loss: right of the line, more is lost than promised": fig}
