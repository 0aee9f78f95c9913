"""`python -m tools.unlike FOLDER`: how often X-rays of another hospital are recognised as unfamiliar.

Prints the figures of models/README.md, exact over the draw of τ̂ and over batches: ε = 1, a fifth of it for τ̂, 5% asked
for, once with every record of the calibration and once with one of each patient."""

import argparse
from pathlib import Path

import numpy as np

from ppsets_core import Records, calibrate, one_per_patient, plan
from ppsets_core.data.bundled import bundled_scores
from ppsets_core.diagnose.novelty import CALIBRATIONS, Alarm, NoveltyThreshold, largest_rate, novelty_thresholds
from ppsets_core.method.check import binomial_at_least
from ppsets_core.method.release import release_distribution
from ppsets_core.model import load_model, predict_folder
from ppsets_core.xrays import read_folder

BATCHES = (10, 40, 100, 400)


def area_under_the_curve(like: np.ndarray, unlike: np.ndarray) -> float:
    """How often an unlike X-ray is less familiar than a like one; ties count half."""
    below, up_to = (np.searchsorted(np.sort(like), unlike, side=side) for side in ("left", "right"))
    return float((below + up_to).mean() / 2 / len(like))


def flagged_and_alarmed(records: Records, novelty: np.ndarray) -> tuple[float, dict[int, float]]:
    """The share of X-rays of this novelty that a calibration with these records flags, and how often a batch of
    them raises the alarm, by its size."""
    n, known = len(records), records.novelty
    beside = plan(n, 0.1, 1.0, novelty_share=0.2).novelty
    assert beside is not None
    assert known is not None
    law = release_distribution(known, plan(n, beside.alpha, beside.epsilon, m=beside.m))
    above = 1 - np.searchsorted(np.sort(novelty), law.upper, side="right") / len(novelty)
    threshold = NoveltyThreshold(0.5, CALIBRATIONS, beside.alpha, largest_rate(beside, n))
    alarmed = {}
    for size in BATCHES:
        least = next((count for count in range(size + 1) if Alarm((count,), size, (threshold,)).is_on), size + 1)
        chances = [binomial_at_least(least, size, share) for share in above.tolist()]
        alarmed[size] = float(law.probability @ chances)
    return float(law.probability @ above), alarmed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How often X-rays of another kind are recognised as unfamiliar.")
    parser.add_argument("folder", type=Path, help="X-rays that are unlike CoronaHack's")
    others = predict_folder(load_model(), read_folder(parser.parse_args().folder, labels=False)).novelty
    held_out = bundled_scores().novelty
    assert others is not None
    assert held_out is not None
    (public,) = novelty_thresholds(calibrate([0.5] * 500, 0.1, 1.0), load_model().fingerprint)
    for whose, novelty in (("CoronaHack's validation", bundled_scores("validation").novelty), ("the others", others)):
        assert novelty is not None
        print(f"public threshold: {public.unlike(novelty).mean():.1%} of {whose} are above it")
    print(f"area under the curve: {area_under_the_curve(held_out, others):.3f}")
    for records in (bundled_scores("calibration"), one_per_patient(bundled_scores("calibration"))):
        for whose, novelty in (("CoronaHack's", held_out), ("the others", others)):
            flagged, alarmed = flagged_and_alarmed(records, novelty)
            shares = ", ".join(f"of {size} {share:.3%}" for size, share in alarmed.items())
            print(f"{len(records):,} records: {flagged:.1%} of {whose} flagged; alarm for batches {shares}")
