"""How the documentation is built: Sphinx, furo, MyST; warnings are errors (see the Makefile)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite import __version__

_ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(_ROOT / "tools"), str(_ROOT)]  # the laboratory is not installed with the library
import notebooks

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "bipartite"
copyright = "2026, the bipartite founders"  # noqa: A001 (Sphinx names it so)
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"bipartite {__version__}"
exclude_patterns = ["_build"]
nitpicky = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_custom_sections = ["Guarantee", "Reference"]
html_static_path = ["_static"]
html_css_files = ["readable.css"]


def _leave_out_what_python_says(
    _app: Sphinx, what: str, _name: str, found: object, _options: object, lines: list[str]
) -> None:
    """A constant without words of its own would get those of its type: what int does, for each number."""
    if what == "data" and found.__doc__ == type(found).__doc__:
        lines.clear()


def setup(app: Sphinx) -> None:
    """Run the notebooks before pages are read, and make pages of them."""
    app.connect("builder-inited", lambda _: notebooks.build())
    app.connect("autodoc-process-docstring", _leave_out_what_python_says)
