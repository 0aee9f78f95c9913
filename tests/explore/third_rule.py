"""A rule that nothing but the registry has heard of."""

from ppsets_core.method.rules.paper import Paper


class ThirdRule(Paper):
    name, label = "third", "third rule"
