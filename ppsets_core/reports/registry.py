"""A release as an entry for OpenDP's registry of differential privacy deployments, in the registry's own schema.

The schema: schemas/deployments-schema.yaml of github.com/opendp/deployments-registry-data at the commit below. The
entry is a draft for those who answer for the release: it names no data set, and is sent nowhere.
"""

import json
import re
from dataclasses import dataclass

from ppsets_core.errors import InputError
from ppsets_core.method.calibration import BaseCalibration, Calibration
from ppsets_core.version import __version__
from ppsets_core.wording import meaning, rule_in_words, scope

SCHEMA_COMMIT = "057e5d81cf60150dd3307e0cf4504b957802fb3b"
CURATOR_KINDS = ("Government", "Industry", "Nonprofit")


@dataclass(frozen=True)
class Deployment:
    """What only people know: who publishes the release, of which of the registry's kinds, where, and who says so."""

    curator: str
    kind: str
    region: str
    author: str

    def __post_init__(self) -> None:
        for what, said in {"curator": self.curator, "region": self.region, "author": self.author}.items():
            if not said.strip():
                raise InputError(f"A registry entry needs the {what}: say it in a few words.")
        if self.kind not in CURATOR_KINDS:
            raise InputError(f"The registry knows curators of these kinds: {', '.join(CURATOR_KINDS)}.")


def registry_yaml(drawn: BaseCalibration, deployment: Deployment) -> str:
    """The entry as a file that the registry takes: JSON, which is YAML."""
    head = f"# OpenDP's registry of deployments, schema of commit {SCHEMA_COMMIT}; a draft to read before it is sent.\n"
    text = json.dumps(registry_entry(drawn, deployment), ensure_ascii=False, indent=2)
    return head + re.sub(r"(?<=: )(\d+)e", r"\1.0e", text) + "\n"  # YAML takes 1e-05 for text


def registry_entry(drawn: BaseCalibration, deployment: Deployment) -> dict[str, object]:
    """Every field of tiers 1 to 3 that a release answers by itself."""
    if not isinstance(drawn, Calibration) or drawn.is_trivial:
        raise InputError("Nothing private was released here, so there is nothing to register.")
    if not drawn.date:
        raise InputError("This calibration does not say when it was drawn, and a registry entry must: calibrate anew.")
    day = drawn.date[:10]
    return {
        "url_slug": re.sub("[^a-z0-9]+", "-", f"private prediction sets {deployment.curator} {day}".lower())[
            :100
        ].strip("-"),
        "deployment": {
            "basic": _basic(drawn, deployment, day),
            "dp_variant": _variant(drawn),
            "privacy_loss": _privacy_loss(drawn),
            "deployment_model": _model(drawn),
            "implementation": _implementation(drawn),
            "administrative": {
                "evidence_sources": {"private_prediction_sets": PAPER},
                "status": "Draft",
                "registry_authors": [deployment.author.strip()],
                "tier": 3,
            },
        },
    }


PAPER = {
    "evidence_source_type": "Peer-reviewed publication",
    "article": {
        "author": "Angelopoulos, Anastasios N. and Bates, Stephen and Zrnic, Tijana and Jordan, Michael I.",
        "title": "Private Prediction Sets",
        "journal": "Harvard Data Science Review",
        "volume": 4,
        "number": 2,
        "year": 2022,
        "url": "https://arxiv.org/abs/2102.06202",
    },
}


def _basic(drawn: Calibration, deployment: Deployment, day: str) -> dict[str, object]:
    thresholds = (
        "One threshold" if drawn.per is None else f"{len(drawn.thresholds)} thresholds, one for each {drawn.per},"
    )
    return {
        "name": "Thresholds of private prediction sets for chest X-rays",
        "data_curators": [{"data_curator_name": deployment.curator.strip(), "data_curator_type": deployment.kind}],
        "description": (
            f"{thresholds} by which a classifier's probabilities for a new chest X-ray become a set of diagnoses that "
            f"holds the true one with probability at least {1 - drawn.alpha:g}. {meaning(drawn)}{_novelty(drawn)}"
        ),
        "intended_use": "Prediction sets with a coverage guarantee, for research and teaching; not a medical device.",
        "data_product_type": "Summary statistics",
        "data_product_region": deployment.region.strip(),
        "data_product_sector": "Healthcare",
        "publication_date": day,
    }


def _novelty(drawn: Calibration) -> str:
    planned = drawn.novelty
    if planned is None or planned.is_trivial:
        return ""
    return (
        " Out of the same ε, a threshold above which a new X-ray counts as unlike these records: a quantile of their "
        f"novelty, with ε = {planned.epsilon:g} over {planned.m:,} bins."
    )


def _variant(drawn: Calibration) -> dict[str, object]:
    novelty = ", its novelty in [0, 1]" if _novelty(drawn) else ""
    per = "" if drawn.per is None else f" and its {drawn.per}"
    given = f", and the names of the {drawn.groups} groups of {drawn.per}" if drawn.group_names else ""
    return {
        "variant_name": "Pure DP",
        "data_domain": f"{drawn.n:,} records, each the score in [0, 1] of a labelled chest X-ray{novelty}{per}.",
        "unprotected_quantities": (
            f"The number of records, {drawn.n:,}; the classes that the model tells apart{given}; what follows from "
            "these and from α, ε and the rule (bins, rank or level, promised coverage)."
        ),
    }


def _privacy_loss(drawn: Calibration) -> dict[str, object]:
    one = "A patient has one record." if drawn.unit == "patient" else "A patient may have several records."
    halves = "" if drawn.per is None else f" Each {drawn.per} has half of the thresholds' ε: a record may change two."
    return {
        "privacy_unit": f"{drawn.unit.capitalize()}-level",
        "privacy_unit_details": f"Bounded differential privacy: one record is replaced by any other. {one}",
        "number_of_privacy_units": drawn.n,
        "privacy_parameters": {"epsilon": drawn.epsilon},
        "privacy_parameters_details": f"Of this one release, all thresholds together; δ is 0.{halves}{_novelty(drawn)}",
    }


def _model(drawn: Calibration) -> dict[str, object]:
    return {
        "model_name": "Central",
        "trust_assumptions": (
            "The curator and its machine are trusted with the records. Readers of the release may know all others."
        ),
        "actors": "The curator, who holds the records and draws the release; clinicians and analysts, who use it.",
        "release_type": "One release",
        "release_type_details": (
            "Drawn without a ledger, so no budget counts it."
            if drawn.dataset is None
            else "A local ledger keeps a budget for the records, charges every release before it is drawn and refuses "
            "what goes beyond it. Further releases from the same records would be entries of their own."
        ),
        "data_source_type": "Static",
        "access_type": "Non-interactive",
        "access_type_details": "Users receive the thresholds and cannot query the records.",
    }


def _implementation(drawn: Calibration) -> dict[str, object]:
    model = "a model whose fingerprint was not recorded" if drawn.model is None else f"the model {drawn.model}"
    return {
        "preprocessing_and_hyperparameter_tuning": (
            f"Scores are 1 minus the probability that {model}, fixed before on other records, gives to the true "
            "diagnosis. Bins and rank or level follow from the public numbers alone."
        ),
        "mechanisms": (
            f"The exponential mechanism over {drawn.m:,} bins of [0, 1] for a quantile of the scores, drawn by OpenDP "
            f"with exact arithmetic and a cryptographic generator. {rule_in_words(drawn.method)} "
            f"Software: ppsets {__version__}. Timing is not protected.{_novelty(drawn)}"
        ),
        "composition": "Releases from the same records add up (sequential composition).",
        "post_processing": "None; prediction sets are made from the thresholds and new patients' probabilities only.",
        "justification": "The quantile lies so far above 1 − α that the coverage holds in spite of the noise.",
        "utility": f"Coverage of at least {drawn.coverage_lower:g}. {scope(drawn)}",
    }
