"""Where traces go: two of one command are never one file, nor take that of others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import COUNTER, refusal, run

from worldline.trace.format import read

TWO = """\
import worldline as wl

A, B, C = wl.ids("a", "b", "c")

@wl.message
class More:
    count: int

@wl.node
class Adder:
    count: int = 0

    @wl.call
    def tell(self, ctx, count):
        ctx.send(B, More(count))
        ctx.send(C, More(count))

    @wl.on(More)
    def add(self, ctx, src, msg):
        assert self.count < LEAST or msg.count < 2
        self.count += msg.count

LEAST = 9

@wl.safety
def first(view):
    return view[B].count < 1

@wl.safety
def second(view):
    return view[C].count < 3

def system(least: int = 9):
    global LEAST
    LEAST = least
    calls = [wl.invoke(Adder.tell, count) for count in (1, 2)]
    return wl.System(
        {A: Adder(), B: Adder(), C: Adder()},
        workload=[wl.script(A, calls)],
        properties=[first, second],
        name="two",
    )
"""


@pytest.fixture(autouse=True)
def _files_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "two.py").write_text(TWO, "utf-8")
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)


def shown() -> dict[str, str]:
    """Return what each trace is about."""
    ends = {file.name: read(file).end for file in Path("worldline-out").glob("*.wl")}
    return {name: end.property or "" for name, end in ends.items() if end is not None}


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "two.py", "--as-found"),
        ("check", "two.py", "--keep-going"),
        ("check", "two.py", "--keep-going", "-p", "least=1", "--property", "second"),
    ],
)
def test_a_file_that_was_named_is_not_taken_by_another_run(words: tuple[str, ...]):
    result = run(*words, "--out", "worldline-out/two-second.wl")
    assert result.status == 1
    told = shown()
    assert len(told) == len(set(told.values())) == 2
    assert told["two-second-2.wl"] == "second"
    assert "    trace  worldline-out/two-second-2.wl\n" in result.out


def test_a_shorter_run_takes_the_place_of_no_other():
    result = run("predict", "two.py", "--out", "worldline-out/two-second-min.wl")
    assert result.status == 1
    told = shown()
    for line in result.out.splitlines():
        if line.startswith("    trace  "):
            name = Path(line.removeprefix("    trace  ")).name
            assert told.pop(name) in ("first", "second")
    assert told["two-second-min.wl"] == "first"
    assert sorted(told.values()) == ["first", "second"]


def test_the_run_that_was_named_is_shortened_though_a_failure_has_its_name():
    words = ("predict", "two.py", "-p", "least=1", "--property", "second")
    result = run(*words, "--out", "worldline-out/two-second.wl")
    assert (result.status, result.err) == (1, "")
    assert sorted(shown().values()) == ["exception", "exception", "second", "second"]


@pytest.mark.parametrize("name", ["index.html", "run_0_spacetime.svg"])
def test_a_trace_is_no_file_of_a_report(name: str):
    words = ("faults", "zoo:simple-deliv", "--report", "page")
    said = refusal(run(*words, "--out", f"../{Path.cwd().name}/page/{name}"))
    assert "would be a file of the report" in said


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("predict", "counter.py"), "counter-replicas_agree_at_rest"),
        (("check", "counter.py"), "counter-replicas_agree_at_rest"),
        (("walk", "counter.py"), "counter-replicas_agree_at_rest"),
        (("fuzz", "counter.py"), "counter-replicas_agree_at_rest"),
        (("simulate", "two.py"), "two-first"),
        (("faults", "zoo:simple-deliv"), "simple-deliv-faults"),
    ],
)
def test_what_is_no_trace_stays_where_nobody_named_a_file(
    words: tuple[str, ...], name: str
):
    folder = Path("worldline-out")
    folder.mkdir()
    (folder / f"{name}.wl").symlink_to("../counter.py")
    result = run(*words)
    assert result.status == 1
    assert Path("counter.py").read_text("utf-8") == COUNTER
    assert read(folder / f"{name}-2.wl").end is not None
    assert f"worldline replay worldline-out/{name}-2" in result.out


def test_a_run_is_shortened_as_it_was_found_whatever_its_file_has_by_then(
    monkeypatch: pytest.MonkeyPatch,
):
    from worldline.minimizing import minimize

    real, minimize_run = [], minimize.minimize_run

    def late(recorded, path, options):
        real.append(read(path) == recorded)
        path.write_bytes(Path("other.wl").read_bytes())
        return minimize_run(recorded, path, options)

    run("check", "two.py", "--out", "other.wl")
    monkeypatch.setattr(minimize, "minimize_run", late)
    for verb, words in {"predict": (), "check": ("--minimize",)}.items():
        result = run(verb, "counter.py", *words)
        assert (result.status, result.err) == (1, "")
        assert "replicas_agree_at_rest-min.wl" in result.out
    assert real == [True, True]
