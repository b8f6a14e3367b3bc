"""What docs/language.md lists is all that there is, and its system uses it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_minimizing_page import agrees
from tests.test_readme import ROOT, blocks, commands, run

from worldline.model import fields, handlers
from worldline.model.context import Context
from worldline.model.handler_marks import HandlerKind

PAGE = ROOT / "docs" / "language.md"
TEXT = PAGE.read_text("utf-8")

OF_WORLDS = {"bind", "move"}
"""Methods of a context that only worlds call."""

MAKERS = {"field", "durable", "ignored", "ghost", "part"}


def rows() -> str:
    """Return the rows of all tables."""
    return "\n".join(line for line in TEXT.splitlines() if line.startswith("|"))


def test_its_commands_print_what_it_shows(tmp_path: Path):
    source, observed = blocks("python", PAGE)
    (tmp_path / "library.py").write_text(source, "utf-8")
    (tmp_path / "observed.py").write_text(observed, "utf-8")
    page = commands(PAGE)
    verbs = [command.line.split()[1] for command in page]
    assert verbs == ["check", "simulate", "check"]
    for command in page:
        printed = run(command.line, tmp_path)
        assert agrees(command.shown, printed), f"$ {command.line}\n{printed}"
    assert "never ran" not in run(page[0].line, tmp_path)


def test_every_decorator_has_a_row_and_is_used():
    decorators = {kind.name.lower() for kind in HandlerKind} | {"message", "node"}
    decorators.add(handlers.ignores.__name__)
    source, _ = blocks("python", PAGE)
    for name in decorators:
        assert f"`@wl.{name}" in rows(), name
        assert f"@wl.{name}" in source, name


def test_every_maker_of_fields_has_a_row_and_is_used():
    made = set(re.findall(r"^def (\w+)\(", Path(fields.__file__).read_text(), re.M))
    assert (
        made - {"_declare", "role_of", "is_kept_out", "is_node", "refuse_node"}
        == MAKERS
    )
    source, _ = blocks("python", PAGE)
    for name in MAKERS:
        assert f"`wl.{name}(" in rows(), name
        assert f"= wl.{name}(" in source, name


def test_every_method_of_the_context_has_a_row_and_is_used():
    names = {name for name in dir(Context) if name[0] != "_"} - OF_WORLDS
    source, _ = blocks("python", PAGE)
    for name in names:
        assert f"`ctx.{name}" in rows(), name
        assert f"ctx.{name}" in source, name


def test_it_is_short():
    assert TEXT.count("\n") <= 240
