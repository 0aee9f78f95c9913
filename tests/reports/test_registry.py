"""The registry entry: valid by the registry's schema, of one commit, and true of the release."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from jsonschema import Draft7Validator

from ppsets_core import InputError, calibrate, plan, simulate
from ppsets_core.__main__ import main
from ppsets_core.data.bundled import bundled_scores
from ppsets_core.reports.registry import CURATOR_KINDS, SCHEMA_COMMIT, Deployment, registry_entry, registry_yaml
from ppsets_core.wording import needed
from tests.ledger.spending import records_of

SCHEMA = json.loads(Path(__file__).with_name("registry_schema.json").read_text(encoding="utf-8"))
COMMIT = SCHEMA["commit"]
WHO = Deployment('St. Mary\'s: "north" – #1', "Nonprofit", "Bavaria, Germany", "A. Steward")
SCORES, CLASSES = np.linspace(0, 0.9, 900), ("normal", "viral", "bacterial")
LABELS = {"classes": CLASSES, "labels": np.arange(900) % 3}


def errors(entry) -> list[str]:
    return [
        e.message for e in Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER).iter_errors(entry)
    ]


@pytest.mark.parametrize("settings", [{}, {"per": "diagnosis"}, {"method": "paper"}])
def test_it_is_valid_and_says_what_was_spent(settings):
    drawn = calibrate(records_of(SCORES, **LABELS), 0.1, 2.5, **settings)
    entry = yaml.safe_load(registry_yaml(drawn, WHO))
    assert errors(entry) == []
    assert entry == registry_entry(drawn, WHO)
    deployment = entry["deployment"]
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 2.5}
    assert deployment["privacy_loss"]["number_of_privacy_units"] == 900
    assert deployment["privacy_loss"]["privacy_unit"] == "Record-level"
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["basic"]["publication_date"] == drawn.date[:10]
    assert deployment["basic"]["data_curators"][0]["data_curator_name"] == WHO.curator
    assert re.fullmatch("[a-z0-9-]+", entry["url_slug"])
    assert all(needed(cutoff) in deployment["basic"]["description"] for cutoff in drawn.cutoffs)


def test_a_threshold_of_novelty_is_registered_with_its_share():
    drawn = calibrate(bundled_scores(), 0.1, 1.0, novelty_share=0.2)
    entry = registry_entry(drawn, WHO)
    assert errors(entry) == []
    share = f"ε = {drawn.novelty.epsilon:g} over {drawn.novelty.m:,} bins"
    assert share in entry["deployment"]["basic"]["description"]
    assert share in entry["deployment"]["privacy_loss"]["privacy_parameters_details"]
    assert "its novelty in [0, 1]" in str(entry)


def test_it_claims_neither_a_ledger_nor_the_paper_for_what_has_none():
    alone, counted = calibrate(SCORES, 0.1, 2.5), calibrate(SCORES, 0.1, 2.5, method="paper")
    counted = type(counted)(**{**vars(counted), "dataset": "secret ward"})
    told = {name: str(registry_entry(drawn, WHO)) for name, drawn in (("alone", alone), ("counted", counted))}
    for words in ("Drawn without a ledger", "sharp rule of ppsets, which is not in the paper"):
        assert words in told["alone"]
        assert words not in told["counted"]
    assert "A local ledger keeps a budget" in told["counted"]
    assert "A local ledger keeps a budget" not in told["alone"]


def test_one_commit_is_meant_and_the_data_sets_name_stays_here():
    drawn = calibrate(SCORES, 0.1, 2.5)
    assert SCHEMA_COMMIT == COMMIT
    kinds = SCHEMA["properties"]["deployment"]["properties"]["basic"]["properties"]["data_curators"]["items"]
    assert kinds["properties"]["data_curator_type"]["enum"] == list(CURATOR_KINDS)
    assert COMMIT in registry_yaml(drawn, WHO)
    assert "secret ward" not in registry_yaml(type(drawn)(**{**vars(drawn), "dataset": "secret ward"}), WHO)


def test_what_is_no_release_is_not_registered():
    for drawn in (calibrate(SCORES[:5], 0.1, 0.1), simulate(SCORES, plan(900, 0.1, 1.0), np.random.default_rng(0))):
        with pytest.raises(InputError, match="nothing to register"):
            registry_entry(drawn, WHO)
    with pytest.raises(InputError, match="needs the region"):
        Deployment("x", "Industry", " ", "y")
    with pytest.raises(InputError, match="kinds: Government"):
        Deployment("x", "Hospital", "x", "y")


def test_on_the_command_line(tmp_path, capsys):
    saved, out = tmp_path / "cal.json", tmp_path / "entry.yaml"
    saved.write_text(calibrate(SCORES, 0.1, 2.5).to_json(), encoding="utf-8")
    command = ["report", str(saved), "--registry", str(out)]
    assert main(command) == 2
    assert "--curator" in capsys.readouterr().err
    who = ["--curator", "Clinic", "--kind", "Nonprofit", "--region", "Oslo", "--author", "A. S."]
    assert main([*command, *who]) == 0
    assert errors(yaml.safe_load(out.read_text(encoding="utf-8"))) == []
    assert main(["report", str(saved)]) == 2
    assert "--out" in capsys.readouterr().err
