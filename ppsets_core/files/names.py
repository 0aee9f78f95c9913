"""File names as text that is safe to show: names come from strangers' archives."""

import unicodedata

LONGEST = 400
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
CLUTTER = {"__macosx", "thumbs.db", "desktop.ini"}


def visible(text: str) -> str:
    """The text without control, direction or unprintable characters."""
    return "".join(c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c) not in HIDDEN)


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
