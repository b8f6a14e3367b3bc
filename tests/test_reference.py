"""The reference has everything: names, verbs, options and exit codes."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from docs.extensions.command_line import all_options, entry, parsers
from docs.extensions.public_names import defined, link_names
from docs.extensions.public_names import entry as name_entry
from docs.extensions.targets import broken
from docs.extensions.words import Word, _linked, _pattern
from docutils import nodes
from tests.test_readme import ROOT, blocks

import worldline as wl
from worldline.cli.main import VERBS
from worldline.model.verdicts import Verdict

SO = re.M | re.S
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
COMMANDS = ROOT / "docs" / "reference" / "command-line.md"
EXECUTED = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
"""The pages whose Python is run: by a test of the page, or below."""


def listed() -> list[str]:
    """The names in the directives ``public``, in their order."""
    text = "\n".join(page.read_text("utf-8") for page in REFERENCE)
    found = re.findall(r"^\.\. public::\n\n((?:   \w+\n)+)", text, re.M)
    return "".join(found).split()


def used(text: str) -> set[str]:
    return set(re.findall(r"\bwl\.(\w+)", text))


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


def test_every_public_name_has_an_example_that_is_run():
    shown: set[str] = set()
    for page in EXECUTED:
        shown |= used("".join(blocks("python", page)))
    assert sorted(set(wl.__all__) - shown) == []


def program(page: Path) -> str:
    """The Python of a page, each line where the page has it; the rest is empty."""
    lines, is_python = [], False
    for line in page.read_text("utf-8").splitlines():
        is_python = is_python and line != "```"
        lines.append(line if is_python else "")
        is_python = is_python or line == "```python"
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", REFERENCE, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    name = f"reference_{page.stem.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(program(page), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module(name)
    monkeypatch.delitem(sys.modules, name)


def linked(name: str, item: Any, text: str) -> str:
    lines = [text]
    link_names(cast("Any", None), "", name, item, None, lines)
    return lines[0]


def test_a_name_in_a_docstring_is_linked_to_what_it_means_there():
    start = ":py:obj:`start <worldline.Host.start>`"
    assert linked("worldline.Host.bind", wl.Host.bind, "before `start`") == (
        f"before {start}"
    )
    assert linked("worldline.on", wl.on, "see `start`") == (
        "see :py:obj:`start <worldline.start>`"
    )
    assert linked("worldline.check", wl.check, "`parameters`, `x`") == (
        "``parameters``, ``x``"
    )
    assert linked("worldline.histories.History", wl.histories.History, "`x`") == "``x``"


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


def test_every_page_stands_in_the_contents():
    docs = ROOT / "docs"
    pages = {p.relative_to(docs).with_suffix("").as_posix() for p in docs.rglob("*.md")}
    named = {"index"}
    for page in (docs / "index.md", docs / "reference" / "index.md"):
        for body in re.findall(
            r"^```{toctree}\n(.*?)^```$", page.read_text("utf-8"), SO
        ):
            names = [line for line in body.splitlines() if line and line[0] != ":"]
            named |= {
                (page.parent / name).relative_to(docs).as_posix() for name in names
            }
    assert sorted(named) == sorted(pages)


def test_every_page_that_a_page_links_to_exists():
    links = [
        (page, target)
        for page in EXECUTED
        for target in re.findall(
            r"\]\(([\w./-]+)(?:#[\w-]+)?\)", page.read_text("utf-8")
        )
    ]
    assert len(links) > 60
    assert [link for link in links if not (link[0].parent / link[1]).is_file()] == []


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
    left = {word: Word(f"word-{word}", "", "") for word in ("fault", "fault budget")}
    pattern = _pattern(left)
    parts = list(_linked("Fault budgets; a fault, faults", pattern, left, "glossary"))
    links = [part for part in parts if isinstance(part, nodes.reference)]
    assert [link.astext() for link in links] == ["Fault budgets", "fault"]
    assert links[1]["refuri"] == "glossary#word-fault"
    assert "".join(part.astext() for part in parts) == "Fault budgets; a fault, faults"
    assert left == {}


@pytest.mark.nightly
def test_typed_code_can_hold_whatever_the_examples_hold(tmp_path: Path):
    files = [
        tmp_path / f"reference_{page.stem.replace('-', '_')}.py" for page in REFERENCE
    ]
    for file, page in zip(files, REFERENCE, strict=True):
        file.write_text(program(page), "utf-8")
    options = ["--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


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
