"""What OpenDP's registry of deployments asks of an entry: names, types and choices, without its explanations.

Restated from schemas/deployments-schema.yaml of github.com/opendp/deployments-registry-data at COMMIT, read on
2026-11-17. Where that file says no type, any is taken.
"""

COMMIT = "057e5d81cf60150dd3307e0cf4504b957802fb3b"
TEXT, WHOLE, NUMBER, ANY = {"type": "string"}, {"type": "integer"}, {"type": "number"}, {}
TEXT_OR_NUMBER = {"type": ["string", "number"]}


def one_of(*values):
    return {"type": "integer" if isinstance(values[0], int) else "string", "enum": list(values)}


def group(needed=(), **fields):
    return {"type": "object", "additionalProperties": False, "required": list(needed), "properties": fields}


def listed(items):
    return {"type": "array", "items": items, "minItems": 1}


BIBTEX_TEXTS = """
address annote author booktitle doi editor email howpublished institution journal note organization publisher school
type series title url
"""
BIBTEX_NUMBERS = "chapter edition issn isbn month number pages volume year"
BIBTEX = group(**dict.fromkeys(BIBTEX_TEXTS.split(), TEXT), **dict.fromkeys(BIBTEX_NUMBERS.split(), TEXT_OR_NUMBER))
SOURCE_TYPE = one_of(
    "Peer-reviewed publication",
    "Formal publication by the deploying organization",
    "Authorized organizational attestation",
    "Other public source",
)
PUBLICATIONS = """
article book booklet conference inbook incollection inproceedings manual mastersthesis misc phdthesis proceedings
techreport unpublished
"""
BASIC = "name data_curators description intended_use data_product_type data_product_region publication_date"
CURATOR = {
    "type": "object",
    "required": ["data_curator_name", "data_curator_type"],
    "properties": {"data_curator_name": TEXT, "data_curator_type": one_of("Government", "Industry", "Nonprofit")},
}
DEPLOYMENT = group(
    ["basic", "administrative"],
    basic=group(
        BASIC.split(),
        name=TEXT,
        data_curators=listed(CURATOR),
        description=TEXT,
        intended_use=TEXT,
        data_product_type=one_of(
            *("Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API"),
            "SQL queries",
        ),
        data_product_region=TEXT,
        data_product_sector=one_of("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
        publication_date={"type": "string", "format": "date"},
    ),
    dp_variant=group(
        variant_name=one_of("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
        data_domain=TEXT,
        unprotected_quantities=TEXT,
    ),
    privacy_loss=group(
        privacy_unit=TEXT,
        privacy_unit_details=TEXT,
        number_of_privacy_units=WHOLE,
        privacy_parameters=group(epsilon=NUMBER, delta=TEXT_OR_NUMBER, rho=NUMBER),
        privacy_parameters_details=ANY,
    ),
    deployment_model=group(
        model_name=one_of("Local", "Central", "Shuffle", "Federated", "Varies"),
        model_name_details=TEXT,
        trust_assumptions=TEXT,
        actors=ANY,
        release_type=one_of("One release", "Many releases"),
        release_type_details=TEXT,
        data_source_type=one_of("Static", "Dynamic"),
        data_source_type_details=TEXT,
        access_type=one_of("Interactive", "Non-interactive"),
        access_type_details=TEXT,
    ),
    implementation=group(
        preprocessing_and_hyperparameter_tuning=TEXT,
        mechanisms=TEXT,
        composition=TEXT,
        post_processing=TEXT,
        justification=TEXT,
        utility=ANY,
        additional_information=ANY,
    ),
    administrative=group(
        ["status", "registry_authors", "tier"],
        evidence_sources={
            "type": "object",
            "patternProperties": {
                r"^\w+$": {
                    "oneOf": [
                        group(evidence_source_type=SOURCE_TYPE, **{kind: BIBTEX}) for kind in PUBLICATIONS.split()
                    ]
                }
            },
        },
        status=one_of(
            *("Converted", "Draft", "Pending", "Changes Required", "Approved", "Approved (Update Requested)"),
            "Approved (Pending)",
        ),
        registry_authors=listed(TEXT),
        tier=one_of(1, 2, 3),
    ),
)
SCHEMA = group(["url_slug", "deployment"], url_slug=TEXT, deployment=DEPLOYMENT)
