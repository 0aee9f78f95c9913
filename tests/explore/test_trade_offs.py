"""The trade-offs: their numbers against those of the method, and their figures by what they draw."""

from dataclasses import replace

import numpy as np
import pytest

from ppsets_core import (
    InputError,
    Setting,
    nonprivate_threshold,
    plan,
    prediction_sets,
    random_splits,
    release_distribution,
    simulate,
    smallest_n,
)
from ppsets_core.data.bundled import bundled_scores
from ppsets_core.data.records import chosen
from ppsets_core.explore import NONPRIVATE, sweeps
from ppsets_core.explore.expected_sets import (
    ALPHAS,
    EPSILONS,
    bundled_map,
    chances_in_set,
    expected_sets,
    nonprivate_sets,
    tradeoff_figure,
    tradeoff_map,
)
from ppsets_core.explore.labelled import TOP_1, TOP_5, Labelled, simulated_imagenet, simulated_records
from ppsets_core.explore.level_curves import (
    level_curves,
    level_figure,
    records_needed,
    records_needed_figure,
    release_figure,
    release_view,
)
from ppsets_core.explore.what_if import GRIDS, Choice, outlook, outlook_figure
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules import RULES
from ppsets_core.scores import class_score

RECORDS = simulated_records(3000, 3, 1.5, np.random.default_rng(3))
FEW = simulated_records(900, 3, 1.5, np.random.default_rng(1))
SCORES = np.random.default_rng(0).beta(1, 3, 500)
N = 300


def rng(seed=2):
    return np.random.default_rng(seed)


def traces(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


@pytest.mark.parametrize(
    ("simulated", "top_1", "top_5"),
    [
        (lambda: simulated_records(40_000, 3, 1.5, rng(0)), None, 1.0),
        (lambda: simulated_imagenet(6000, rng(0)), TOP_1, TOP_5),  # as accurate as ResNet-152
    ],
)
def test_simulated_probabilities_are_calibrated(simulated, top_1, top_5):
    records = simulated()
    sure, right = records.probabilities.max(axis=1), records.probabilities.argmax(axis=1) == records.labels
    assert sure.mean() == pytest.approx(right.mean(), abs=0.015)
    for low in (0.4, 0.6, 0.8):
        here = (sure > low) & (sure <= low + 0.1)
        assert right[here].mean() == pytest.approx(sure[here].mean(), abs=0.02 + 4 * 0.5 / np.sqrt(here.sum()))
    assert records.top_accuracy() == pytest.approx(right.mean() if top_1 is None else top_1, abs=0.015)
    assert records.top_accuracy(5) == pytest.approx(top_5, abs=0.01)


@pytest.mark.parametrize(("method", "per"), [*((rule, None) for rule in RULES), ("sharp", DIAGNOSIS)])
def test_expected_sets_agree_with_random_splits(method, per):
    chosen = plan(N, 0.1, 2.0, method=method, per=per, classes=3 if per else None)
    setting = Setting(0.1, 2.0, method, per=per)
    (split,) = random_splits(RECORDS.probabilities, RECORDS.labels, N, [setting], 400, rng(1))
    pairs = {
        "private": (expected_sets(RECORDS, chosen, rng(0)), split.private),
        "non-private": (nonprivate_sets(RECORDS, N, 0.1, rng(0), each=per is not None), split.nonprivate),
    }
    for name, (ours, theirs) in pairs.items():
        error = 4 * theirs.mean_size.std() / np.sqrt(400) + 2 * ours.margin
        assert ours.mean_size == pytest.approx(theirs.mean_size.mean(), abs=error), name
        assert ours.coverage == pytest.approx(theirs.coverage.mean(), abs=0.01), name
        assert ours.coverage_by_class == pytest.approx(np.nanmean(theirs.coverage_by_class, axis=0), abs=0.02), name


@pytest.mark.parametrize(("method", "score", "alpha"), [*((rule, "lac", 0.1) for rule in RULES), ("sharp", "aps", 0.3)])
def test_chances_in_a_set_are_those_of_many_simulated_releases(method, score, alpha):
    records, planned = bundled_scores(), plan(300, alpha, 1.0, method=method)
    by = class_score(score)
    records = replace(records, scores=by.of_labels(records.probabilities, records.labels), score=by)
    doubtful = np.array([[p, 0.95 - p, 0.05] for p in np.linspace(0.55, 0.95, 9)])
    exact = chances_in_set(Labelled.of(records, by), planned, doubtful, rng(), repetitions=500)
    draws, inside = rng(3), np.zeros(doubtful.shape)
    for _ in range(1000):
        drawn = simulate(chosen(records, draws.integers(len(records), size=300)), planned, draws)
        inside += prediction_sets(doubtful, drawn) / 1000
    assert exact == pytest.approx(inside, abs=0.07)
    assert ((exact > 0.1) & (exact < 0.9)).any()
    assert chances_in_set(Labelled.of(records), plan(5, 0.1, 0.1), doubtful, rng()).all()


@pytest.mark.parametrize(
    ("over", "here", "per"),
    [("epsilon", 0.7, None), ("epsilon", 0.7, DIAGNOSIS), ("alpha", 0.15, None), ("n", 300, None)],
)
def test_an_outlook_has_every_rule_at_the_choice_and_marks_it(over, here, per):
    ahead = outlook(Labelled.of(bundled_scores()), Choice(300, 0.1, 0.7, per), over, (*GRIDS[over][:2], here))
    rules = ["sharp"] if per else list(RULES)
    assert list(ahead.points[here]) == [*rules, NONPRIVATE]
    sizes = [ahead.points[here][series].mean_size for series in (NONPRIVATE, *rules)]
    assert sizes == sorted(sizes)
    fig = outlook_figure(ahead, "mean_size", here, alpha=0.1)
    marks = [(trace.x[0], trace.y[0]) for trace in fig.data if trace.mode == "markers"]
    assert marks == [(here, ahead.points[here][rule].mean_size) for rule in rules]
    assert [trace.name for trace in outlook_figure(ahead, "coverage", here, alpha=0.1).data][-1] == "asked for"


def test_sizes_grow_with_privacy_up_to_every_class():
    sizes = [expected_sets(RECORDS, plan(N, 0.1, epsilon), rng(0)).mean_size for epsilon in (20.0, 1.0, 0.1, 1e-6)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 3


def test_a_diagnosis_without_records_is_planned_for_too():
    few = simulated_records(200, 4, 2.0, rng(5))
    kept = few.labels != 3
    records = type(few)(few.probabilities[kept], few.labels[kept])
    found = expected_sets(records, plan(100, 0.1, 1.0, per=DIAGNOSIS, classes=4), rng(0), 20)
    assert 1 < found.mean_size <= 4


def test_the_map_leaves_out_where_nothing_can_be_promised():
    heard = []
    found = tradeoff_map(
        *(RECORDS, 50, "paper"), alphas=(0.1, 0.5), epsilons=(0.1, 20.0), progress=lambda *told: heard.append(told)
    )
    assert np.isnan(found.sizes).tolist() == [[True, False], [True, False]]
    assert found.sizes[1, 1] < found.sizes[0, 1]
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]
    points = traces(tradeoff_figure(found, (0.1, 0.7)))
    assert [len(points[name].x) for name in ("click to take to Calibrate", "chosen on Calibrate")] == [2, 1]
    assert points["chosen on Calibrate"].text == ("ε = 0.7",)
    each = tradeoff_map(RECORDS, 50, "sharp", per=DIAGNOSIS, alphas=(0.1,), epsilons=(0.1, 20.0))
    assert np.isfinite(each.sizes).all()


@pytest.mark.parametrize(("method", "per"), [*((rule, None) for rule in RULES), ("sharp", DIAGNOSIS)])
def test_the_bundled_map_is_what_would_be_computed(method, per):
    bundled, few = bundled_map(method, per), {"alphas": ALPHAS[5:6], "epsilons": EPSILONS[4::5]}
    found = tradeoff_map(Labelled.of(bundled_scores()), bundled.n, method, per=per, **few)
    assert bundled.sizes[5:6, 4::5] == pytest.approx(found.sizes, abs=1e-3, nan_ok=True)
    assert bundled.coverage[5:6, 4::5] == pytest.approx(found.coverage, abs=1e-3, nan_ok=True)


def test_set_sizes_by_diagnosis_add_up_to_all():
    shares = np.bincount(RECORDS.labels) / len(RECORDS)
    sets = expected_sets(RECORDS, plan(N, 0.1, 2.0), rng(0), by_class=True)
    assert sets.size_by_class @ shares == pytest.approx(sets.mean_size)


def test_levels_are_the_plans_and_drawn_up_to_one():
    found = level_curves("n", [200, 1000], [0.5, 2.0], 0.1)
    assert set(found.levels) == {(m, e) for m in RULES for e in (0.5, 2.0)} | {(NONPRIVATE, None)}
    assert found.levels["sharp", 2.0][1] == plan(1000, 0.1, 2.0, method="sharp").level
    assert found.levels["paper", 0.5][0] == plan(200, 0.1, 0.5, method="paper").level > 1
    assert found.levels[NONPRIVATE, None].tolist() == [181 / 200, 901 / 1000]
    drawn = traces(level_figure(found))
    assert set(drawn) == {f"{m}, ε = {e}" for m in RULES for e in ("0.5", "2")} | {"without privacy"}
    assert drawn["paper, ε = 0.5"].y[0] == 1.0
    paper, sharp = (drawn[f"{name}, ε = 2"].line for name in ("paper", "sharp"))
    assert (sharp.color, sharp.dash) == (paper.color, "solid") != (paper.color, paper.dash)
    assert drawn["without privacy"].line.dash == "dash"


def test_records_needed_are_those_of_the_plan():
    needed = records_needed([0.1, 1.0], 0.1)
    assert needed == {rule: [smallest_n(0.1, e, rule) for e in (0.1, 1.0)] for rule in RULES}
    assert np.all(np.array(needed["sharp"]) < needed["paper"])
    assert list(traces(records_needed_figure([0.1, 1.0], needed))["sharp rule"].y) == needed["sharp"]


@pytest.mark.parametrize("m", [50, 1000, 1_000_000])
@pytest.mark.parametrize("method", RULES)
def test_the_steps_of_a_release_sum_up_the_exact_law(m, method):
    chosen = plan(500, 0.1, 2.0, method=method, m=m)
    view, law = release_view(SCORES, chosen), release_distribution(SCORES, chosen)
    assert len(view.probability) <= 121
    assert view.probability.sum() == pytest.approx(1, abs=3e-4)
    assert view.edges[0] < view.nonprivate == nonprivate_threshold(SCORES, 0.1) <= view.edges[-1]
    exact = np.append(0, np.cumsum(np.repeat(law.probability / law.bins, law.bins)))  # bin by bin
    upto = exact[np.rint(view.edges * m).astype(int)]
    assert view.probability == pytest.approx(np.diff(upto))


def test_a_trivial_plan_is_certain_to_give_one():
    view = release_view(SCORES, plan(500, 0.1, 1e-6))
    assert view.probability[-1] == pytest.approx(1)
    assert view.edges[-1] == 1


def test_a_release_is_drawn_with_its_draws_and_the_non_private_threshold():
    view = release_view(SCORES, plan(500, 0.1, 3.0))
    drawn = traces(release_figure(view, [0.91, 0.92, 0.95]))
    assert sum(drawn["probability of ŝ"].y) == pytest.approx(1, abs=1e-3)
    assert drawn["without privacy"].x[0] == view.nonprivate
    assert drawn["ŝ, simulated"].x[0] == 0.95
    assert list(drawn["earlier draws"].x) == [0.91, 0.92]
    assert "ŝ, simulated" not in traces(release_figure(view))


@pytest.fixture(scope="module")
def swept():
    return sweeps.sweep(FEW, "epsilon", [0.01, 1.0, 5.0], 30, rng(), alpha=0.1, n=600)


def test_every_epsilon_is_tried_on_the_same_splits(swept):
    for rule in RULES:
        assert [(r.plan.method, r.plan.epsilon) for r in swept.results[rule]] == [(rule, e) for e in (0.01, 1.0, 5.0)]
    first, *others = [r.nonprivate.threshold for results in swept.results.values() for r in results]
    assert all(np.array_equal(first, other) for other in others)
    assert swept.at(1.0)["sharp"].plan.epsilon == 1.0


def test_a_sweep_over_m_and_over_n():
    by_m = sweeps.sweep(FEW, "m", [20, 500], 5, rng(), alpha=0.1, n=600, methods=["sharp"])
    assert [r.plan.m for r in by_m.results["sharp"]] == [20, 500]
    heard = []
    by_n = sweeps.sweep(FEW, "n", [200, 400], 3, rng(), alpha=0.1, progress=lambda *told: heard.append(told))
    assert [r.plan.n for r in by_n.results["paper"]] == [200, 400]
    assert by_n.results["paper"][0].private.size_counts.sum() == 3 * 700
    assert heard == [(done, 6) for done in range(1, 7)]


def test_progress_may_cancel_and_nothing_to_try_is_refused():
    def stop(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        sweeps.sweep(FEW, "epsilon", [1.0], 5, rng(), alpha=0.1, n=600, progress=stop)
    with pytest.raises(InputError, match="no epsilon"):
        sweeps.sweep(FEW, "epsilon", [], 5, rng(), alpha=0.1, n=600)


def test_trends_are_means_and_percentiles_and_mark_trivial_points(swept):
    sizes, coverage = sweeps.trends(swept, "mean_size"), sweeps.trends(swept, "coverage")["paper"]
    assert sizes["paper"].trivial.tolist() == [True, False, False]
    assert sizes["paper"].mean[0] == 3
    assert sizes[NONPRIVATE].mean[2] < sizes["paper"].mean[2] < 3
    private = swept.results["paper"][2].private
    assert coverage.mean[2] == private.coverage.mean()
    assert coverage.low[2] == np.percentile(private.coverage, 5) < coverage.high[2]


@pytest.mark.parametrize("quantity", ["coverage", "mean_size"])
def test_a_sweep_is_drawn_with_bands_and_hollow_trivial_marks(swept, quantity):
    figure = sweeps.sweep_figure(swept, quantity)
    drawn, found = traces(figure), sweeps.trends(swept, quantity)["paper"]
    assert list(drawn["paper's rule"].y) == list(found.mean)
    assert list(drawn["paper's rule"].x) == [0.01, 1.0, 5.0]
    assert list(drawn["paper's rule"].marker.symbol) == ["diamond-open", "diamond", "diamond"]
    (named,) = [t for t in figure.data if t.name == "paper's rule" and t.showlegend is not False]
    assert named.marker.symbol == "diamond", "the legend never shows the mark that means too few records"
    bands = [t for t in figure.data if t.fill == "toself" and t.legendgroup == "paper's rule"]
    assert list(bands[0].y) == [*found.high, *found.low[::-1]]
    assert ("asked for" in drawn) == (quantity == "coverage")


def test_histograms_hold_every_split_in_bins_of_equally_many_values(swept):
    outcomes = sweeps.outcomes_of(swept.at(5.0))
    edges, shares = sweeps.histogram(outcomes, "coverage")
    assert set(shares) == {*RULES, NONPRIVATE}
    assert all(share.sum() == pytest.approx(1) for share in shares.values())
    assert 10 < len(edges) <= 26
    values_per_bin = np.diff(edges) * 300
    assert values_per_bin == pytest.approx(np.rint(values_per_bin[0]))
    drawn = traces(sweeps.histogram_figure(outcomes, "coverage", 0.1))
    assert list(drawn["sharp rule"].x) == list(edges)
    assert list(drawn["sharp rule"].y[:-1]) == list(shares["sharp"])
    assert list(drawn["asked for"].x) == [0.9, 0.9]
    trivial = sweeps.outcomes_of({"paper": swept.at(0.01)["paper"]}) | {NONPRIVATE: swept.at(0.01)["paper"].private}
    assert sweeps.histogram(trivial, "coverage")[1]["paper"].tolist() == [1.0]


def test_set_sizes_are_shares_of_all_sets(swept):
    drawn, sizes = traces(sweeps.size_figure(swept.at(5.0))), swept.at(5.0)["paper"].private.size_counts
    assert drawn["paper's rule"].y == pytest.approx(sizes.sum(axis=0) / sizes.sum())
    drawn = traces(sweeps.size_figure(swept.at(0.01)))["paper's rule"]
    assert (list(drawn.x), list(drawn.y)) == ([0, 1, 2, 3], [0, 0, 0, 1])
