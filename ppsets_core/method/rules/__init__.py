"""The calibration rules. A new rule is one file here and one entry in `RULES`."""

from ppsets_core.errors import InputError
from ppsets_core.method.rules.paper import Paper
from ppsets_core.method.rules.rule import Aim, GroupRule, Rule
from ppsets_core.method.rules.sharp import Sharp

RULES: dict[str, Rule] = {rule.name: rule for rule in (Sharp(), Paper())}
"""The default first."""
DEFAULT = "sharp"

__all__ = ["DEFAULT", "RULES", "Aim", "GroupRule", "Rule", "rule_named"]


def rule_named(name: str) -> Rule:
    if isinstance(name, str) and (rule := RULES.get(name)):
        return rule
    raise InputError(f"method must be one of {', '.join(RULES)}.")
