"""Pages of the guide, played: their files are written, their commands run, in order.

A page is a sequence of fenced blocks. Which file a block is about is the last name in
backquotes before it:

* ``python`` or ``toml`` after such a name and a colon is that file. Without a name it
  is Python that is executed, all such blocks of a page in one namespace.
* ``diff`` after such a name changes the file, which has the lines of its context once.
* ``console`` is commands and what they print; a line of three dots is any lines.
  ``worldline`` and ``python FILE`` run in this process, all else in a shell.

A file that a page does not give is there from the beginning, as the page that gives it
leaves it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.command import run
from tests.test_minimizing_page import agrees

BIN = Path(sys.executable).parent
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"

FENCED = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.M | re.S)
PROGRAM = re.compile(r"python (?P<file>\w+\.py)")
NAMED = re.compile(r"`(?P<file>\w+\.(?:py|toml))`[^`]*:\n\n?\Z")


@dataclass(frozen=True)
class Block:
    """A fenced block, and the file that the text before it names, if it is about one."""

    language: str
    body: str
    file: str | None


@dataclass
class Player:
    """What has been made of a page so far.

    Attributes
    ----------
    library
        What each page gives: its files as they are at its end, by name.
    mistakes
        Of commands that print something else: the command, and what it printed.
    """

    folder: Path
    library: Mapping[str, str]
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})
    mistakes: list[tuple[str, str]] = field(default_factory=list)

    def play(self, page: Path) -> None:
        """Do what all blocks of a page say."""
        own = {block.file for block in blocks(page)}
        for name, text in self.library.items():
            if name not in own:
                (self.folder / name).write_text(text, "utf-8")
        for block in blocks(page):
            if block.language == "console":
                self.commands(block.body)
            elif block.file is not None:
                write(self.folder / block.file, block)
            elif block.language == "python":
                exec(block.body, self.namespace)

    def commands(self, body: str) -> None:
        """Run the commands of a block, and keep those that print something else."""
        for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
            line, _, shown = part.partition("\n")
            printed = self.printed(line)
            if shown + printed and not agrees(shown, printed):
                self.mistakes.append((line, printed))

    def printed(self, line: str) -> str:
        """Return what a command line prints."""
        command, _, rest = line.partition(" | ")
        forget(self.folder)
        if program := PROGRAM.fullmatch(command):
            return self._program(program["file"])
        if not command.startswith("worldline "):
            return self._shell(line, "")
        result = run(*shlex.split(command)[1:])
        if rest:
            return result.err + self._shell(rest, result.out)
        return result.err + result.out

    def _program(self, file: str) -> str:
        out = io.StringIO()
        sys.path.insert(0, str(self.folder))
        try:
            with contextlib.redirect_stdout(out):
                runpy.run_path(str(self.folder / file), run_name="__main__")
        finally:
            sys.path.remove(str(self.folder))
        return out.getvalue()

    def _shell(self, line: str, given: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return done.stdout


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    text = page.read_text("utf-8")
    for match in FENCED.finditer(text):
        named = NAMED.search(text, 0, match.start())
        is_command = match["language"] == "console"
        file = None if named is None or is_command else named["file"]
        yield Block(match["language"], match["body"], file)


def write(path: Path, block: Block) -> None:
    """Write or change the file that a block is about."""
    if block.language != "diff":
        path.write_text(block.body, "utf-8")
        return
    lines = block.body.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -")
    after = "".join(line[1:] for line in lines if line[0] in " +")
    text = path.read_text("utf-8")
    assert text.count(before) == 1, f"{path.name} has not once:\n{before}"
    path.write_text(text.replace(before, after), "utf-8")


def forget(folder: Path) -> None:
    """Forget what was imported from a folder, since its files may have changed."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and Path(file).parent == folder:
            del sys.modules[name]


def library(folder: Path) -> dict[str, str]:
    """Return the files that all pages give, each as it is at the end of its page."""
    found: dict[str, str] = {}
    for page in sorted(GUIDE.glob("*.md")):
        given = {b.file: b for b in blocks(page) if b.file and b.language != "diff"}
        twice = [name for name in given if name in found]
        assert not twice, f"{page.name} gives {twice}, as another page does"
        for block in blocks(page):
            if block.file is not None:
                write(folder / block.file, block)
        for name in given:
            found[name] = (folder / name).read_text("utf-8")
    return found
