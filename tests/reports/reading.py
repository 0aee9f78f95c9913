"""A report as its reader has it: words, elements, and whatever it would fetch."""

from html.parser import HTMLParser


class Read(HTMLParser):
    """The text of a page, its elements, and every address that it names."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.words, self.elements, self.addresses = "", [], []
        self.feed(document)
        self.words = " ".join(self.words.split())

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.addresses += [value for key, value in attrs if key in ("src", "href", "srcset", "action", "data")]

    def handle_data(self, data):
        self.words += f" {data}"
