"""The chest X-ray gate: does a picture look like an upright chest X-ray, before it is classified?"""

from ppsets_core.model.gate.check import why_not_a_chest_xray

__all__ = ["why_not_a_chest_xray"]
