"""`python -m tools.tradeoff_map`: compute assets/tradeoff_map.csv anew, after the bundled scores or a rule changed."""

import csv

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.explore.expected_sets import BUNDLED_MAP, BUNDLED_N, map_rows, tradeoff_map
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules import RULES, GroupRule


def main() -> None:
    """The maps of every rule and promise."""
    records = Labelled.of(bundled_scores())
    ways: list[tuple[str, str | None]] = [(name, None) for name in RULES]
    ways += [(name, DIAGNOSIS) for name, rule in RULES.items() if isinstance(rule, GroupRule)]
    rows = [
        {"rule": method, "promise": per or "", **row}
        for method, per in ways
        for row in map_rows(tradeoff_map(records, BUNDLED_N, method, per=per))
    ]
    with BUNDLED_MAP.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
