"""Text that strangers wrote (file names, labels, data sets) as Markdown that shows it, letter for letter."""

import re

from ppsets_core.files.names import visible

_INVISIBLE = "\u2060"  # word joiner: breaks what Markdown would read into a word, and is not seen


def as_text(text: str) -> str:
    """Escaped so that nothing in it becomes markup, a link, an emoji, a colour or a formula.

    >>> as_text("*x* <b>")
    '\\\\*x\\\\* \\\\<b\\\\>'
    """
    plain = visible(" ".join(text.split()))
    apart = re.sub(r"[-<>=!~](?=[-<>=])", lambda match: match.group() + _INVISIBLE, plain)  # -> would become an arrow
    escaped = re.sub(r"([\\`*_{}\[\]()<>#+.!|~$&^=-])", r"\\\1", apart)
    return re.sub(r":(?=\S)|(?<=www)(?=\\\.)|(?=@)", lambda match: match.group() + _INVISIBLE, escaped)
