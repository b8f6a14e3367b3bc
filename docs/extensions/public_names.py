"""Entries of public names, made from their docstrings.

The directive ``public`` takes names of `worldline` and writes an entry for each. In
docstrings, a public name between backticks becomes a link to its entry, and any other
text between backticks is code.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.statemachine import StringList
from pygments.lexers.special import TextLexer
from sphinx.domains.python._object import PyObject
from sphinx.errors import ExtensionError
from sphinx.util.docfields import GroupedField
from sphinx.util.docutils import SphinxDirective

import worldline

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

QUOTED = re.compile(r"(?<![`:\w])`([^`]+)`(?![`_])")
"""Text between single backticks, which docstrings use for names."""


TRAILING = re.compile(r"^(:(?:param|type) \w+)_:")
"""The field of a parameter whose name ends with an underscore."""


def entry(name: str) -> Iterator[str]:
    """Yield the lines that make the entry of a public name, in reStructuredText.

    Raises
    ------
    ExtensionError
        If there is no such public name.
    """
    if name not in worldline.__all__:
        raise ExtensionError(f"worldline.{name} is no public name")
    item: Any = getattr(worldline, name)
    if isinstance(item, ModuleType):
        yield from _module(name, item)
    elif isinstance(item, type):
        kind = "autoexception" if issubclass(item, BaseException) else "autoclass"
        members = ["   :undoc-members:"] if issubclass(item, Enum) else []
        yield from [f".. {kind}:: worldline.{name}", *members, ""]
    elif callable(item):
        yield from [f".. autofunction:: worldline.{name}", ""]
    else:
        yield from [f".. autodata:: worldline.{name}", ""]


def _module(name: str, module: ModuleType) -> Iterator[str]:
    """Yield the entries of a module and of what it defines, under its public name."""
    path = f"worldline.{name}"
    sys.modules[path] = module  # it is imported by its public name here
    yield from [f".. automodule:: {path}", "   :no-members:", ""]
    for member in defined(module):
        kind = "class" if inspect.isclass(getattr(module, member)) else "function"
        yield from [f".. auto{kind}:: {path}.{member}", ""]


def defined(module: ModuleType) -> list[str]:
    """Return the public classes and functions that a module defines, in its order."""
    return [
        name
        for name, item in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(item) or inspect.isfunction(item))
        and item.__module__ == module.__name__
    ]


class Public(SphinxDirective):
    """Entries of the public names that it contains, one on each line."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the entries."""
        source, line = self.get_source_info()
        lines = StringList()
        for name in self.content:
            for one in entry(name.strip()):
                lines.append(one, source, line)
        parent = nodes.Element()
        self.state.nested_parse(lines, 0, parent)
        return parent.children


def link_names(
    app: Sphinx, what: str, name: str, item: Any, options: object, lines: list[str]
) -> None:
    """Turn what stands between backticks in a docstring into links and code."""
    owner = name if isinstance(item, type) else name.rpartition(".")[0]
    kind = public(owner)
    own = set(dir(kind)) if isinstance(kind, type) else set()
    given = set(parameters(item))

    def linked(quoted: re.Match[str]) -> str:
        text = quoted[1]
        target = text.removesuffix("()").removeprefix("worldline.")
        if target in own:
            return f":py:obj:`{text} <{owner}.{target}>`"
        is_public = target.partition(".")[0] in worldline.__all__
        if is_public and target not in given:
            return f":py:obj:`{text} <worldline.{target}>`"
        return f"``{text}``"

    for number, line in enumerate(lines):
        lines[number] = QUOTED.sub(linked, line)


def parameters(item: Any) -> list[str]:
    """Return the names of what is given to a function or class; of others none."""
    try:
        return list(inspect.signature(item).parameters)
    except (TypeError, ValueError):
        return []


def public(path: str) -> object:
    """Return what a path such as ``worldline.Host`` names; None if it is no name."""
    item: object = sys.modules.get("worldline")
    for name in path.split(".")[1:]:
        item = getattr(item, name, None)
    return item


def skip_fields(
    app: Sphinx, what: str, name: str, item: object, skip: bool, options: object
) -> bool | None:
    """Leave out what is not told in a docstring of its own, and is no method."""
    if name.startswith("_"):
        return True
    if inspect.isfunction(item) or isinstance(item, property | classmethod):
        return False
    return None


def keep_underscores(
    app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]
) -> None:
    """Keep a parameter such as ``from_`` from being read as a reference."""
    for number, line in enumerate(lines):
        lines[number] = TRAILING.sub(r"\1\\_:", line)


def describe_attributes(app: Sphinx) -> None:
    """Tell several attributes together, as docstrings do, under their own heading."""
    attributes = GroupedField("variable", ("ivar",), "Attributes", can_collapse=True)
    fields = PyObject.doc_field_types
    PyObject.doc_field_types = [
        attributes if field.name == "variable" else field for field in fields
    ]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive, and what is done with docstrings."""
    app.connect("builder-inited", describe_attributes)
    app.add_directive("public", Public)
    app.add_lexer("dedalus", TextLexer)
    app.connect("autodoc-process-docstring", link_names, priority=400)
    app.connect("autodoc-process-docstring", keep_underscores, priority=600)
    app.connect("autodoc-skip-member", skip_fields)
    return {"version": worldline.__version__, "parallel_read_safe": True}
