"""Text in a CSV that a spreadsheet shows and never runs."""

FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # the wide ones too: some spreadsheets take them alike


def plain_cell(text: str) -> str:
    """The text, quoted where a spreadsheet would take it for a formula.

    >>> plain_cell("=1+1"), plain_cell("ward 3")
    ("'=1+1", 'ward 3')
    """
    return f"'{text}" if text.lstrip().startswith(FORMULA_STARTS) or text[:1] in ("\t", "\r", "\n") else text
