"""Sphinx builds the documentation from this file: `make docs`, docs/_build/html."""

from __future__ import annotations

import sys
from pathlib import Path

from cdspp import __version__

docs = Path(__file__).parent
sys.path[:0] = [str(docs / "extensions"), str(docs.parent)]

project = "cdspp"
author = "The cdspp developers"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.extlinks",
    "sphinx.ext.napoleon",
    "mathml",  # formulas without a script
    "inherited_parameters",  # no parameter is documented by reference
    "markdown_pages",  # Markdown reads well on a code host, too
    "offline",  # no page loads anything from elsewhere
    "python_names",  # bare names of classes and functions are links
    "pages",  # pages made of the library, the schema and the examples
]
exclude_patterns = ["_build", "examples", "gallery"]
nitpicky = True
# What scikit-learn, NumPy and Python call theirs, and types in words.
nitpick_ignore_regex = [(r"py:\w+", r"(?!cdspp\.).*")]
suppress_warnings = ["ref.footnote"]  # references of a method that its text names
smartquotes_action = "D"  # two hyphens are a dash, quotes stay

extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}

default_role = "py:obj"
autodoc_typehints = "none"  # the docstrings say types with their shapes
autodoc_preserve_defaults = True  # as they are written
autodoc_member_order = "bysource"
napoleon_google_docstring = False
# Lists with types in words, which are no links.
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False

myst_heading_anchors = 3

html_theme = "furo"
html_title = f"cdspp {version}"
html_static_path = ["_static"]
html_css_files = ["cdspp.css"]
html_js_files = ["cdspp.js"]
toc_object_entries_show_parents = "hide"
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
