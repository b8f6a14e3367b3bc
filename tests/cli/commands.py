"""Run commands, one after the other in one process, and print what each did.

``python -m tests.cli.commands FOLDER < commands.json``: a list of lists of arguments. So
whatever depends on the hash seed can be compared between few processes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from pathlib import Path

from tests.cli.command import run

_MEASURED = re.compile(
    r"\d[\d,]*(\.\d+)?(?= s\b|/s| states/s| MiB)|(?<=seconds\": )[\d.]+"
    r"|(?<=peak_mb\": )[\d.]+"
)


def _digest(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix != ".wl":
        content = _MEASURED.sub("N", content.decode()).encode()
    return hashlib.sha256(content).hexdigest()


def outcome(command: list[str], folder: Path) -> list[object]:
    """Run a command in a folder of its own; return its status, text and files."""
    folder.mkdir(parents=True)
    before = Path.cwd()
    os.chdir(folder)
    try:
        result = run(*command)
    finally:
        os.chdir(before)
    files = {
        str(path.relative_to(folder)): _digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    text = _MEASURED.sub("N", result.out + result.err)
    return [result.status, text.splitlines(), files]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    given: list[list[str]] = json.load(sys.stdin)
    done = [outcome(one, place / str(number)) for number, one in enumerate(given)]
    json.dump(done, sys.stdout)
