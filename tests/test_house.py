"""Rules about the source itself: sizes, layers, the public face, loose ends."""

from __future__ import annotations

import ast
import re
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from importlinter.cli import lint_imports

import worldline
from worldline.engine.native.calls import BoundName

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "worldline"
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60
LOOSE_END = re.compile(r"\b(?:TODO|FIXME|XXX)\b")


def modules(folder: Path = SOURCE) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def kernel_sources() -> list[Path]:
    """The compiled kernel: its headers, and the C functions over them."""
    return sorted((SOURCE / "engine" / "native").rglob("*.[ch]pp"))


def undescribed(source: str) -> bool:
    """Whether a C++ file does not begin with what it is, in a sentence of its own."""
    first = source.partition("#")[0].splitlines()
    text = " ".join(line.removeprefix("//").strip() for line in first).strip()
    is_comment = all(line.startswith("//") or not line for line in first)
    return not (first and is_comment and text.endswith("."))


def long_functions(source: str) -> Iterator[tuple[str, int]]:
    """Functions with too many lines; those of the docstring do not count."""
    for item in ast.walk(ast.parse(source)):
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([item.lineno, *(d.lineno for d in item.decorator_list)])
            lines = (item.end_lineno or first) - first + 1
            said = item.body[0]
            if ast.get_docstring(item) is not None:
                lines -= (said.end_lineno or said.lineno) - said.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield item.name, lines


def foreign_imports(source: str) -> Iterator[str]:
    """Imports that are not `import worldline as wl`, of stdlib or within the zoo."""
    for item in ast.walk(ast.parse(source)):
        if isinstance(item, ast.Import):
            for alias in item.names:
                if (alias.name, alias.asname) == ("worldline", "wl"):
                    continue
                if alias.name.partition(".")[0] not in sys.stdlib_module_names:
                    yield ast.unparse(item)
        elif isinstance(item, ast.ImportFrom):
            package = (item.module or "").partition(".")[0]
            if f"{item.module}.".startswith("worldline.zoo."):
                continue
            if item.level or package not in sys.stdlib_module_names:
                yield ast.unparse(item)


def public_names(module: ModuleType) -> set[str]:
    """What a module offers: not private, not a submodule, not a __future__ import."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and type(value).__module__ != "__future__"
        and name not in typing.__all__
    }


def listing_order(name: str) -> tuple[int, str]:
    """Constants, classes, the rest: the order that the linter keeps `__all__` in."""
    if len(name) > 1 and name.isupper():
        return 0, name
    return (1, name) if name[0].isupper() else (2, name)


def test_the_source_is_found():
    assert SOURCE / "__init__.py" in modules()


def test_no_module_is_too_long():
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines())
        for path in [*modules(), *kernel_sources()]
    }
    assert {p: n for p, n in sizes.items() if n > MAX_MODULE_LINES} == {}


def test_every_source_of_the_kernel_begins_with_what_it_is():
    sources = kernel_sources()
    assert SOURCE / "engine" / "native" / "kernel.cpp" in sources
    assert SOURCE / "engine" / "native" / "kernel" / "tables.hpp" in sources
    found = [p.name for p in sources if undescribed(p.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "source", ["#pragma once\n// Tables.\n", "// Tables\n#pragma once\n", "int x;\n"]
)
def test_a_header_without_a_description_is_noticed(source: str):
    assert undescribed(source)


def test_every_header_of_the_kernel_is_read_once_and_used():
    headers = [path for path in kernel_sources() if path.suffix == ".hpp"]
    texts = {path.name: path.read_text("utf-8") for path in kernel_sources()}
    assert [p.name for p in headers if "\n#pragma once\n" not in texts[p.name]] == []
    included = {
        name.rpartition("/")[2]
        for text in texts.values()
        for name in re.findall(r'^#include "(.*)"$', text, re.MULTILINE)
    }
    assert {path.name for path in headers} == included


def test_the_kernel_and_its_library_agree_on_every_function():
    native = SOURCE / "engine" / "native"
    kernel = (native / "kernel.cpp").read_text("utf-8")
    defined = set(re.findall(r"^\S.*?\b(wl_\w+)\(", kernel, re.MULTILINE))
    declared = re.findall(r'"(wl_\w+)":', (native / "library.py").read_text("utf-8"))
    bound = {*re.findall(r"^PyObject\* (wl_\w+)\(", kernel, re.MULTILINE)}
    assert sorted([*declared, *bound]) == sorted(defined)
    assert bound == {*typing.get_args(BoundName)}


def test_no_function_is_too_long():
    found = [
        (str(path.relative_to(ROOT)), name, lines)
        for path in modules()
        for name, lines in long_functions(path.read_text("utf-8"))
    ]
    assert found == []


def test_a_long_function_is_noticed():
    body = "    pass\n" * MAX_FUNCTION_LINES
    assert list(long_functions(f"class A:\n  def f(self):\n{body}")) == [
        ("f", MAX_FUNCTION_LINES + 1)
    ]


def test_every_folder_of_modules_is_a_package():
    """A folder without `__init__.py` is invisible to the layer check."""
    folders = {path.parent for path in modules()}
    assert [str(f) for f in sorted(folders) if not (f / "__init__.py").exists()] == []


def test_imports_go_down_only(capsys: pytest.CaptureFixture[str]):
    status = lint_imports(str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert status == 0, capsys.readouterr().out


def test_an_import_that_goes_up_is_noticed(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    for layer, source in {"low": "import layered.high\n", "high": ""}.items():
        folder = tmp_path / "layered" / layer
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(source, "utf-8")
    (tmp_path / "layered" / "__init__.py").touch()
    config = tmp_path / "pyproject.toml"
    rules = (ROOT / "pyproject.toml").read_text("utf-8")
    contracts = "[[tool.importlinter.contracts]]"
    # The first one is that of the layers.
    first = rules[rules.index("[tool.importlinter]") :].split(contracts)[:2]
    rules = contracts.join(first).replace("worldline", "layered")
    config.write_text(rules.replace("(cli)", "high").replace("(model)", "low"), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert lint_imports(str(config), no_cache=True, no_logo=True) == 1
    assert "layered.low is not allowed to import" in capsys.readouterr().out


def test_the_zoo_uses_only_the_public_face():
    found = [
        (str(path.relative_to(ROOT)), line)
        for path in modules(SOURCE / "zoo")
        for line in foreign_imports(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "import worldline",
        "import worldline.model as wl",
        "from worldline import check",
        "from worldline.engine import tables",
        "from . import chord",
        "import rich",
    ],
)
def test_a_foreign_import_in_the_zoo_is_noticed(line: str):
    assert list(foreign_imports(f"import enum\nimport worldline as wl\n{line}\n")) == [
        line
    ]


def test_the_public_names_are_sorted():
    listed = list(worldline.__all__)
    assert listed == sorted(listed, key=listing_order)
    assert len(listed) == len(set(listed))


def test_the_public_names_are_complete_and_resolve():
    missing = [name for name in worldline.__all__ if not hasattr(worldline, name)]
    assert missing == []
    assert public_names(worldline) <= set(worldline.__all__)


def test_no_loose_ends():
    texts = [
        p for p in SOURCE.rglob("*") if p.suffix in {".py", ".cpp", ".hpp", ".ded"}
    ]
    texts += (ROOT / "docs").rglob("*.md")
    texts.append(ROOT / "README.md")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(texts)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if LOOSE_END.search(line)
    ]
    assert found == []
