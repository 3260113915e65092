"""Settings of the site that script/docs builds."""

from typing import Any

import dsteval

project = "dsteval"
copyright = "the dsteval contributors"
release = version = dsteval.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"dsteval {release}"
html_show_sphinx = False
myst_heading_anchors = 4
autodoc_typehints = "signature"
autodoc_member_order = "bysource"


def _as_text(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep |S|, the number of slots, from being taken for a substitution."""
    lines[:] = [line.replace("|S|", r"\|S\|") for line in lines]


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _as_text)
