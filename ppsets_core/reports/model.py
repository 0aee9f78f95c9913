"""What a report says of the model: which it is, how good, and where it fails. Needs no torch."""

import re

from ppsets_core.errors import PpsetsError
from ppsets_core.model.model_card import bundled_report
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.places import MODELS
from ppsets_core.reports.html import Html, bullets, element

CARD = MODELS / "README.md"
OTHER = "ppsets has not measured how good this model is and does not know what it was trained on: ask who made it."


def model_section(model: str | None, classes: tuple[str, ...]) -> list[Html]:
    """For the bundled weights the measured numbers and the limits of their card; of others that they are others."""
    parts = [element("h2", "The model and its limits")]
    if classes:
        parts.append(element("p", f"It tells {', '.join(classes)} apart and looks for nothing else."))
    if model is None:
        return [*parts, element("p", f"Which model gave the probabilities is not recorded. {OTHER}")]
    which = element("p", "Its fingerprint, of weights and class names: ", element("code", model), ".")
    if model != bundled_fingerprint():
        return [*parts, which, element("p", f"It is not the model that comes with ppsets. {OTHER}")]
    limits = [bullets(limits_of_the_card())] if CARD.is_file() else []
    return [*parts, which, *_measured(), *limits]


def _measured() -> list[Html]:
    try:
        measured, classes = bundled_report()
    except PpsetsError:
        return []
    recalls = ", ".join(f"{name} {100 * share:.0f}%" for name, share in zip(classes, measured.recalls, strict=True))
    sentence = (
        f"The ResNet-18 that comes with ppsets. On {measured.n:,} public CoronaHack X-rays that it was not trained on, "
        f"its likeliest diagnosis is right in {100 * measured.accuracy:.0f}%; recognised are {recalls}."
    )
    return [element("p", sentence)]


def limits_of_the_card() -> list[str]:
    """The list under "Limits" in models/README.md, as plain sentences."""
    _, _, after = CARD.read_text(encoding="utf-8").partition("\n## Limits\n")
    limits = after.partition("\n## ")[0]
    return [
        " ".join(item.split()).replace("`", "").replace("**", "") for item in re.split(r"^- ", limits, flags=re.M)[1:]
    ]
