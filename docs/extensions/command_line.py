"""Entries of the verbs of ``worldline``, made from the parsers that read them.

The directive ``verb`` takes the name of a verb, and tells what ``--help`` tells: usage,
description, every argument and option, examples. `all_options` is the list of what has
to have an entry.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from worldline._version import __version__
from worldline.cli.main import VERBS, build_parser

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

WIDTH = 88


def parsers(parser: argparse.ArgumentParser | None = None) -> dict[str, Any]:
    """Return all parsers below one, that of ``worldline`` by default, by their words."""
    parser = build_parser() if parser is None else parser
    found = {parser.prog: parser}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                found |= parsers(below)
    return found


def all_options() -> Iterator[tuple[str, str]]:
    """Yield the words of each parser with each flag that it knows."""
    for words, parser in parsers().items():
        for action in parser._actions:
            for flag in action.option_strings:
                yield words, flag


def entry(words: str) -> Iterator[str]:
    """Yield the entry of a verb, or of the command itself, in reStructuredText.

    Parameters
    ----------
    words
        The command as far as its arguments, such as ``worldline zoo run``.
    """
    parser = parsers()[words]
    formatter = argparse.HelpFormatter(prog=parser.prog, width=WIDTH)
    formatter.add_usage(parser.usage, parser._actions, [], "")
    yield from [f".. program:: {words}", ""]
    yield from _block("text", formatter.format_help().strip())
    yield from _prose(parser.description or "")
    for group in parser._action_groups:
        yield from _group(group)
    yield from _prose(parser.epilog or "")
    for below in parsers(parser):
        if below != words != "worldline":  # verbs have places of their own
            yield from [f".. rubric:: {below}", "", *entry(below)]


def _group(group: Any) -> Iterator[str]:
    """Yield the entries of the arguments in a group of them."""
    listed = [one for one in group._group_actions if one.help != argparse.SUPPRESS]
    listed = [one for one in listed if not isinstance(one, argparse._SubParsersAction)]
    if not listed:
        return
    if group.description:
        yield from [f"**{_plain(group.title)}.** {_plain(group.description)}", ""]
    for action in listed:
        # Of what takes a value, usage says it once, behind the last of its names.
        formatter = argparse.HelpFormatter(prog="", width=1_000)
        names = formatter._format_action_invocation(action)
        said = formatter._expand_help(action) if action.help else ""
        yield from [f".. option:: {names}", ""]
        yield from [
            *textwrap.wrap(
                _plain(said), WIDTH, initial_indent="   ", subsequent_indent="   "
            ),
            "",
        ]


def _prose(text: str) -> Iterator[str]:
    """Yield a text of ``--help``: paragraphs, and whatever is indented as it stands."""
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        lines = part.splitlines()
        while lines:
            shown = lines[0].startswith(" ")
            count = next(
                (n for n, line in enumerate(lines) if line.startswith(" ") != shown),
                len(lines),
            )
            taken, lines = lines[:count], lines[count:]
            if shown:
                yield from _block("text", textwrap.dedent("\n".join(taken)))
            else:
                yield from [*map(_plain, taken), ""]


def _block(language: str, text: str) -> Iterator[str]:
    yield from [f".. code-block:: {language}", ""]
    yield from [*textwrap.indent(text, "   ").splitlines(), ""]


def _plain(text: str) -> str:
    """Return a text with what reStructuredText would take for markup as it is."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


class VerbEntry(SphinxDirective):
    """The entry of one verb, which its argument names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the entry."""
        name = self.arguments[0]
        words = "worldline" if name == "worldline" else f"worldline {name}"
        if words not in parsers():
            raise ExtensionError(f"there is no verb {name}; {', '.join(VERBS)}")
        source, line = self.get_source_info()
        lines = StringList()
        for one in entry(words):
            lines.append(one, source, line)
        parent = nodes.Element()
        self.state.nested_parse(lines, 0, parent)
        return parent.children


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("verb", VerbEntry)
    return {"version": __version__, "parallel_read_safe": True}
