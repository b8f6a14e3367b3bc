"""Rules about how the source hangs together: circles, hidden arrows, names of classes."""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"

SHARED = {
    "ProgressCallback": "a function that is told of progress, here and there",
}
"""Names of classes that stand in two modules with one meaning, and which."""


def name_of(path: Path, root: Path = SOURCE) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source: str, known: set[str]) -> Iterator[str]:
    """Every module that a source imports, at its head, for types, or in a function."""
    for item in ast.walk(ast.parse(source)):
        if isinstance(item, ast.Import):
            yield from (alias.name for alias in item.names if alias.name in known)
        elif isinstance(item, ast.ImportFrom) and item.module is not None:
            for alias in item.names:
                full = f"{item.module}.{alias.name}"
                yield full if full in known else item.module


def arrows(root: Path = SOURCE) -> dict[str, set[str]]:
    """What each module imports; the public face, which imports lazily, left out."""
    paths = {name_of(path, root): path for path in root.rglob("*.py")}
    known = set(paths)
    return {
        name: set(imports_of(path.read_text("utf-8"), known)) & known - {"worldline"}
        for name, path in paths.items()
        if name != "worldline"
    }


def circle_in(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def hidden_arrows(source: str) -> Iterator[str]:
    """Texts that name a module of ours, and so could import it."""
    if not re.search(r"[\"']worldline\.", source):
        return  # most have none, and are not taken apart for that
    for item in ast.walk(ast.parse(source)):
        text = item.value if isinstance(item, ast.Constant) else None
        if isinstance(text, str) and re.fullmatch(r"worldline(\.\w+)+(:\w+)?", text):
            yield text


def classes_of(source: str) -> Iterator[str]:
    """The public classes of a module, and the other names that it gives to types."""
    for item in ast.parse(source).body:
        name = ""
        if isinstance(item, ast.ClassDef):
            name = item.name
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            name = item.target.id if "TypeAlias" in ast.unparse(item.annotation) else ""
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            name = item.targets[0].id
        if re.match(r"[A-Z]+[a-z]", name):
            yield name


def test_no_module_imports_itself_by_any_way():
    assert circle_in(arrows()) == []


def test_a_circle_closed_by_an_import_for_types_is_noticed(tmp_path: Path):
    (tmp_path / "low.py").write_text("if TYPE_CHECKING:\n    import high\n", "utf-8")
    (tmp_path / "high.py").write_text("def go():\n    from low import x\n", "utf-8")
    assert set(circle_in(arrows(tmp_path))) == {"low", "high"}


ENTERED = {
    "worldline.model.semantics.execute",
    "worldline.model.usercode.running",
    "worldline.dedalus",
    "worldline.model",
    "worldline.worlds",
    "worldline.builtin",
    "worldline.exe",
    "worldline.steer.process",
}
"""Names of frames, files, entry points and commands; nothing is imported by them."""


def test_nothing_is_imported_by_a_text():
    hidden = {
        text
        for path in (SOURCE / "worldline").rglob("*.py")
        if name_of(path) != "worldline._names"
        for text in hidden_arrows(path.read_text("utf-8"))
    }
    assert hidden - ENTERED == set()


@pytest.mark.parametrize("text", ["worldline.zoo", "worldline.lineage.rounds:system"])
def test_an_import_by_a_text_is_noticed(text: str):
    assert list(hidden_arrows(f"load({text!r})")) == [text]


@functools.cache
def all_classes() -> dict[str, set[str]]:
    """The public classes of each module."""
    return {
        name_of(path): set(classes_of(path.read_text("utf-8")))
        for path in (SOURCE / "worldline").rglob("*.py")
    }


def test_no_class_name_has_two_meanings():
    homes = defaultdict(list)
    for module, names in all_classes().items():
        for name in names:
            if ".zoo." not in f".{module}.":
                homes[name].append(module)
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert {name: twice[name] for name in twice.keys() - SHARED.keys()} == {}


def test_every_shared_name_is_still_shared():
    names = [name for names in all_classes().values() for name in names]
    assert [name for name in SHARED if names.count(name) < 2] == []
