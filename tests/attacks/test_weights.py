"""Weights that are no weights, uploaded on Model: a sentence that names the file, nothing run, the model stays."""

import io
import json
import pickle

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppsets_core.errors import PpsetsError
from ppsets_core.model import load_model
from ppsets_core.model.weights import BUNDLED_WEIGHTS
from tests.attacks.score_files import Bomb
from tests.pages.driving import button, texts
from tests.xrays.test_hostile import mutated


def split(data: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def joined(header: dict, body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def changed(**tensors) -> bytes:
    """The bundled weights, with what their header says of some layers overwritten."""
    header, body = split(BUNDLED_WEIGHTS.read_bytes())
    for name, said in tensors.items():
        header[name.replace("__", ".")] |= said
    return joined(header, body)


def with_facts(**facts) -> bytes:
    header, body = split(BUNDLED_WEIGHTS.read_bytes())
    header["__metadata__"]["ppsets"] = json.dumps(json.loads(header["__metadata__"]["ppsets"]) | facts)
    return joined(header, body)


def without(layer: str) -> bytes:
    header, body = split(BUNDLED_WEIGHTS.read_bytes())
    start, end = header.pop(layer)["data_offsets"]
    for said in header.values():
        if said.get("data_offsets", [0])[0] >= end:
            said["data_offsets"] = [at - (end - start) for at in said["data_offsets"]]
    return joined(header, body[:start] + body[end:])


def filled(layer: str, value: bytes) -> bytes:
    """One layer's bytes overwritten, again and again by the same value."""
    header, body = split(BUNDLED_WEIGHTS.read_bytes())
    start, end = header[layer]["data_offsets"]
    return joined(header, body[:start] + value * ((end - start) // len(value)) + body[end:])


def crowd_of_layers() -> bytes:
    header, body = split(BUNDLED_WEIGHTS.read_bytes())
    end = len(body)
    header |= {f"extra.{i}": {"dtype": "F32", "shape": [0], "data_offsets": [end, end]} for i in range(100_000)}
    return joined(header, body)


def torch_file() -> bytes:
    out = io.BytesIO()
    torch.save({"fc.weight": torch.zeros(2)}, out)
    return out.getvalue()


NOT_WHOLE = "is not a whole safetensors file"
REFUSED = {
    "pickle": (lambda: pickle.dumps(Bomb()), "is a pickle"),
    "torch": (torch_file, "is a pickle"),
    "huge-header": (lambda: (2**62).to_bytes(8, "little") + b"{}", NOT_WHOLE),
    "long-header": (lambda: (60_000_000).to_bytes(8, "little") + b'{"a":', NOT_WHOLE),
    "cut-header": (lambda: (6_000).to_bytes(8, "little") + b'{"a":', NOT_WHOLE),
    "large-side": (lambda: with_facts(side=1024), "does not say its classes"),
    "overlap": (lambda: changed(fc__bias={"data_offsets": [0, 12]}), NOT_WHOLE),
    "past-the-end": (lambda: changed(fc__bias={"data_offsets": [2**40, 2**40 + 12]}), NOT_WHOLE),
    "huge-shape": (lambda: changed(fc__bias={"shape": [2**62]}), NOT_WHOLE),
    "wrong-kind": (lambda: changed(fc__bias={"dtype": "I32"}), "not finite numbers"),
    "no-kind": (lambda: changed(fc__bias={"dtype": "Q99"}), NOT_WHOLE),
    "wrong-shape": (lambda: changed(conv1__weight={"shape": [64, 3, 49]}), "another shape"),
    "missing": (lambda: without("fc.bias"), "does not hold the layers"),
    "crowd": (crowd_of_layers, NOT_WHOLE),
    "infinite": (lambda: filled("bn1.weight", b"\0\0\x80\x7f"), "not finite numbers"),
    "negative-variance": (lambda: filled("bn1.running_var", b"\0\0\x80\xbf"), "not finite numbers"),
    "temperature": (lambda: with_facts(temperature=10**400), "does not say its classes"),
    "hidden-class": (lambda: with_facts(classes=["a", "b\u202e", "c"]), "does not say its classes"),
    "surrogate-class": (lambda: with_facts(classes=["a", "b\ud800", "c"]), "does not say its classes"),
}


def test_each_is_one_sentence_and_the_model_stays(screen):
    at = screen("model")
    at.session_state["model_view"] = "Weights"
    at.run()
    wrong = {}
    for name, (data, said) in REFUSED.items():
        at.file_uploader[0].set_value((f"{name}.safetensors", data(), "")).run()
        button(at, "Use these").click().run()
        assert not at.exception
        told = texts(at)
        if f"{name}.safetensors" not in told or said not in told or "with the bundled ResNet-18" not in told:
            wrong[name] = told[-300:]
    assert wrong == {}


def test_the_screen_takes_no_other_ending(screen):
    at = screen("model")
    at.session_state["model_view"] = "Weights"
    assert list(at.run().file_uploader[0].proto.type) == [".safetensors"]


LENGTH = int.from_bytes(BUNDLED_WEIGHTS.read_bytes()[:8], "little")
HEADER = BUNDLED_WEIGHTS.read_bytes()[8 : 8 + LENGTH]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutated([HEADER]), st.integers(0, 2**63) | st.none(), st.binary(max_size=64))
def test_a_mutated_header(tmp_path_factory, header, length, body):
    path = tmp_path_factory.getbasetemp() / "fuzzed.safetensors"
    size = len(header) if length is None else length
    path.write_bytes(size.to_bytes(8, "little") + header + body)
    with pytest.raises(PpsetsError):
        load_model(path)
