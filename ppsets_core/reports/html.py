"""HTML that cannot be written wrongly: text is escaped wherever it stands, and only `Html` is taken for markup."""

import base64
import html
from collections.abc import Iterable, Mapping, Sequence

from ppsets_core.files.names import visible

VOID = {"img", "meta"}
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""Said to the browser as well: no script, no request, whatever has been uploaded."""
STYLE = """
@page { size: A4; margin: 16mm 15mm 18mm; }
* { box-sizing: border-box; }
body { font: 10.5pt/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: #1a1a1a;
  background: #fff; max-width: 180mm; margin: 0 auto; padding: 0 4mm; overflow-wrap: anywhere; }
h1 { font-size: 19pt; line-height: 1.2; margin: 6mm 0 1mm; }
h2 { font-size: 13pt; margin: 7mm 0 2mm; padding-bottom: 1mm; border-bottom: 1.5pt solid #0072B2; break-after: avoid; }
h3 { font-size: 10.5pt; margin: 0 0 1mm; break-after: avoid; }
p { margin: 0 0 2.5mm; }
ul { margin: 0 0 2.5mm; padding-left: 5mm; }
.lead { color: #555; }
.small { font-size: 9pt; color: #444; }
.whole { white-space: nowrap; }
.warn { border-left: 3pt solid #D55E00; padding: 1mm 3mm; margin: 2mm 0; background: #fdf1e8; }
.numbers { display: flex; flex-wrap: wrap; gap: 2.5mm; margin: 3mm 0; }
.numbers div { border: .75pt solid #bbb; border-radius: 2mm; padding: 1.5mm 3mm; min-width: 24mm; break-inside: avoid; }
.numbers b { display: block; font-size: 15pt; line-height: 1.2; }
.numbers span { font-size: 9pt; color: #444; }
table { border-collapse: collapse; width: 100%; margin: 2mm 0 3mm; font-size: 9.5pt; }
th, td { text-align: left; vertical-align: top; padding: 1mm 2mm; border-bottom: .5pt solid #ccc; }
thead { display: table-header-group; }
thead th { border-bottom: 1pt solid #555; }
tr { break-inside: avoid; }
table.facts { break-inside: avoid; }
table.facts th { width: 42mm; font-weight: 600; }
code { font: 9pt ui-monospace, Consolas, "DejaVu Sans Mono", monospace; }
* { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
@media screen { body { padding-bottom: 20mm; } }
"""


class Html(str):
    """Markup that was put together here."""

    __slots__ = ()


Content = str | None | Sequence["Content"]


def element(name: str, /, *content: Content, **attributes: str) -> Html:
    """One element; `class_` becomes `class`. Nothing in content or attributes can end it early.

    >>> element("p", "1 < 2", element("b", "!"), class_='a"b')
    '<p class="a&quot;b">1 &lt; 2<b>!</b></p>'
    """
    said = "".join(f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"' for key, value in attributes.items())
    inside = "".join(_markup(content))
    return Html(f"<{name}{said}>" if name in VOID else f"<{name}{said}>{inside}</{name}>")


def table(rows: Iterable[Sequence[Content]], header: Sequence[str]) -> Html:
    head = element("thead", element("tr", [element("th", name) for name in header]))
    body = [element("tr", [element("td", cell) for cell in row]) for row in rows]
    return element("table", head, element("tbody", body))


def facts(pairs: Mapping[str, Content]) -> Html:
    """What is what, a line each; what is not known is left out."""
    rows = [element("tr", element("th", name), element("td", value)) for name, value in pairs.items() if value]
    return element("table", element("tbody", rows), class_="facts")


def bullets(sentences: Iterable[Content]) -> Html:
    return element("ul", [element("li", sentence) for sentence in sentences])


def numbers(shown: Mapping[str, str]) -> Html:
    """A few numbers to see first."""
    boxes = [element("div", element("b", value), element("span", name)) for name, value in shown.items()]
    return element("div", boxes, class_="numbers")


def jpeg(data: bytes, alt: str, **attributes: str) -> Html:
    return element("img", src=f"data:image/jpeg;base64,{base64.b64encode(data).decode()}", alt=alt, **attributes)


def page(title: str, *content: Content, style: str = "") -> str:
    """A whole document that needs nothing else: no script, no font, no request."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        Html(f"<style>{STYLE}{style}</style>"),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *content), lang='en')}\n"


def _markup(content: Content) -> Iterable[str]:
    if isinstance(content, Html):
        yield content
    elif isinstance(content, str):
        yield _escaped(content)
    elif content is not None:
        for part in content:
            yield from _markup(part)


def _escaped(text: str) -> str:
    """Without control and direction characters, which could make a name read as another."""
    return html.escape("\n".join(visible(line) for line in text.split("\n")))
