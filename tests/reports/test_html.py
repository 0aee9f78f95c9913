"""The builder: whatever stands in a report, it stays text."""

import pytest

from ppsets_core.reports.html import Html, element, facts, page, table

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><b>", "'&amp;", "<!--", "]]>"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_text_wherever_it_stands(text):
    document = page(text, element("p", text, class_=text), table([[text]], [text]), facts({text: text}), [text, [text]])
    assert text not in document
    assert document.count("<b>") == 0
    assert "<script" not in document
    assert "onerror=" not in document.replace("onerror=alert(1)&gt;", "")


def test_characters_that_hide_or_turn_text_are_left_out():
    assert element("p", "a\u202egnp.exe\u0000\nb") == "<p>agnp.exe\nb</p>"


def test_only_markup_made_here_is_markup():
    assert element("p", Html("<b>x</b>"), None, ["y", "<"]) == "<p><b>x</b>y&lt;</p>"
    assert element("img", alt="") == '<img alt="">'


def test_a_page_forbids_scripts_and_requests():
    assert "default-src 'none'" in page("x").replace("&#x27;", "'")
