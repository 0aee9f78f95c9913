"""`audit`: the exact privacy loss of every rule and of the research code's scaling, and releases against their law."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.experiments.findings import Findings, Table
from ppsets_core.experiments.goodness_of_fit import chi_square
from ppsets_core.experiments.privacy_loss import ResearchQuantile, loss_at_three_scores, loss_of_all
from ppsets_core.explore.figures.style import GREY, figure, look_of
from ppsets_core.explore.sweeps import Progress
from ppsets_core.method.plan import plan
from ppsets_core.method.release import as_records, release, release_distribution
from ppsets_core.method.rules import RULES
from ppsets_core.method.rules.mechanism import Mechanism
from ppsets_core.method.rules.paper import best_gamma, paper_level

ALPHA = 0.1
SMALL_N, SMALL_M = 8, 4
LARGE = ((500, 1.0), (500, 0.5), (1000, 10.0))
CAPPED = (100, 1.0)  # too few records for this ε: the research code goes on at a level of 1 − 1e-12
RESEARCH = "research code's scaling"
RESEARCH_BINS, LARGEST_LEVEL = 10_000, 1 - 1e-12
LEVELS = (0.5, 0.75, 0.9, 0.95, 0.97, 0.99)
RELEASE_N, RELEASE_EPSILON = 1000, 1.0


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


@dataclass(frozen=True)
class Audit:
    losses: tuple[Loss, ...]
    fits: tuple[Fit, ...]


def run(*, seed: int = 0, draws: int = 2000, progress: Progress | None = None) -> Audit:
    """The losses are exact and always the same; a release takes no seed, so the chi-squares differ each time."""
    losses, fits = [], []
    cases = [*_small_cases(), *_large_cases()]
    for done, case in enumerate(cases, start=1):
        losses.append(case())
        if progress:
            progress(done, len(cases) + len(RULES))
    scores = np.random.default_rng(seed).permutation(bundled_scores().scores)
    for done, method in enumerate(RULES, start=len(cases) + 1):
        fits.append(fit_of_releases(scores[:RELEASE_N], method, draws))
        if progress:
            progress(done, len(cases) + len(RULES))
    return Audit(tuple(losses), tuple(fits))


def _small_cases() -> Iterator[Callable[[], Loss]]:
    """Every data set there is, at every rank and level from ½ up; the worst of them."""
    ranks = range(ceil(SMALL_N / 2), SMALL_N + 1)
    aims = [(rank / SMALL_N, rank) for rank in ranks] + [(level, ceil(level * SMALL_N)) for level in LEVELS]
    for name, rule in RULES.items():
        found = (rule.mechanism(level, rank, 1.0) for level, rank in aims)
        yield partial(_worst, name, [mechanism for mechanism in found if mechanism is not None])
    yield partial(_worst, RESEARCH, [ResearchQuantile(level, 1.0, ALPHA) for level in LEVELS if level >= 1 - ALPHA])


def _worst(rule: str, mechanisms: list[Mechanism]) -> Loss:
    n, m = SMALL_N, SMALL_M
    loss, level = max((loss_of_all(mechanism, n, m), mechanism.target(n) / n) for mechanism in mechanisms)
    return Loss(rule, n, m, level, 1.0, "every data set", loss)


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


def fit_of_releases(scores: np.ndarray, method: str, draws: int) -> Fit:
    """Draw real releases, on public scores, and compare them with the law that they should follow."""
    chosen = plan(len(scores), ALPHA, RELEASE_EPSILON, method=method)
    law, records = release_distribution(scores, chosen), as_records(scores)
    drawn = [release(records, chosen).threshold for _ in range(draws)]
    observed = np.bincount(np.searchsorted(law.upper, drawn), minlength=len(law.upper))
    return Fit(method, draws, *chi_square(observed, law.probability))


def findings(audit: Audit) -> Findings:
    losses = tuple(
        (
            look_of(loss.rule).name,
            loss.n,
            loss.m,
            "1 − 1e-12" if 0.9999 < loss.level < 1 else f"{loss.level:.4f}",
            loss.over,
            loss.epsilon,
            f"{loss.loss:.3f}" if loss.loss < 1e4 else f"{loss.loss:.1e}",
            "yes" if loss.is_kept else "NO",
        )
        for loss in audit.losses
    )
    fits = tuple(
        (look_of(fit.rule).name, fit.draws, round(fit.statistic, 1), fit.degrees, round(fit.p_value, 3))
        for fit in audit.fits
    )
    rules = [loss for loss in audit.losses if loss.rule != RESEARCH]
    research = [loss for loss in audit.losses if loss.rule == RESEARCH]
    return Findings(
        "Privacy audit",
        {"alpha": ALPHA},
        (
            Table("Exact privacy loss over all replacements of one record", _LOSS_COLUMNS, losses),
            Table(
                f"Releases against their exact law (CoronaHack scores, n = {RELEASE_N:,}, ε = {RELEASE_EPSILON:g})",
                ("rule", "releases", "chi-square", "degrees of freedom", "p-value"),
                fits,
            ),
        ),
        (
            f"The rules keep their ε in {sum(loss.is_kept for loss in rules)} of {len(rules)} cases; the {RESEARCH} "
            f"exceeds it in {sum(not loss.is_kept for loss in research)} of {len(research)}.",
        ),
        {"losses": [vars(loss) for loss in audit.losses], "fits": [vars(fit) for fit in audit.fits]},
    )


_LOSS_COLUMNS = ("mechanism", "n", "m", "level", "data sets", "ε", "loss", "kept")


def figures(audit: Audit) -> dict[str, go.Figure]:
    """The loss found beside the ε that was promised, on a logarithmic axis."""
    drawn = figure("privacy loss / ε promised", "", height=420)
    for rule in dict.fromkeys(loss.rule for loss in audit.losses):
        look, losses = look_of(rule), [loss for loss in audit.losses if loss.rule == rule]
        drawn.add_scatter(
            x=[loss.loss / loss.epsilon for loss in losses],
            y=[f"n = {loss.n:,}, ε = {loss.epsilon:g}" for loss in losses],
            mode="markers",
            name=look.name,
            marker={"symbol": look.symbol, "size": 12, "color": look.colour},
        )
    drawn.add_vline(x=1, line={"color": GREY, "dash": "dash"})
    drawn.update_xaxes(type="log", dtick=1)
    return {"Exact privacy loss: right of the line, more is lost than promised": drawn}
