"""The chest X-ray gate: does a picture look like an upright chest X-ray, before it is classified?"""

from ppsets_core.gate.check import GateResult, check_chest_xray

__all__ = ["GateResult", "check_chest_xray"]
