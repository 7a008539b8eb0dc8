"""A figure as part of the page."""

from __future__ import annotations

from cdspp.report.page.page import inline_svg


def test_an_inlined_svg_keeps_its_references_and_loses_its_addresses() -> None:
    svg = (
        '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x" "http://www.w3.org/dtd">'
        '<svg xmlns="http://www.w3.org/2000/svg" width="100pt" viewBox="0 0 100 50">'
        "<metadata><a>http://purl.org</a></metadata><style>*{fill:red}</style>"
        '<defs><clipPath id="p1"/></defs><g clip-path="url(#p1)"/>'
        '<use xlink:href="#p1"/></svg>'
    )
    text = inline_svg(svg, prefix="a", label='a "<picture>"')
    assert 'id="a-p1"' in text
    assert 'url(#a-p1)"' in text
    assert 'href="#a-p1"' in text
    assert 'aria-label="a &#34;&lt;picture&gt;&#34;"' in text
    assert "http" not in text
    assert "style>" not in text
