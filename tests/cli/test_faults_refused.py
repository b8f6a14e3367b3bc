"""What ``worldline faults`` refuses: one clear message, code 2, and nothing is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.command import refusal, run

BAD = Path(__file__).resolve().parents[1] / "dedalus" / "bad"
FINE = """\
node("a", "b")@1;
say("a", "hi")@1;
node(N, M)@next :- node(N, M);
say(N, P)@next :- say(N, P);
heard(M, P)@async :- say(N, P), node(N, M);
heard(N, P)@next :- heard(N, P);
pre(N, P) :- say(N, P);
post(N, P) :- say(N, P), heard(_, P);
"""
SYSTEM = """\
import worldline as wl

A, B = wl.ids("a", "b")

@wl.node
class Member:
    done: bool = False

    @wl.call
    def begin(self, ctx):
        self.done = True

@wl.liveness
def done(view):
    return view[A].done

def system():
    return wl.System(
        {A: Member(), B: Member()},
        workload=[wl.script(A, [Member.begin])],
        network=wl.datagrams(loss=True),
        properties=[done],
        name="lonely",
    )
"""


@pytest.fixture(autouse=True)
def _files_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fine.ded").write_text(FINE)
    (tmp_path / "lonely.py").write_text(SYSTEM)
    (tmp_path / "empty.ded").write_bytes(b"")
    (tmp_path / "blank.ded").write_text("\n\n")
    (tmp_path / "garbage.ded").write_bytes(bytes(range(256)))
    (tmp_path / "zeros.ded").write_bytes(b"\x00\x1b[31m\x07")
    (tmp_path / "escape.ded").write_text('node("\x1b[31m")@1;\n')
    (tmp_path / "hidden.ded").write_text('include "\x00";\n')
    (tmp_path / "lost.ded").write_text('include "nowhere.ded";\n')
    (tmp_path / "upwards.ded").write_text('include ".";\n')
    (tmp_path / "around.ded").write_text('include "again.ded";\nnode(a)@1;\n')
    (tmp_path / "again.ded").write_text('include "around.ded";\n')
    (tmp_path / "folder.ded").mkdir()
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def untouched() -> Callable[[], bool]:
    def everything() -> dict[str, bytes | None]:
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for path in sorted(Path().rglob("*"))
            if "__pycache__" not in path.parts
        }

    before = everything()
    return lambda: everything() == before


WRITING = ("--out", "out/bad.wl", "--report", "page")


@pytest.mark.parametrize("path", sorted(BAD.glob("*.ded")), ids=lambda path: path.stem)
def test_a_malformed_program_is_refused_at_its_place(
    path: Path, untouched: Callable[[], bool]
):
    result = run("faults", path, *WRITING)
    assert (result.status, result.out) == (2, "")
    first, *shown = result.err.splitlines()
    found = re.match(
        rf"worldline: error: {re.escape(str(path))}:(\d+):(\d+): \S", first
    )
    assert found is not None, first
    line, caret = shown
    assert line == f"  {path.read_text('utf-8').splitlines()[int(found[1]) - 1]}"
    assert caret == " " * (int(found[2]) + 1) + "^"
    assert untouched()


@pytest.mark.parametrize(
    ("file", "place", "said"),
    [
        ("zeros.ded", "zeros.ded:1:1", r"the character '\x00' has no meaning here"),
        ("lost.ded", "lost.ded:1:9", "cannot read nowhere.ded: No such file"),
        ("upwards.ded", "upwards.ded:1:9", "cannot read .: Is a directory"),
        ("around.ded", "around.ded:2:6", "a is a variable, and a fact has constants"),
        ("again.ded", "around.ded:2:6", "a is a variable, and a fact has constants"),
        ("escape.ded", "escape.ded:1:6", "the string has a control character; write"),
        ("hidden.ded", "hidden.ded:1:9", "the string has a control character; write"),
    ],
)
def test_a_file_that_is_no_program_is_refused_at_its_place(
    file: str, place: str, said: str, untouched: Callable[[], bool]
):
    result = run("faults", file, *WRITING)
    assert (result.status, result.out) == (2, "")
    first, _line, caret = result.err.splitlines()
    assert first.startswith(f"worldline: error: {place}: {said}")
    assert caret.strip() == "^"
    assert result.err.replace("\n", "").isprintable()
    assert untouched()


def test_a_location_that_is_no_node_is_refused_at_its_place(
    untouched: Callable[[], bool],
):
    result = run("faults", "fine.ded", "--nodes", "a", *WRITING)
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        'worldline: error: fine.ded:1:1: "b" is used as a place, and is no node; nodes '
        "are a; name it with --nodes, or write what is no node into another column\n"
        '  node("a", "b")@1;\n  ^\n'
    )
    assert untouched()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("missing.ded", "cannot read missing.ded: No such file or directory; name an"),
        ("fine.ded missing.ded", "cannot read missing.ded: No such file or directory"),
        ("empty.ded", "empty.ded:1:1: the program names no node; give it facts"),
        ("blank.ded", "blank.ded:1:1: the program names no node; give it facts"),
        ("garbage.ded", "cannot read garbage.ded: it is not UTF-8 text; name an"),
        ("folder.ded", "cannot read folder.ded: Is a directory; name an existing .ded"),
        ("folder", "'folder' is a folder; TARGET is FILE.ded, zoo:NAME, FILE.py"),
        ("fine", "cannot load 'fine'; did you mean fine.ded? TARGET is FILE.ded"),
        ("kafka", "cannot load 'kafka'; did you mean zoo:kafka? TARGET is FILE.ded"),
        (
            "zoo:kafkaa",
            "the zoo has no program or system 'kafkaa'; it has 2pc, 2pc-ctp",
        ),
        ("zoo:programs", "the zoo has no program or system 'programs'; it has 2pc"),
        ("fine.ded --nodes a,b,a", "the nodes 'a,b,a' are not all named, or one is"),
        ("fine.ded --nodes a,,b", "the nodes 'a,,b' are not all named, or one is"),
        ("fine.ded --eot 3 --eff 4", "losses end at 4, outside of 0..3; give --eff"),
        ("fine.ded --eot 0", "argument --eot: '0' is not a whole number of at least 1"),
        ("fine.ded --crashes 3", "3 of 2 nodes cannot crash; give --crashes between"),
        ("fine.ded --crashes -1", "argument --crashes: '-1' is not a whole number"),
        ("fine.ded --crash-nodes a,,b", "the nodes 'a,,b' are not all named, or one"),
        ("fine.ded --crash-nodes a,z", "there is no node 'z' that could crash; the no"),
        ("lonely.py --crash-nodes z", "there is no node 'z' that could crash; the nod"),
        ("lonely.py --crash-nodes a --crashes 2", "2 of 1 nodes that may crash cannot"),
        ("fine.ded --property x", "a Dedalus program has no property 'x'; leave --pro"),
        ("lonely.py --property x", "lonely has no property 'x'; its properties are do"),
        ("lonely.py --crashes 3", "3 of 2 nodes cannot crash; give --crashes between"),
        ("fine.ded --engine states", "fine cannot be searched by the engine 'states'"),
        ("lonely.py --engine symbolic", "lonely cannot be searched by the engine"),
        ("lonely.py --delay 1", "messages cannot be late between Python nodes"),
        ("lonely.py --nodes a,b", "a Python system has the nodes that it has; leave"),
        ("lonely.py --harden", "lonely is no Dedalus program"),
        ("fine.ded --recovery", "a crashed node of a Dedalus program does not start"),
        ("fine.ded --crash-semantics partial", "Dedalus programs have no partial"),
        ("fine.ded --engine random --all", "random search cannot tell that it found"),
        ("fine.ded -p n=3", "a Dedalus program has no parameters; leave -p out"),
        ("fine.ded zoo:2pc lonely.py", "fine.ded, zoo:2pc, lonely.py cannot be read"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    arguments: str, said: str, untouched: Callable[[], bool]
):
    assert refusal(run("faults", *arguments.split(), *WRITING)).startswith(said)
    assert untouched()


@pytest.mark.parametrize(
    ("option", "place", "said"),
    [
        ("--report", "fine.ded", "cannot write a report to fine.ded: it is no folder"),
        ("--out", "folder", "argument --out: 'folder' is a folder, and a file is"),
    ],
)
def test_a_place_where_nothing_can_be_written_is_refused(
    option: str, place: str, said: str
):
    broken = ("faults", "fine.ded", "--eot", "3", "--eff", "3")
    assert refusal(run(*broken, option, place)).startswith(said)
    assert Path("fine.ded").read_text() == FINE


def test_files_that_include_each_other_are_read_once():
    Path("again.ded").write_text(f'include "around.ded";\n{FINE}')
    Path("around.ded").write_text('include "again.ded";\ninclude "around.ded";\n')
    for file in ("around.ded", "again.ded"):
        result = run("faults", file, "--eot", "3", "--eff", "2", "--crashes", "0")
        assert (result.status, result.err) == (0, "")
