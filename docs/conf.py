"""How the documentation is built: Sphinx, furo, MyST; warnings are errors (see the Makefile)."""

from bipartite import __version__

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
