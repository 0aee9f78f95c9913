"""Text in a CSV that a spreadsheet shows and never runs."""

import re

# The wide signs too: some spreadsheets take them alike. Behind a semicolon or the like as well: where it is the custom
# to part cells by it, a spreadsheet does so within a cell of ours, whatever its quotes.
_SIGN = r"[=+\-@＝＋－＠]"
_FORMULA = re.compile(rf"(^\s*+|[;\t\r\n|]\s*+(?:\"\s*+)?)(?={_SIGN})")
_QUOTE = re.compile(rf"^'(?=\s*{_SIGN})")


def unquoted(text: str) -> str:
    """The text without the sign that `plain_cell` put before it."""
    return _QUOTE.sub("", text)


def plain_cell(text: str) -> str:
    """The text, quoted where a spreadsheet would take it, or a part of it, for a formula.

    >>> plain_cell("=1+1"), plain_cell("ward 3"), plain_cell("a.png;=1+1")
    ("'=1+1", 'ward 3', "a.png;'=1+1")
    """
    if text[:1] in ("\t", "\r", "\n"):
        text = f"'{text}"
    return _FORMULA.sub(lambda found: f"'{found[0]}" if found.start() == 0 else f"{found[0]}'", text)
