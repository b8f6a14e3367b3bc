"""Loading systems: targets, typed parameters, and what is said when it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from worldline.loading.loader import find, load
from worldline.loading.parameters import describe
from worldline.model.errors import InputError, UsageError
from worldline.model.system import System

SYSTEM = """\
import enum
from typing import Literal
import worldline as wl

class Mode(enum.Enum):
    FAST = "quick"
    SLOW = "slow"

@wl.node
class Idle:
    size: int = 0

def system(
    size: int = 1, *, ratio: "float" = 0.5, safe: bool = True, title: str = "t",
    bugs: tuple[str, ...] = (), sizes: tuple[int, ...] = (), mode: Mode = Mode.FAST,
    kind: Literal["a", "b"] = "a", limit: int | None = None, odd: object = None,
    seen: list = [],
) -> wl.System:
    seen.append((size, ratio, safe, title, bugs, sizes, mode, kind, limit))
    (a,) = wl.ids("a")
    made = wl.System(nodes={a: Idle(size)}, name="idle")
    made.seen = seen[-1]
    return made

def untyped(size=3, flag=False, text="x"):
    (a,) = wl.ids("a")
    return wl.System(nodes={a: Idle(size)})

def needy(size: int):
    return system(size)

not_a_system = lambda: 5
number = 5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "idle.py"
    path.write_text(SYSTEM, "utf-8")
    return path


def written(tmp_path: Path, source: str | bytes, name: str = "user.py") -> str:
    path = tmp_path / name
    if isinstance(source, str):
        source = source.encode()
    path.write_bytes(source)
    return str(path)


def refused(target: str, **parameters: str) -> str:
    """Return the message of the error; it is always one line."""
    with pytest.raises(UsageError) as caught:
        load(target, parameters)
    text = str(caught.value)
    assert "\n" not in text
    return text


# -------------------------------------------------------------------------- targets


def test_a_system_of_the_zoo_is_loaded_with_its_origin():
    origin = load("zoo:toy", {}).origin
    assert origin is not None
    assert (origin.target, origin.parameters) == ("zoo:toy", ())
    assert len(origin.source) == 16
    assert int(origin.source, 16) >= 0


def test_an_unknown_name_lists_the_zoo():
    assert "no system 'nope'; it has abd, " in refused("zoo:nope")


def test_the_registry_of_the_zoo_is_no_system_of_it():
    assert "no system ''" in refused("zoo:")


def test_a_file_is_loaded_with_the_default_function(file: Path):
    system = load(str(file), {"size": "4"})
    assert system.nodes[system.ids[0]].size == 4
    assert system.origin is not None
    assert system.origin.parameters == (("size", "4"),)


def test_a_file_is_loaded_with_a_named_function(file: Path):
    assert isinstance(load(f"{file}:untyped", {}), System)


def test_a_module_is_found_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "found_here.py").write_text(SYSTEM, "utf-8")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    try:
        assert isinstance(load("found_here:system", {}), System)
    finally:
        sys.modules.pop("found_here", None)
    assert sys.path == before


def test_a_file_may_import_its_neighbours_while_it_is_loaded(tmp_path: Path):
    written(tmp_path, "SIZE = 7\n", "neighbour_of_user.py")
    target = written(
        tmp_path,
        SYSTEM.replace("import enum", "import enum\nimport neighbour_of_user as n")
        .replace("= system(size)", "= 0")
        .replace("size: int = 1", "size: int = n.SIZE"),
    )
    before = list(sys.path)
    try:
        assert load(target, {}).initial[0][1] == 7
    finally:
        sys.modules.pop("neighbour_of_user", None)
    assert sys.path == before


def test_loading_a_file_leaves_no_cache_beside_it(file: Path):
    load(str(file), {})
    assert list(file.parent.iterdir()) == [file]


def test_a_changed_file_is_loaded_anew(file: Path):
    first = load(str(file), {})
    file.write_text(SYSTEM.replace("size: int = 1", "size: int = 2"), "utf-8")
    second = load(str(file), {})
    assert (first.initial[0][1], second.initial[0][1]) == (1, 2)
    assert first.origin is not None
    assert second.origin is not None
    assert first.origin.source != second.origin.source


def test_the_hash_of_a_source_ignores_how_its_lines_end(tmp_path: Path):
    one = find(written(tmp_path, SYSTEM, "one.py"))
    two = find(written(tmp_path, SYSTEM.replace("\n", "\r\n"), "two.py"))
    assert one.source == two.source


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("toy", "did you mean zoo:toy?"),
        ("", "TARGET is zoo:NAME, FILE.py[:function] or package.module:function"),
        ("a b:c", "cannot load 'a b:c'"),
        ("missing.py", "missing.py does not exist"),
        ("missing.py:system", "missing.py does not exist"),
        ("no_such_package.module:system", "no module 'no_such_package'"),
        ("worldline.nothing:system", "no module 'worldline.nothing'"),
        ("rich:nothing", "rich has no function 'nothing'"),
        ("os:system", "os is a module of Python itself, which holds no system"),
    ],
)
def test_a_target_that_does_not_exist_is_refused(target: str, said: str):
    assert said in refused(target)


def test_a_file_without_its_ending_is_recognised(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(file.parent)
    assert "did you mean idle.py?" in refused("idle")


def test_a_folder_is_refused(tmp_path: Path):
    (tmp_path / "folder.py").mkdir()
    assert "folder.py cannot be read" in refused(str(tmp_path / "folder.py"))


# ------------------------------------------------------------------------ parameters


@pytest.mark.parametrize(
    ("name", "text", "position", "value"),
    [
        ("size", "12", 0, 12),
        ("size", " -3 ", 0, -3),
        ("ratio", "1e-3", 1, 0.001),
        ("safe", "no", 2, False),
        ("safe", "TRUE", 2, True),
        ("title", "a,b = c", 3, "a,b = c"),
        ("title", "", 3, ""),
        ("bugs", "rt1,rt2", 4, ("rt1", "rt2")),
        ("bugs", "", 4, ()),
        ("sizes", "1, 2", 5, (1, 2)),
        ("kind", "b", 7, "b"),
        ("limit", "none", 8, None),
        ("limit", "9", 8, 9),
    ],
)
def test_a_parameter_has_the_type_of_its_annotation(
    file: Path, name: str, text: str, position: int, value: object
):
    seen = load(str(file), {name: text}).seen[position]  # type: ignore[attr-defined]
    assert (seen, type(seen)) == (value, type(value))


@pytest.mark.parametrize("text", ["SLOW", "slow"])
def test_an_enum_is_given_by_name_or_value(file: Path, text: str):
    seen = load(str(file), {"mode": text}).seen  # type: ignore[attr-defined]
    assert seen[6].name == "SLOW"


def test_without_annotation_the_default_gives_the_type(file: Path):
    target = f"{file}:untyped"
    assert load(target, {"size": "8", "flag": "yes", "text": "5"}).initial[0][1] == 8


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("size", "x", "parameter size='x' is wrong; expected an int"),
        ("size", "1.5", "expected an int"),
        ("size", "1_0", "expected an int"),
        ("size", "\u0661", "size='\u0661' is wrong; expected an int"),
        ("size", "9" * 5000, f"size='{'9' * 56}... is wrong; expected an int"),
        ("size", "1e999", "expected an int"),
        ("size", "\0", r"size='\x00' is wrong; expected an int"),
        ("ratio", "1e999", "expected a finite number"),
        ("ratio", "nan", "expected a finite number"),
        ("safe", "maybe", "expected true or false"),
        ("sizes", "1,,2", "expected int values separated by commas"),
        ("mode", "medium", "expected one of FAST|SLOW"),
        ("kind", "c", "expected one of a|b"),
        ("limit", "few", "expected an int or none"),
        ("odd", "1", "'odd' has the type object, which cannot be written as text"),
    ],
)
def test_a_bad_value_says_what_is_expected(file: Path, name: str, text: str, said: str):
    assert said in refused(str(file), **{name: text})


def test_an_unknown_parameter_lists_those_that_exist(file: Path):
    text = refused(str(file), speed="1")
    assert text.startswith(
        "unknown parameter 'speed'; known are size: int = 1; ratio: float = 0.5; "
    )
    assert "mode: FAST|SLOW = FAST; kind: a|b = 'a'; limit: int|none = None" in text


def test_a_system_without_parameters_says_so():
    assert refused("zoo:toy", size="1").endswith("this system takes no parameters")


def test_a_missing_parameter_is_named(file: Path):
    assert refused(f"{file}:needy") == (
        "parameter 'size' is missing; give it with -p size=int"
    )


def test_annotations_that_cannot_be_evaluated_are_reported(tmp_path: Path):
    target = written(tmp_path, "def system(size: 'Missing' = 1): ...\n")
    assert "the annotations of system cannot be evaluated" in refused(target)


def test_parameters_are_described_in_order(file: Path):
    found = describe(find(str(file)).function)
    assert found[:3] == ["size: int = 1", "ratio: float = 0.5", "safe: bool = True"]
    assert "bugs: str,... = ()" in found


# -------------------------------------------------------------- modules that are wrong


def test_a_syntax_error_names_line_and_text(tmp_path: Path):
    target = written(tmp_path, "import os\ndef system(:\n    pass\n")
    assert refused(target).endswith(
        "is not valid Python: invalid syntax (user.py:2: def system(:)"
    )


@pytest.mark.parametrize(
    "source", ["x = ]" + "y" * 9_999, f"raise OSError  #{'y' * 9_999}"]
)
def test_of_a_line_that_is_very_long_the_beginning_is_repeated(
    source: str, tmp_path: Path
):
    assert len(refused(written(tmp_path, source))) < 400


def test_a_mistake_on_no_line_names_none(tmp_path: Path):
    assert "None" not in refused(written(tmp_path, "x = 1\0\n"))


@pytest.mark.parametrize("source", [b"x = '\xff'\n", b"x = 1\x00\n"])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, source: bytes):
    with pytest.raises(InputError):
        load(written(tmp_path, source), {})


def test_an_exception_at_import_names_the_users_own_line(tmp_path: Path):
    source = "import json\n\ndef read():\n    return json.loads('{')\n\nread()\n"
    assert refused(written(tmp_path, source)).endswith(
        "loading it raised JSONDecodeError: Expecting property name enclosed in double "
        "quotes: line 1 column 2 (char 1) (user.py:4: return json.loads('{'))"
    )


def test_a_module_that_exits_is_refused(tmp_path: Path):
    text = refused(written(tmp_path, "import sys\nsys.exit(3)\n"))
    assert "loading it raised SystemExit: 3 (user.py:2: sys.exit(3))" in text


def test_ctrl_c_during_a_load_is_not_swallowed(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        load(written(tmp_path, "raise KeyboardInterrupt\n"), {})


def test_a_module_that_failed_is_not_kept(tmp_path: Path):
    refused(written(tmp_path, "1 / 0\n", "divides_by_zero.py"))
    assert not [name for name in sys.modules if "divides_by_zero" in name]


def test_a_missing_import_of_the_module_is_not_taken_for_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    written(tmp_path, "import no_such_dependency\n", "importing.py")
    monkeypatch.chdir(tmp_path)
    text = refused("importing:system")
    assert "importing: importing it raised ModuleNotFoundError" in text
    assert "(importing.py:1: import no_such_dependency)" in text


def test_an_error_of_the_model_keeps_its_text(tmp_path: Path):
    source = "import worldline as wl\n\n@wl.message\nclass Join:\n    who: list[int]\n"
    text = refused(written(tmp_path, source))
    assert "message Join: field 'who' is a list" in text
    assert "(user.py:3: @wl.message)" in text
    assert "use a tuple" in text


# ------------------------------------------------------------ functions that are wrong


def test_a_missing_function_lists_those_there_are(file: Path):
    text = refused(f"{file}:sytem")
    assert text.endswith("there are system, untyped, needy, not_a_system")


@pytest.mark.parametrize("name", ["number", "Idle"])
def test_what_is_no_function_is_refused(file: Path, name: str):
    assert f"has no function {name!r}" in refused(f"{file}:{name}")


def test_a_function_that_returns_no_system_is_refused(file: Path):
    assert refused(f"{file}:not_a_system").endswith(
        "idle.py:not_a_system returned 5; return a wl.System"
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('n must be odd')", ":system: n must be odd"),
        ("int('x')", "invalid literal for int() with base 10: 'x' (user.py:3: int("),
        ("1 / 0", "it raised ZeroDivisionError: division by zero (user.py:3: 1 / 0)"),
        ("wl.System(nodes={})", "a system has no nodes (user.py:3: wl.System("),
    ],
)
def test_a_function_that_raises_is_quoted(tmp_path: Path, body: str, said: str):
    source = f"import worldline as wl\ndef system(n: int = 1):\n    {body}\n"
    assert said in refused(written(tmp_path, source))


@pytest.mark.parametrize("end", ["GeneratorExit", "SystemExit", "BaseException"])
@pytest.mark.parametrize("where", ["module", "function"])
def test_whatever_ends_a_module_or_its_function_is_an_input_error(
    tmp_path: Path, end: str, where: str
) -> None:
    made = f"raise {end}('no')"
    text = made if where == "module" else f"def system():\n    {made}"
    (tmp_path / "ends.py").write_text(text, "utf-8")
    with pytest.raises(InputError, match=rf"{end}: no \(ends.py:\d"):
        load(str(tmp_path / "ends.py"), {})


def test_an_exception_without_a_text_does_not_end_the_loader(tmp_path: Path) -> None:
    text = """\
class Silent(Exception):
    def __str__(self):
        raise ValueError

raise Silent
"""
    (tmp_path / "silent.py").write_text(text, "utf-8")
    with pytest.raises(InputError, match="Silent: its text cannot be had: ValueError"):
        load(str(tmp_path / "silent.py"), {})
