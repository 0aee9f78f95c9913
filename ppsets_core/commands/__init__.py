"""The command line, one file per verb: each says what it does, takes its arguments and runs."""

import sys
from collections.abc import Sequence

from ppsets_core.files import Refused

MOST_REFUSED = 20


def say(sentence: str) -> None:
    """Print on standard error."""
    print(sentence, file=sys.stderr, flush=True)


def say_refused(refused: Sequence[Refused]) -> None:
    """Name what was left out and why, the first few."""
    for item in refused[:MOST_REFUSED]:
        say(f"left out {item.name}: {item.reason}")
    if len(refused) > MOST_REFUSED:
        say(f"left out {len(refused) - MOST_REFUSED} more")
