"""The calibration rules. A new rule is one file here and one entry in `RULES`."""

from ppsets_core.errors import InputError
from ppsets_core.rules.paper import Paper
from ppsets_core.rules.rule import Aim, GroupRule, Rule
from ppsets_core.rules.sharp import Sharp
from ppsets_core.rules.sharp_first import SharpFirst

RULES: dict[str, Rule] = {rule.name: rule for rule in (Sharp(), Paper())}
"""On offer, the default first."""
RETIRED: dict[str, Rule] = {rule.name: rule for rule in (SharpFirst(),)}
"""Known, so that calibrations made with them can be read; no longer on offer."""
DEFAULT = "sharp"

__all__ = ["DEFAULT", "RETIRED", "RULES", "Aim", "GroupRule", "Rule", "rule_named"]


def rule_named(name: str) -> Rule:
    if isinstance(name, str) and (rule := RULES.get(name) or RETIRED.get(name)):
        return rule
    raise InputError(f"method must be one of {', '.join(RULES)}.")
