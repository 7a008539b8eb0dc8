"""Formulas as MathML, made at build time; browsers need no script.

A formula of its own is cut where it may go on in another line, since browsers do not
break one `math` element: after a wide space, and if need be before a sign.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError

__all__ = ["setup"]

NORM = "\N{DOUBLE VERTICAL LINE}"
FENCE = '<mo stretchy="false" lspace="0" rspace="0">'
SIGNS = ("+", "\N{MINUS SIGN}", "=")
WIDE, NARROW = ("1em", "2em"), "\N{NO-BREAK SPACE}"
OPENING = ("s.t.",)  # words that do not end a line
MATHML = "http://www.w3.org/1998/Math/MathML"
# What stands below, not beside, an operator in a formula of its own.
LIMITS = re.compile(
    r"<msub>(<mo>(?:max|min)</mo>(?:(?!</?msub>).|<msub>.*?</msub>)*?)</msub>"
)
# Functions have a name, not the space of an operator.
NAMES = re.compile(r"<mo>(?!max|min)([A-Za-z]{2,})</mo>")


def _mathml(node: nodes.Element, display: str) -> str:
    """Return a formula; where the converter leaves a command as it is, fail."""
    text = re.sub(r"\\[lr]Vert\b", NORM, " ".join(node.astext().split()))
    found = re.sub(r"&#x0*2016;", NORM, str(convert(text, display=display)))
    # With an exponent a fence does not grow, so its partner does not either.
    found = re.sub(f"<m[io][^>]*>{NORM}</m[io]>", f"{FENCE}{NORM}</mo>", found)
    if left := re.search(r"\\(?:[A-Za-z]+|\S)?", found):
        raise ExtensionError(f"no MathML for {left[0]!r} in {node.astext()!r}")
    return NAMES.sub(r"<mi>\1</mi>", found)


def _clauses(formula: str) -> list[list[str]]:
    """Return the parts of a formula between which a line may end, clause by clause."""
    ElementTree.register_namespace("", MATHML)
    row = ElementTree.fromstring(LIMITS.sub(r"<munder>\1</munder>", formula))[0]
    clauses: list[list[list[ElementTree.Element]]] = [[[]]]
    depth, norm = 0, False
    for child in row:
        text = "".join(child.itertext())
        if depth == 0 and not norm and (last := clauses[-1][-1]):
            if last[-1].get("width") in WIDE and _text(last) not in OPENING:
                clauses.append([[]])
            elif text in SIGNS:
                child.set("form", "infix")  # first in its part, it would be a prefix
                clauses[-1].append([])
            elif _text(last[-1:]) == NARROW:
                clauses[-1].append([])
        clauses[-1][-1].append(child)
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        norm ^= text.count(NORM) % 2 == 1
    return [[_whole(part) for part in clause] for clause in clauses]


def _text(part: list[ElementTree.Element]) -> str:
    return "".join(text for element in part for text in element.itertext())


def _whole(part: list[ElementTree.Element]) -> str:
    whole = ElementTree.Element(f"{{{MATHML}}}math", {"displaystyle": "true"})
    ElementTree.SubElement(whole, f"{{{MATHML}}}mrow").extend(part)
    return ElementTree.tostring(whole, encoding="unicode")


def _inline(translator: Any, node: nodes.Element) -> None:
    translator.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.Element) -> None:
    described = escape(" ".join(node.astext().split()), quote=True)
    translator.body.append(f'<div class="formula" role="math" title="{described}">')
    for clause in _clauses(_mathml(node, "block")):
        translator.body.append(f"<span>{' '.join(clause)}</span>\n")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Add the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
