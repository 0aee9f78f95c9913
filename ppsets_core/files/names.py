"""Text from strangers' files: safe to show, safe in a spreadsheet, and which spellings are one name."""

import re
import unicodedata
from collections.abc import Sequence

LONGEST = 400
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
NUMBER = re.compile(r"(?m)^(-?)0*+(?:([1-9][0-9]*+)|(?<=0))(?:\.0*+)?$")  # never tries anything twice
CLUTTER = {"__macosx", "thumbs.db", "desktop.ini"}


def visible(text: str) -> str:
    """The text without control, direction or unprintable characters."""
    return "".join(c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c) not in HIDDEN)


def same_names(names: Sequence[str]) -> list[str]:
    """Each name as it is compared: alike in any Unicode form or case, whatever invisible signs or spaces it has,
    whether a number is written 17, 017 or 17.0, with or without the sign that keeps a spreadsheet from running it.
    All at once, as there may be millions."""
    text = "\n".join(names)
    if text.count("\n") != len(names) - 1:
        text = "\n".join(name.replace("\n", " ") for name in names)
    text = unicodedata.normalize("NFKC", _seen(unicodedata.normalize("NFKC", text)).casefold())
    text = re.sub("(?m)^ +| +$", "", re.sub(" {2,}", " ", re.sub("'(?= *[=+@-])", "", text)))
    return NUMBER.sub(lambda found: f"{found[1]}{found[2] or '0'}", text).split("\n") if len(names) else []


def same_name(name: str) -> str:
    return same_names([name])[0]


def clean_name(name: str) -> str:
    """The name as it is written, but for spaces to spare and signs that nobody sees."""
    return " ".join(_seen(unicodedata.normalize("NFC", name)).split())


def _seen(text: str) -> str:
    """The text with every space a plain one, and without what nobody sees; its lines stay."""
    signs = set(text) - {"\n"}
    hidden = {ord(c): "" for c in signs if unicodedata.category(c) in HIDDEN or BLANK.match(c)}
    return text.translate(hidden | {ord(c): " " for c in signs if c.isspace()})


def shown_name(name: str) -> str:
    """The name on one line, without hidden characters, its end kept if it is very long."""
    text = " ".join(visible(name).split())
    if len(text) > LONGEST:
        text = "…" + text[1 - LONGEST :]
    return text or "unnamed"


def relative_name(name: str) -> str:
    """An upload's name with forward slashes, without drive, root, `.` or `..`: for people, never a path to open."""
    parts = name.replace("\\", "/").split("/")
    return "/".join(p for p in parts if p not in ("", ".", "..") and not p.endswith(":"))


def is_clutter(name: str) -> bool:
    """Whether an operating system left the file there (hidden files, macOS resource forks, Windows thumbnails)."""
    parts = [part for part in name.split("/") if part not in (".", "..")]
    return any(part.startswith(".") or part.lower() in CLUTTER for part in parts)


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
