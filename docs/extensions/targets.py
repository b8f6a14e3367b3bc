"""A check of the finished site: every link leads to a page, and to a place on it.

Sphinx checks what its own roles refer to, and MyST what Markdown links to; this looks
at what came out, whoever made it. Links to other sites are left alone: nothing is
fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

from worldline._version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)


class Page(HTMLParser):
    """What a page links to, and the ids that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, and its id."""
        for key, value in attrs:
            if key in {"href", "src"} and value:
                self.links.append(value)
            elif key == "id" and value:
                self.ids.add(value)


def broken(site: Path) -> Iterator[str]:
    """Yield each link of a site that leads nowhere, after the page that has it."""
    for path in sorted(site.rglob("*.html")):
        for link in sorted(set(_read(path).links)):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.exists():
                yield f"{path.relative_to(site)}: {link}: there is no such file"
            elif parts.fragment and not _has(to, unquote(parts.fragment)):
                yield f"{path.relative_to(site)}: {link}: there is no such place"


@cache
def _read(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


def _has(file: Path, place: str) -> bool:
    return file.suffix != ".html" or place in _read(file).ids


def check(app: Sphinx, error: Exception | None) -> None:
    """Warn of the links of a finished site that are broken."""
    if error is None and app.builder.format == "html":
        for line in broken(Path(app.outdir)):
            logger.warning("%s", line, type="links")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the check."""
    app.connect("build-finished", check)
    return {"version": __version__, "parallel_read_safe": True}
