"""`audit`: the exact privacy loss of both rules and of the research code's scaling, and releases against their law."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.experiments.findings import Findings, Table
from ppsets_core.experiments.goodness_of_fit import chi_square
from ppsets_core.experiments.privacy_loss import loss_at_three_scores, loss_of_all
from ppsets_core.experiments.research_code import LARGEST_LEVEL, ResearchQuantile
from ppsets_core.levels import best_gamma, paper_level
from ppsets_core.mechanism import Mechanism, PaperQuantile, SharpQuantile
from ppsets_core.planning import plan
from ppsets_core.private_quantile import calibrate_as_planned, release_distribution
from ppsets_core.records.bundled import bundled_scores
from ppsets_core.sets import conformity_scores
from ppsets_core.tradeoffs.sweeps import Progress
from ppsets_core.validation import METHODS

ALPHA = 0.1
SMALL_N, SMALL_M = 8, 4
LARGE = ((500, 1.0), (500, 0.5), (1000, 10.0))
CAPPED = (100, 1.0)  # too few records for this ε: the research code goes on at a level of 1 − 1e-12
RESEARCH_BINS = 10_000
LEVELS = (0.5, 0.75, 0.9, 0.95, 0.97, 0.99)
RELEASE_N, RELEASE_EPSILON = 1000, 1.0
RULES = {"paper": "paper's rule", "sharp": "sharp rule", "research": "research code's scaling"}


@dataclass(frozen=True)
class Loss:
    """The largest loss found for one mechanism, over the data sets that `over` names."""

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
            progress(done, len(cases) + len(METHODS))
    records = bundled_scores()
    scores = np.random.default_rng(seed).permutation(conformity_scores(records.probabilities, records.labels))
    for done, method in enumerate(METHODS, start=len(cases) + 1):
        fits.append(fit_of_releases(scores[:RELEASE_N], method, draws))
        if progress:
            progress(done, len(cases) + len(METHODS))
    return Audit(tuple(losses), tuple(fits))


def _small_cases():
    """Every data set there is, at every rank or at levels from ½ up; the worst of them."""
    sharp = [SharpQuantile(rank, 1.0) for rank in range(1, SMALL_N + 1)]
    paper = [PaperQuantile(level, 1.0) for level in LEVELS]
    research = [ResearchQuantile(level, 1.0, ALPHA) for level in LEVELS if level >= 1 - ALPHA]
    for rule, mechanisms in (("paper", paper), ("sharp", sharp), ("research", research)):
        yield lambda rule=rule, mechanisms=mechanisms: _worst(rule, mechanisms)


def _worst(rule: str, mechanisms: list[Mechanism]) -> Loss:
    n, m = SMALL_N, SMALL_M
    loss, level = max((loss_of_all(mechanism, n, m), mechanism.target(n) / n) for mechanism in mechanisms)
    return Loss(rule, n, m, level, 1.0, "every data set", loss)


def _large_cases():
    """As calibrations are planned, over data sets of at most three different scores."""
    for n, epsilon in LARGE:
        for method in METHODS:
            chosen = plan(n, ALPHA, epsilon, method=method)
            yield lambda chosen=chosen: _three(chosen.method, chosen.mechanism, chosen.n, chosen.m, chosen.epsilon)
        yield lambda n=n, epsilon=epsilon: _three("research", *research_code(n, epsilon), epsilon)
    yield lambda: _three("research", *research_code(*CAPPED), CAPPED[1])


def research_code(n: int, epsilon: float) -> tuple[ResearchQuantile, int, int]:
    """The research code's mechanism, with its level capped below 1 where there are too few records."""
    level = paper_level(n, ALPHA, epsilon, RESEARCH_BINS, best_gamma(n, ALPHA, epsilon))
    return ResearchQuantile(min(level, LARGEST_LEVEL), epsilon, ALPHA), n, RESEARCH_BINS


def _three(rule: str, mechanism: Mechanism, n: int, m: int, epsilon: float) -> Loss:
    loss = loss_at_three_scores(mechanism, n, m)
    return Loss(rule, n, m, mechanism.target(n) / n, epsilon, "at most three scores", loss)


def fit_of_releases(scores: np.ndarray, method: str, draws: int) -> Fit:
    """Draw real releases, on public scores, and compare them with the law that they should follow."""
    chosen = plan(len(scores), ALPHA, RELEASE_EPSILON, method=method)
    law = release_distribution(scores, chosen)
    drawn = [calibrate_as_planned(scores, chosen).threshold for _ in range(draws)]
    observed = np.bincount(np.searchsorted(law.upper, drawn), minlength=len(law.upper))
    return Fit(method, draws, *chi_square(observed, law.probability))


def findings(audit: Audit) -> Findings:
    losses = tuple(
        (
            RULES[loss.rule],
            loss.n,
            loss.m,
            f"{loss.level:.4f}" if loss.level < 0.9999 else "1 − 1e-12",
            loss.over,
            loss.epsilon,
            f"{loss.loss:.3f}" if loss.loss < 1e4 else f"{loss.loss:.1e}",
            "yes" if loss.is_kept else "NO",
        )
        for loss in audit.losses
    )
    fits = tuple((RULES[f.rule], f.draws, round(f.statistic, 1), f.degrees, round(f.p_value, 3)) for f in audit.fits)
    ours = [loss for loss in audit.losses if loss.rule != "research"]
    broken = [loss for loss in audit.losses if loss.rule == "research" and not loss.is_kept]
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
            f"Both rules keep their ε in {sum(loss.is_kept for loss in ours)} of {len(ours)} cases; the research "
            f"code's scaling exceeds it in {len(broken)} of {len(audit.losses) - len(ours)}.",
        ),
        {"losses": [vars(loss) for loss in audit.losses], "fits": [vars(fit) for fit in audit.fits]},
    )


_LOSS_COLUMNS = ("mechanism", "n", "m", "level", "data sets", "ε", "loss", "kept")
