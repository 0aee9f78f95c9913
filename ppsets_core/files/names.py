"""Text from strangers' files: safe to show, safe in a spreadsheet, which spellings are one name, and which names of
columns mean something."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

LONGEST = 400
MAX_TEXT = 1_000
"""Letters of a text, as it is written and as it is compared."""
GROWTH = 18
"""Letters that one letter may become when it is compared: U+FDFA is a whole sentence."""
NAMES_AT_ONCE = 256
LETTERS_AT_ONCE = 1_024  # a longer text would keep other threads waiting
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
NUMBER = re.compile(r"(?m)^(-?)0*+(?:([1-9][0-9]*+)|(?<=0))(?:\.0*+)?$")  # never tries anything twice
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
CLUTTER = {"__macosx", "thumbs.db", "desktop.ini"}


def visible(text: str) -> str:
    """The text without control, direction or unprintable characters."""
    return "".join(c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c) not in HIDDEN)


def same_names(names: Sequence[str]) -> list[str]:
    """Each name as it is compared: alike in any Unicode form or case, whatever invisible signs or spaces it has,
    whether a number is written 17, 017 or 17.0, with or without the sign that keeps a spreadsheet from running it.
    What is not plain ASCII is normalised once, few names at a time, as there may be millions."""
    found, known = list[str](), dict[str, str]()
    for start in range(0, len(names), NAMES_AT_ONCE):
        some = names[start : start + NAMES_AT_ONCE]
        if "".join(some).isascii():
            found += _same(some)
            continue
        for few in _few_letters(dict.fromkeys(name for name in some if name not in known)):
            known.update(zip(few, _same(few), strict=True))
        found += [known[name] for name in some]
    return found


def same_name(name: str) -> str:
    return same_names([name])[0]


def is_too_long(text: str) -> bool:
    """Whether a text has too many letters, as it is written or as it is compared."""
    return len(text) > MAX_TEXT or len(text) + grown_letters(text) > MAX_TEXT


def grown_letters(text: str) -> int:
    """How many letters a text may gain when it is compared, told from its letters alone."""
    return 0 if text.isascii() else sum(map(_gained, text))


@lru_cache(1 << 16)
def _gained(letter: str) -> int:
    return len(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", letter).casefold())) - 1


def _few_letters(names: Iterable[str]) -> Iterator[list[str]]:
    some, letters = list[str](), 0
    for name in names:
        some.append(name)
        letters += len(name)
        if letters > LETTERS_AT_ONCE:
            yield some
            some, letters = [], 0
    if some:
        yield some


def _same(names: Sequence[str]) -> list[str]:
    text = "\n".join(names)
    if text.count("\n") != len(names) - 1:
        text = "\n".join(name.replace("\n", " ") for name in names)
    if text.isascii() and not CONTROL.search(text):
        text = text.lower()
    else:
        text = unicodedata.normalize("NFKC", _seen(unicodedata.normalize("NFKC", text)).casefold())
    if " " in text or "'" in text:
        text = re.sub("(?m)^ +| +$", "", re.sub(" {2,}", " ", re.sub("'(?= *[=+@-])", "", text)))
    if "." in text or "\n0" in (lines := f"\n{text}") or "\n-0" in lines:
        text = NUMBER.sub(lambda found: f"{found[1]}{found[2] or '0'}", text)
    return text.split("\n")


def clean_name(name: str) -> str:
    """The name as it is written, but for spaces to spare and signs that nobody sees."""
    return " ".join(_seen(unicodedata.normalize("NFC", name)).split())


def _seen(text: str) -> str:
    """The text with every space a plain one, and without what nobody sees; its lines stay."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    signs = set(text) - {"\n", " "}
    changed = {ord(c): "" for c in signs if unicodedata.category(c) in HIDDEN or BLANK.match(c)}
    changed |= {ord(c): " " for c in signs if c.isspace()}
    return text.translate(changed) if changed else text


def shown_name(name: str) -> str:
    """The name on one line, without hidden characters, its end kept if it is very long."""
    text = " ".join(visible(name[-4 * LONGEST :]).split())
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


# Columns that mean something, under any name and case, and the words for rows a model was trained on

ALIASES = {
    "scores": "score",
    "labels": "label",
    "splits": "split",
    **dict.fromkeys(("patients", "patient_id", "patientid", "patient id", "subject", "subject_id"), "patient"),
    "familiarity": "novelty",
    "probs": "probabilities",
    "softmax": "probabilities",
}
RESERVED = {"score", "label", "patient", "model", "split", "novelty", "probabilities", "classes"}
TEXT = frozenset({"label", "patient", "model", "split"})
IGNORED = {"", "file", "index", "id"}
TRAINING = frozenset({"train", "training"})
SEEN = "the model has learnt from them, so that their scores are too good and no promise would hold"


def column_name(raw: str) -> str:
    """A header cell as the name it stands for: reserved names in any case and number."""
    name = unquoted(str(raw).strip())
    folded = name[:LONGEST].casefold()
    folded = ALIASES.get(folded, folded)
    return folded if folded in RESERVED | IGNORED else name


def is_training(split: str | None) -> bool:
    """Whether the column `split` says that the model was trained on the row."""
    return (split or "").strip().casefold() in TRAINING
