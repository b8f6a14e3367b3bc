"""The parts of docs/results.md that scripts write: each between two comments."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "docs/results.md"


class Part:
    """What a script has to say: printed at once, and written to the page if wanted.

    Parameters
    ----------
    name
        The script, as the comments of the page have it.
    """

    def __init__(self, name: str, page: Path = RESULTS) -> None:
        self._name = name
        self._page = page
        self._said: list[str] = []

    def say(self, text: str) -> None:
        """Print a paragraph or a table."""
        print(text, end="\n\n", flush=True)
        self._said.append(text)

    def write(self) -> None:
        """Replace the part of the page by what was said.

        Raises
        ------
        SystemExit
            If the page has no such part.
        """
        first, last = (f"<!-- {self._name}: {which} -->" for which in ("begin", "end"))
        page = self._page.read_text()
        before, found, rest = page.partition(first)
        _, ends, after = rest.partition(last)
        if not found or not ends:
            raise SystemExit(f"{self._page} has no lines {first!r} and {last!r}")
        said = "\n\n".join(self._said)
        self._page.write_text(f"{before}{first}\n\n{said}\n\n{last}{after}")
