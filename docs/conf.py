"""Configuration of the site: the guide, the pages, and the reference.

`make docs` builds it. The pages are Markdown, read by MyST; the reference is made from
docstrings, and from the parsers of the command line. What is ours to say beyond that
stands in `docs/extensions`.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # where `docs.extensions` is found

from worldline import __version__  # noqa: E402  -- after the path, as all that follows

project = "Worldline"
author = "The Worldline authors"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.extensions.public_names",
    "docs.extensions.command_line",
    "docs.extensions.words",
    "docs.extensions.targets",
]
exclude_patterns = ["extensions"]

# The pages link to headings as they do where the repository is browsed.
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

autodoc_default_options = {
    "members": True,
    "inherited-members": "object,Exception,BaseException,tuple,str,int,Enum",
}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 72
napoleon_google_docstring = False
napoleon_use_ivar = True  # a field is told once, with its class
napoleon_use_rtype = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# TLA+ and P have no lexer here, and are read as they are.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"Worldline {release}"
html_static_path = ["static"]
html_css_files = ["words.css"]
html_show_sphinx = False
html_copy_source = False
