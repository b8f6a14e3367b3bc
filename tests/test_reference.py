"""The reference has everything: names, verbs, options and exit codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from docs.extensions.command_line import all_options, entry, parsers
from docs.extensions.public_names import defined
from docs.extensions.public_names import entry as name_entry
from docs.extensions.targets import broken
from docs.extensions.words import Word, _linked, _pattern
from docutils import nodes
from tests.test_readme import ROOT, blocks

import worldline as wl
from worldline.cli.main import VERBS
from worldline.model.verdicts import Verdict

REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
COMMANDS = ROOT / "docs" / "reference" / "command-line.md"


def listed() -> list[str]:
    """The names in the directives ``public``, in their order."""
    text = "\n".join(page.read_text("utf-8") for page in REFERENCE)
    found = re.findall(r"^\.\. public::\n\n((?:   \w+\n)+)", text, re.M)
    return "".join(found).split()


def test_every_public_name_has_one_entry():
    assert sorted(listed()) == sorted(wl.__all__)


def test_every_public_name_is_documented():
    items = {name: getattr(wl, name) for name in wl.__all__ if name != "__version__"}
    assert [name for name, item in items.items() if not item.__doc__] == []


def test_every_member_of_a_public_module_has_an_entry():
    for name in ("events", "histories", "records"):
        module = getattr(wl, name)
        assert isinstance(module, ModuleType)
        lines = "\n".join(name_entry(name))
        for member in defined(module):
            assert f":: worldline.{name}.{member}\n" in lines
            assert getattr(module, member).__doc__, member


@pytest.mark.parametrize("page", REFERENCE, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """In order and in one folder, because each builds upon the ones before."""
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {"__name__": "example"}
    for number, block in enumerate(blocks("python", page), 1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), known)


def test_every_verb_has_an_entry():
    named = re.findall(r"^\.\. verb:: (\w+)$", COMMANDS.read_text("utf-8"), re.M)
    assert sorted(named) == sorted(["worldline", *VERBS])


def test_every_option_has_an_entry():
    listed = {words: "\n".join(entry(words)) for words in parsers()}
    options = list(all_options())
    assert len(options) > 150
    for words, flag in options:
        assert re.search(rf"^\.\. option:: .*{flag}\b", listed[words], re.M), flag


def test_every_exit_code_has_a_row():
    from worldline._command import INTERRUPTED
    from worldline.cli.main import BAD_INPUT, BROKEN_PIPE

    codes = {verdict.exit_code for verdict in Verdict}
    codes |= {INTERRUPTED, BAD_INPUT, BROKEN_PIPE}
    rows = re.findall(r"^\| (\d+) \|", COMMANDS.read_text("utf-8"), re.M)
    assert sorted(map(int, rows)) == sorted(codes)


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path):
    (tmp_path / "a.html").write_text(
        '<p id="here"></p><a href="#here"></a><a href="#gone"></a>'
        '<a href="b.html#there"></a><a href="https://example.org/c.html"></a>'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#here"></a><a href="c.html"></a>')
    assert list(broken(tmp_path)) == [
        "a.html: #gone: there is no such place",
        "a.html: b.html#there: there is no such place",
        "b.html: c.html: there is no such file",
    ]


def test_a_word_is_linked_where_it_is_first_used():
    left = {word: Word(f"word-{word}", "", False) for word in ("fault", "fault budget")}
    pattern = _pattern(left)
    parts = list(_linked("Fault budgets; a fault, faults", pattern, left, "glossary"))
    links = [part for part in parts if isinstance(part, nodes.reference)]
    assert [link.astext() for link in links] == ["Fault budgets", "fault"]
    assert links[1]["refuri"] == "glossary#word-fault"
    assert "".join(part.astext() for part in parts) == "Fault budgets; a fault, faults"
    assert left == {}


@pytest.mark.nightly
def test_the_site_is_made_without_a_warning(tmp_path: Path):
    options = ["--builder", "html", "--fail-on-warning", "--keep-going"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "docs", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "searchindex.js").is_file()
    text = "".join(
        p.read_text("utf-8") for p in (tmp_path / "reference").glob("*.html")
    )
    for name in wl.__all__:
        assert (
            f'id="worldline.{name}"' in text or f'id="module-worldline.{name}"' in text
        )
