"""Random splits do what calibrating and evaluating one split at a time does."""

import numpy as np
import pytest

import ppsets_core as pp

RNG = np.random.default_rng(2)
LABELS = RNG.integers(0, 3, 400)
LOGITS = RNG.normal(size=(400, 3)) + 2 * np.eye(3)[LABELS]
PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
SETTINGS = [
    pp.Setting(0.1, 2.0, "paper"),
    pp.Setting(0.1, 2.0, "sharp"),
    pp.Setting(0.2, 5.0, "sharp", m=1000),
    pp.Setting(0.1, 0.01, "paper"),
]


def run(**changes):
    arguments = {"n": 300, "settings": SETTINGS, "repetitions": 50, "rng": np.random.default_rng(4)} | changes
    return pp.random_splits(PROBABILITIES, LABELS, **arguments)


def test_outcomes_match_a_plain_loop_over_the_same_splits():
    """The splits are rng.permutation over records in score order; thresholds are taken from the result."""
    (result,) = run(settings=[pp.Setting(0.1, 0.01, "paper")])  # trivial: only permutations are drawn
    rng = np.random.default_rng(4)
    scores = pp.conformity_scores(PROBABILITIES, LABELS)
    order = np.argsort(scores, kind="stable")
    for repetition in range(50):
        shuffled = order[rng.permutation(400)]
        chosen, rest = shuffled[:300], shuffled[300:]
        threshold = result.nonprivate.threshold[repetition]
        assert threshold == pp.nonprivate_threshold(scores[chosen], 0.1)
        expected = pp.evaluate(PROBABILITIES[rest], LABELS[rest], threshold)
        assert result.nonprivate.coverage[repetition] == expected.coverage
        assert result.nonprivate.mean_size[repetition] == pytest.approx(expected.mean_size)
        assert result.nonprivate.size_counts[repetition].tolist() == expected.size_counts.tolist()
    assert (result.private.threshold == 1).all()
    assert (result.private.mean_size == 3).all()


@pytest.mark.statistical
def test_private_draws_agree_with_simulate_on_average():
    results = run(repetitions=1500)
    scores = pp.conformity_scores(PROBABILITIES, LABELS)
    rng = np.random.default_rng(8)
    for result in results:
        one_by_one = [pp.simulate(rng.permutation(scores)[:300], result.plan, rng).threshold for _ in range(1500)]
        error = np.std(one_by_one) / np.sqrt(1500 / 2)
        assert np.mean(result.private.threshold) == pytest.approx(np.mean(one_by_one), abs=5 * error + 1e-12)


def test_the_same_seed_gives_the_same_result_and_results_keep_the_order_of_settings():
    first, second = run(), run()
    for a, b, setting in zip(first, second, SETTINGS, strict=True):
        assert (a.private.threshold == b.private.threshold).all()
        assert (a.plan.alpha, a.plan.epsilon, a.plan.method) == (setting.alpha, setting.epsilon, setting.method)
    assert (first[0].nonprivate.threshold == first[1].nonprivate.threshold).all()


@pytest.mark.parametrize("n", [400, 401, 0])
def test_too_few_records_are_refused(n):
    with pytest.raises(pp.InputError, match="too few"):
        run(n=n)
