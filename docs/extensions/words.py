"""Words of the glossary, linked where a page first uses them, and other cross-references.

A word is in bold at the beginning of a row of ``docs/glossary.md``. Where a page has one
in its text for the first time, outside headings and code, it becomes a link to that
row, whose meaning is its tooltip. Code that names a page (``docs/zoo.md``) or a public
name (``wl.check``) becomes a link as well: pages stay as they are read in a checkout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

import worldline

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

GLOSSARY = "glossary"
PAGES = {
    "On the inside": ("design", "contributing", "results"),
    "Faults from lineage": (
        *("design", "contributing", "results"),
        *("faults", "dedalus", "molly", "zoo", "guide/lineage", "reference/faults"),
    ),
}
"""Sections of the glossary whose words mean something else on other pages."""

EVERYDAY = """
assume budget bug call change choice control cost decision deaf diverge down draw due
entry fate follow form gather goal gone id key kind left life link live operation origin
part plain put shape site span stage stale stop stream table turn wait weather weight
word world
""".split()  # noqa: SIM905 -- so many are easier to read as words
"""Words that most sentences use in their everyday meaning: a link would mislead."""

NOT_WITHIN = (
    nodes.literal,
    nodes.literal_block,
    nodes.reference,
    nodes.title,
    nodes.rubric,
    nodes.raw,
    nodes.field_name,
    addnodes.desc_signature,
    addnodes.pending_xref,
    addnodes.literal_strong,
    addnodes.toctree,
)
PAGE = re.compile(r"(?:docs/)?([\w-]+(?:/[\w-]+)*)\.md")
NAME = re.compile(r"@?wl\.(\w+)(?:\(.*\))?", re.S)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the glossary: its section, where its row is, and what that says."""

    target: str
    meaning: str
    section: str


def rows(glossary: nodes.document) -> Iterator[tuple[nodes.row, list[str], str]]:
    """Yield the rows of the glossary with their words and the title of their section."""
    for row in glossary.findall(nodes.row):
        first = row.children[0]
        words = [bold.astext() for bold in first.findall(nodes.strong)]
        if not words:
            continue
        section: Any = row.parent
        while not isinstance(section, nodes.section):
            section = section.parent
        yield row, words, section.children[0].astext()


class NameRows(SphinxTransform):
    """Rows of the glossary get ids, and their words become known."""

    default_priority: ClassVar[int | None] = 500

    def apply(self, **kwargs: Any) -> None:
        """Read the glossary."""
        if self.env.docname != GLOSSARY:
            return
        words: dict[str, Word] = {}
        for row, names, section in rows(self.document):
            target = "word-" + nodes.make_id(names[0])
            row["ids"].append(target)
            meaning = row.children[1].astext()
            for name in names:
                words[name] = Word(target, meaning, section)
        self.env.worldline_words = words  # type: ignore[attr-defined]


class LinkCode(SphinxTransform):
    """Code that names a page or a public name becomes a link."""

    default_priority: ClassVar[int | None] = 500

    def apply(self, **kwargs: Any) -> None:
        """Wrap each in a reference that Sphinx resolves."""
        for code in list(self.document.findall(nodes.literal)):
            if isinstance(code.parent, nodes.reference | addnodes.pending_xref):
                continue
            text = code.astext()
            page, name = PAGE.fullmatch(text), NAME.fullmatch(text)
            if page and page[1] in self.env.found_docs:
                link = self._link("std", "doc", f"/{page[1]}")
            elif name and name[1] in worldline.__all__:
                link = self._link("py", "obj", f"worldline.{name[1]}")
            else:
                continue
            code.parent.replace(code, link)
            link += code

    def _link(self, domain: str, kind: str, target: str) -> addnodes.pending_xref:
        return addnodes.pending_xref(
            "",
            refdomain=domain,
            reftype=kind,
            reftarget=target,
            refdoc=self.env.docname,
            refexplicit=True,
            refwarn=True,
        )


def link_words(app: Sphinx, page: nodes.document, name: str) -> None:
    """Link each word of the glossary where a page has it first in its text."""
    words: dict[str, Word] = getattr(app.env, "worldline_words", {})
    left = {
        word: where
        for word, where in words.items()
        if word.lower() not in EVERYDAY and name in PAGES.get(where.section, (name,))
    }
    if name == GLOSSARY or not left:
        return
    uri = app.builder.get_relative_uri(name, GLOSSARY)
    pattern = _pattern(left)
    for text in list(page.findall(nodes.Text)):
        if not _is_within(text):
            parts = list(_linked(text.astext(), pattern, left, uri))
            if len(parts) > 1:
                text.parent.replace(text, parts)


def _is_within(text: nodes.Node) -> bool:
    parent = text.parent
    while parent is not None:
        if isinstance(parent, NOT_WITHIN):
            return True
        parent = parent.parent
    return False


def _linked(
    text: str, pattern: re.Pattern[str], left: dict[str, Word], uri: str
) -> Iterator[nodes.Node]:
    """Yield a text in pieces, those that are links taken out of what is left."""
    end = 0
    for found in pattern.finditer(text):
        word = found[1] if found[1] in left else found[1].lower()
        where = left.pop(word, None)
        if where is None:
            continue
        yield nodes.Text(text[end : found.start()])
        yield nodes.reference(
            "",
            found[0],
            internal=True,
            refuri=f"{uri}#{where.target}",
            reftitle=where.meaning,
            classes=["word"],
        )
        end = found.end()
    yield nodes.Text(text[end:])


def _pattern(words: dict[str, Word]) -> re.Pattern[str]:
    """Return what matches any of some words, and their plurals; the longest first."""
    either = "|".join(
        f"(?i:{re.escape(word)})" if word.islower() else re.escape(word)
        for word in sorted(words, key=len, reverse=True)
    )
    return re.compile(rf"(?<![\w./-])({either})(?:e?s)?(?![\w-])")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the transforms."""
    app.add_transform(NameRows)
    app.add_transform(LinkCode)
    app.connect("doctree-resolved", link_words)
    return {"version": worldline.__version__, "env_version": 2}
