"""``worldline check``: verdicts, options, what is printed, what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import zstandard
from tests.cli.command import COUNTER, refusal, run, run_process

UNBOUNDED = """\
import worldline as wl

@wl.node
class Counter:
    count: int = 0

    @wl.call
    def add(self, ctx):
        self.count += 1

@wl.safety
def count_is_positive(view):
    return all(view[node].count >= 0 for node in view)

def system():
    (a,) = wl.ids("a")
    return wl.System({a: Counter()}, workload=[wl.whenever(Counter.add)],
                     properties=[count_is_positive], name="unbounded")
"""

SENDS_A_LIST = """\
import worldline as wl

@wl.message
class Names:
    names: tuple

@wl.node
class Sender:
    @wl.start
    def start(self, ctx):
        ctx.send(ctx.me, Names(([],)))

    @wl.on(Names)
    def names(self, ctx, src, msg): ...

def system():
    (a,) = wl.ids("a")
    return wl.System({a: Sender()})
"""


UNEQUAL = """\
import worldline as wl

@wl.node
class Ranked:
    rank: int = -1

    @wl.call(when=lambda self: self.rank < 0)
    def wake(self, ctx):
        self.rank = ctx.nodes.index(ctx.me)

def system():
    a, b = wl.ids("a", "b")
    return wl.System({a: Ranked(), b: Ranked()}, workload=[wl.whenever(Ranked.wake)],
                     symmetry=[wl.symmetric([a, b])], name="unequal")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder that holds two users' files."""
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    (tmp_path / "unbounded.py").write_text(UNBOUNDED, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -------------------------------------------------------------------------- verdicts


def test_holds_is_exit_code_0():
    result = run("check", "zoo:toy")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("toy: HOLDS\n")
    assert "16 states, 25 generated" in result.out
    assert "assuming: " in result.out


def test_a_violation_is_exit_code_1_and_shows_file_command_and_run(folder: Path):
    result = run("check", "counter.py")
    trace = "worldline-out/counter-replicas_agree_at_rest.wl"
    assert (result.status, result.err) == (1, "")
    assert result.out.startswith("counter: VIOLATED\n")
    assert f"trace  {trace}\n" in result.out
    assert f"replay worldline replay {trace} counter.py\n" in result.out
    assert (folder / trace).is_file()
    assert result.out.endswith(
        "\n 4  backup   deliver Total(value=1) from primary  (sent in step 1)\n"
        "               total: 2 → 1\n"
    )
    assert result.out.partition("\n\n")[2] in run("show", trace).out


def test_a_bound_is_exit_code_3_and_named():
    result = run("check", "unbounded.py", "--max-states", "10")
    assert result.status == 3
    assert result.out.startswith("unbounded: UNKNOWN (bound: states)\n")


def test_a_parameter_reaches_the_system():
    assert run("check", "counter.py", "-p", "fixed=yes").status == 0


def test_declared_symmetry_is_used_unless_it_is_switched_off():
    target = ("check", "zoo:twophase", "-p", "n=2", "-p", "symmetry=true")
    folded = run(*target).out
    assert "34 states, 94 generated" in folded
    assert "symmetry: 2! folded" in folded
    assert run(*target, "--symmetry").out.startswith("twophase: HOLDS")
    plain = run(*target, "--no-symmetry").out
    assert "56 states, 154 generated" in plain
    assert "symmetry" not in plain


def test_symmetry_that_is_not_declared_is_refused():
    text = refusal(run("check", "zoo:twophase", "--symmetry"))
    assert "declares no symmetric nodes" in text


def test_symmetry_that_is_not_true_is_exit_code_2(folder: Path):
    (folder / "unequal.py").write_text(UNEQUAL, "utf-8")
    text = refusal(run("check", "unequal.py"))
    assert "makes the state of" in text
    assert "rank=1" in text
    assert run("check", "unequal.py", "--no-symmetry").status == 0


# ------------------------------------------------------------------------------ JSON


def test_json_is_one_object_with_the_first_violation_on_top():
    result = run("check", "counter.py", "-p", "adds=2", "--json")
    report = json.loads(result.out)
    trace = "worldline-out/counter-replicas_agree_at_rest.wl"
    assert (result.status, result.err) == (1, "")
    assert report["verdict"] == "violated"
    assert report["steps"] == 4
    assert report["trace"] == trace
    assert report["replay"] == f"worldline replay {trace} counter.py"
    first, second = report["properties"]
    assert (first["name"], first["trace"]) == ("replicas_agree_at_rest", trace)
    assert second["verdict"] == "unknown"


def test_json_of_what_holds_has_no_trace():
    report = json.loads(run("check", "zoo:toy", "--json").out)
    assert (report["verdict"], report["bound"]) == ("holds", None)
    assert (report["trace"], report["steps"], report["replay"]) == (None, None, None)
    assert (report["states"], report["generated"]) == (16, 25)


# --------------------------------------------------------------------------- options


def test_a_profile_is_shown_and_part_of_the_json():
    shown = run("check", "zoo:toy", "--profile").out
    assert "where the time went" in shown.splitlines()[-9]
    assert shown.splitlines()[-1].split()[:2] == ["the", "rest"]
    report = json.loads(run("check", "zoo:toy", "--profile", "--json").out)
    assert report["profile"]["handlers"]["count"] > 0
    assert "profile" not in json.loads(run("check", "zoo:toy", "--json").out)


def test_the_first_trace_goes_where_out_says(folder: Path):
    result = run("check", "counter.py", "--out", "runs/first.wl", "--json")
    assert (
        json.loads(result.out)["replay"] == "worldline replay runs/first.wl counter.py"
    )
    assert [p.name for p in folder.rglob("*.wl")] == ["first.wl"]


def test_one_property_is_checked_alone():
    result = run("check", "counter.py", "--property", "totals_are_positive", "--json")
    (known,) = json.loads(result.out)["properties"]
    assert (result.status, known["verdict"]) == (0, "holds")


def test_keep_going_searches_on_after_a_violation():
    command = ("check", "counter.py", "-p", "adds=3", "--json")
    first = json.loads(run(*command).out)
    all_of_it = json.loads(run(*command, "--keep-going").out)
    assert all_of_it["states"] > first["states"]
    assert all_of_it["bound"] is None
    assert [p["verdict"] for p in all_of_it["properties"]] == ["violated", "holds"]


def test_depth_first_search_needs_a_depth():
    assert "depth-first search has no bound" in refusal(
        run("check", "counter.py", "--depth-first")
    )
    result = run("check", "counter.py", "--depth-first", "--max-depth", "9")
    assert result.status == 1


def test_depth_first_search_is_refused_to_the_native_engine():
    bounded = ("check", "counter.py", "--depth-first", "--max-depth", "9")
    text = refusal(run(*bounded, "--engine", "native"))
    assert "the native engine has no depth-first search" in text
    assert "use the engine 'python'" in text


def test_a_deadlock_counts_only_if_asked_for(folder: Path):
    source = COUNTER.replace(
        "    @wl.call\n", "    @wl.call(when=lambda self, amount: self.total < 1)\n"
    )
    (folder / "stuck.py").write_text(source, "utf-8")
    assert run("check", "stuck.py").status == 0
    result = run("check", "stuck.py", "--deadlock", "--json")
    report = json.loads(result.out)
    assert (result.status, report["properties"][0]["name"]) == (1, "deadlock")


def test_the_seed_is_reported():
    command = ("check", "zoo:toy", "--seed", "7", "--engine", "python", "--json")
    report = json.loads(run(*command).out)
    assert (report["seed"], report["engine"]) == (7, "python")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bound", "name"),
    [(("--max-seconds", "0.2"), "seconds"), (("--max-memory", "1"), "memory")],
)
def test_time_and_memory_are_bounds(bound: tuple[str, str], name: str):
    result = run("check", "unbounded.py", *bound, "--json")
    assert (result.status, json.loads(result.out)["bound"]) == (3, name)


def test_ctrl_c_prints_what_was_learned(folder: Path):
    source = UNBOUNDED.replace(
        "        self.count += 1\n",
        "        self.count += 1\n"
        "        if self.count == 50:\n"
        "            signal.raise_signal(signal.SIGINT)\n",
    )
    (folder / "stopped.py").write_text(f"import signal\n{source}", "utf-8")
    result = run("check", "stopped.py", "--json")
    report = json.loads(result.out)
    assert (result.status, result.err) == (3, "")
    assert (report["verdict"], report["bound"]) == ("unknown", "interrupted")
    assert report["states"] == 50


# ------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["zoo:nothing"], "the zoo has no system 'nothing'; it has abd, "),
        (["missing.py"], "missing.py does not exist"),
        (["counter.py:sytem"], "counter.py has no function 'sytem'"),
        (["counter.py", "-p", "size=3"], "unknown parameter 'size'; known are fixed: "),
        (
            ["counter.py", "-p", "adds=few"],
            "parameter adds='few' is wrong; expected an",
        ),
        (["counter.py", "-p", "adds"], "-p 'adds' gives no value; write -p key=value"),
        (["counter.py", "-p", "=3"], "-p '=3' gives no value"),
        (["counter.py", *("-p", "adds=1") * 2], "-p adds=... is given twice"),
        (["counter.py", "--property", "x"], "counter has no property 'x'"),
        (["counter.py", "--max-depth", "0"], "'0' is not a whole number of at least 1"),
        (["counter.py", "--max-states", "x"], "argument --max-states: 'x' is not a"),
        (["counter.py", "--max-seconds", "nan"], "not a positive number of seconds"),
        (["counter.py", "--engine", "steam"], "invalid choice: 'steam'"),
        (["counter.py", "--seed", "x"], "argument --seed: 'x' is no seed of 64 bits"),
        (["counter.py", "--unknown"], "unrecognized arguments: --unknown"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments: list[str], said: str):
    assert said in refusal(run("check", *arguments))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "def system(:\n",
            "is not valid Python: invalid syntax (user.py:1: def system(:",
        ),
        ("x = 1 / 0\n", "ZeroDivisionError: division by zero (user.py:1: x = 1 / 0)"),
        ("def system(): return 5\n", "user.py:system returned 5; return a wl.System"),
        ("def system(): raise ValueError('odd')\n", "user.py:system: odd"),
        (
            SENDS_A_LIST,
            "message Names: field 'names' holds a list (user.py:11 in start); use a tuple",
        ),
    ],
)
def test_a_bad_module_is_refused_in_one_line(folder: Path, source: str, said: str):
    (folder / "user.py").write_text(source, "utf-8")
    assert said in refusal(run("check", "user.py"))


def test_an_observer_that_raises_is_refused_with_the_line_of_the_user(folder: Path):
    source = COUNTER.replace(
        "import worldline as wl\n",
        "import worldline as wl\n\n"
        "def project(step): return 1\n\n"
        "def fold(value, step): raise KeyError('lost')\n\n"
        "BAD = wl.Observer('bad', 0, project, fold)\n",
    )
    source = source.replace('"""A backup that trusts the order of messages."""\n', "\n")
    source = source.replace("name=", "observers=[BAD], name=")
    (folder / "user.py").write_text(source, "utf-8")
    said = "the fold of observer 'bad' raised KeyError: 'lost' (user.py:6 in fold)"
    assert said in refusal(run("check", "user.py"))


def test_a_guard_that_raises_is_a_violation(folder: Path):
    source = COUNTER.replace("@wl.call", "@wl.call(when=lambda self, n: 1 / 0)")
    (folder / "user.py").write_text(source, "utf-8")
    result = run("check", "user.py")
    assert result.status == 1
    assert "ZeroDivisionError: division by zero (user.py:" in result.out


def test_a_handler_that_is_not_deterministic_is_reported(folder: Path):
    source = COUNTER.replace(
        "        self.total += amount\n",
        "        DRAWN.append(0)\n        self.total += len(DRAWN)\n",
    )
    (folder / "impure.py").write_text(f"DRAWN = []\n{source}", "utf-8")
    result = run("check", "impure.py")
    assert result.status == 2
    assert "is not deterministic: first" in result.err
    assert "Traceback" not in result.err


# ----------------------------------------------------------------------- determinism


@pytest.mark.nightly
def test_processes_with_other_hash_seeds_write_the_same_bytes(folder: Path):
    files = []
    for hash_seed in ("0", "1", "4711"):
        out = folder / f"{hash_seed}.wl"
        result = run_process(
            *("check", "zoo:paxos", "-p", "bugs=wids2", "--out", out),
            folder=folder,
            hash_seed=hash_seed,
        )
        assert result.status == 1, result
        files.append(out.read_bytes())
    assert files[0] == files[1] == files[2]
    unpacker = zstandard.ZstdDecompressor().decompressobj()
    content = unpacker.decompress(files[0])
    assert b'"record":"header"' in content
    assert os.fsencode(folder) not in content


@pytest.mark.slow
def test_the_folder_of_a_file_does_not_matter(folder: Path):
    contents = []
    for name in ("one", "two"):
        place = folder / name
        place.mkdir()
        (place / "counter.py").write_text(COUNTER, "utf-8")
        assert run_process("check", "counter.py", folder=place).status == 1
        (trace,) = place.rglob("*.wl")
        contents.append(trace.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("out", ["", "here"])
def test_a_place_where_no_trace_can_go_is_refused_before_the_search(
    out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("here").mkdir()
    for verb in ("check", "faults"):
        result = run(verb, "zoo:nothing", f"--out={out}")
        assert result.status == 2
        assert "--out" in result.err


@pytest.mark.parametrize("verb", ["check", "predict", "walk", "fuzz"])
def test_a_property_that_is_named_twice_is_judged_once(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)
    twice = ("--property", "totals_are_positive") * 2
    bounds = ("--max-steps", "9", "--max-seconds", "0.1") if verb in "walk fuzz" else ()
    result = run(verb, "counter.py", *twice, *bounds)
    assert result.status in (0, 3)
    assert result.out.count("  totals_are_positive  safety: ") == 1
