"""Mutated calibrations and weights: read, or refused by the one family of errors. Score files, pictures and folders
are fuzzed beside their readers, in tests/data and tests/xrays."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ppsets_core import Calibration, InputError, calibrate, plan, simulate
from ppsets_core.errors import PpsetsError
from ppsets_core.method.calibration_json import read_calibration
from ppsets_core.model import load_model
from ppsets_core.model.weights import BUNDLED_WEIGHTS
from tests.xrays.test_hostile import mutated

GOOD = [
    calibrate(np.linspace(0, 1, n), 0.1, 1.0, method=method).to_json()
    for method in ("paper", "sharp")
    for n in (500, 5)
]
SIMULATION = simulate(np.linspace(0, 1, 500), plan(500, 0.1, 1.0), np.random.default_rng(0)).to_json()
FIELDS = sorted({*json.loads(GOOD[0]), *json.loads(GOOD[0])["targets"][0]})
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -(10**400), 1e308, 5e-324, True, None, "1", [], {}])


@settings(deadline=None, max_examples=150)
@given(mutated([text.encode() for text in (*GOOD, SIMULATION)]))
def test_a_mutated_calibration(data):
    try:
        read = read_calibration(data.decode("utf-8", "replace"))
    except InputError:
        return
    assert 0 < read.threshold <= 1


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(GOOD), st.sampled_from(FIELDS), NUMBERS)
@example(GOOD[0], "alpha", 10**400)
@example(GOOD[0], "alpha", 5e-324)
@example(GOOD[0], "gamma", 5e-324)
@example(GOOD[0], "level", 10**400)
@example(GOOD[2], "coverage_lower", -(10**400))
def test_a_calibration_with_one_field_changed(text, field, value):
    document = json.loads(text)
    changed = document["targets"][0] if field in document["targets"][0] and field not in document else document
    unchanged = changed[field] == value and type(changed[field]) is type(value)
    changed[field] = value
    try:
        Calibration.from_json(json.dumps(document))
    except InputError:
        assert not unchanged


LENGTH = int.from_bytes(BUNDLED_WEIGHTS.read_bytes()[:8], "little")
HEADER = BUNDLED_WEIGHTS.read_bytes()[8 : 8 + LENGTH]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutated([HEADER]), st.integers(0, 2**63) | st.none(), st.binary(max_size=64))
def test_weights_with_a_mutated_header(tmp_path_factory, header, length, body):
    path = tmp_path_factory.getbasetemp() / "fuzzed.safetensors"
    size = len(header) if length is None else length
    path.write_bytes(size.to_bytes(8, "little") + header + body)
    with pytest.raises(PpsetsError):
        load_model(path)
