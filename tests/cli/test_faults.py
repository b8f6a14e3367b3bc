"""``worldline faults``: verdicts, options, what is printed and written, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import refusal, run

from worldline.injection.scope import FaultSet
from worldline.injection.subject import Run
from worldline.lineage.targets.program_subject import DedalusSubject
from worldline.runs.report import BASE
from worldline.trace.format import read

SPEC = """\
missing(N, P) :- log(M, P), node(M, N), notin log(N, P);
pre(N, P) :- log(N, P), notin bcast(N, P)@1;
post(N, P) :- log(N, P), notin missing(_, P);
"""

DELIVER = """\
node("a", "b")@1; node("b", "a")@1; bcast("a", "hi")@1;
node("a", "c")@1; node("c", "a")@1; node("b", "c")@1; node("c", "b")@1;
node(N, M)@next :- node(N, M);
log(N, P) :- bcast(N, P);
log(N, P)@next :- log(N, P);
log(M, P)@async :- bcast(N, P), node(N, M);
"""

SYSTEM = """\
import worldline as wl

A, B, C = wl.ids("a", "b", "c")

@wl.message
class Hello:
    pass

@wl.node
class Member:
    knows: bool = False

    @wl.call
    def begin(self, ctx):
        self.knows = True
        for other in (B, C):
            ctx.send(other, Hello())

    @wl.on(Hello)
    def hear(self, ctx, src, msg):
        self.knows = True

@wl.liveness
def all_or_none(view):
    return len({view[node].knows for node in (B, C)}) == 1

def system():
    return wl.System(
        {A: Member(), B: Member(), C: Member()},
        workload=[wl.script(A, [Member.begin])],
        network=wl.datagrams(loss=True),
        properties=[all_or_none],
        name="greeting",
    )
"""


@pytest.fixture(autouse=True)
def _files_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deliver.ded").write_text(DELIVER)
    (tmp_path / "spec.ded").write_text(SPEC)
    (tmp_path / "greeting.py").write_text(SYSTEM)
    monkeypatch.chdir(tmp_path)


PROGRAM = ("deliver.ded", "spec.ded")
BROKEN = ("faults", *PROGRAM, "--eot", "4", "--eff", "2")


def test_a_falsifier_is_told_in_words_drawn_and_explained():
    result = run(*BROKEN, "--crashes", "0")
    assert result.status == 1
    for line in (
        "deliver+spec: VIOLATED\n  b never gets log(hi): a→b is lost in 1\n",
        "    so missing(b, hi) holds\n    so (c, hi) is owed, and missing\n",
        "  scope: nodes a,b,c, rounds 1..4, losses at send times 1..1, up to 0 crashes",
        "  it fails if\n    in round 1, what a sends to b is lost\n",
        "replay worldline-out/deliver-spec-faults.wl deliver.ded spec.ded\n",
        "executions, ",
        "engine symbolic\n",
        "  1   o───────x───────●      log(hi)\n",
        "without faults, this is enough for (c, hi):\n  in 1 a→b (lost), a→c\n",
    ):
        assert line in result.out


def test_the_printed_command_replays_it():
    result = run(*BROKEN)
    (line,) = (line for line in result.out.splitlines() if "  replay " in line)
    again = run(*line.split()[2:])
    assert again.status == 1
    assert "VIOLATED what_is_owed_is_kept, reproduced\n" in again.out


def test_a_trace_of_faults_can_be_shown():
    run(*BROKEN, "--out", "bad.wl")
    assert "drop log(x1='hi') from a  (sent in step 1)" in run("show", "bad.wl").out
    assert "├──────▶x" in run("show", "bad.wl", "--diagram").out


def test_a_trace_of_faults_can_be_debugged():
    run(*BROKEN, "--out", "bad.wl")
    result = run(
        "debug", "bad.wl", *PROGRAM, "-c", "jump 2; state b; print view[c].pre"
    )
    assert "  log: set()\n" in result.out
    assert result.out.endswith("\nset()\n")


def test_relations_may_be_called_like_what_a_trace_calls_its_own():
    text = DELIVER.replace("log", "round") + (
        "take_round(N) :- round(N, _); round_(N) :- round(N, _);\n"
        'never(N) :- round(N, "no");\n'
    )
    text += SPEC.replace("log", "round")
    Path("names.ded").write_text(text)
    words = ("faults", "names.ded", "--eot", "3", "--eff", "2", "--crashes", "0")
    assert run(*words, "--out", "bad.wl").status == 1
    shown = "print {n: (view[n].round_, view[n].round__, view[n].never) for n in nodes}"
    result = run("debug", "bad.wl", "names.ded", "-c", shown)
    told = "({('hi',)}, {()}, set())"
    assert result.out == f"{{a: {told}, b: (set(), set(), set()), c: {told}}}\n"


@pytest.mark.parametrize(
    ("broken", "words"),
    [(BROKEN, PROGRAM), (("faults", "zoo:simple-deliv"), ())],
    ids=["files", "zoo"],
)
def test_a_state_kept_of_a_program_is_one_of_that_program(
    broken: tuple[str, ...], words: tuple[str, ...]
):
    run(*broken, "--out", "bad.wl")
    run("debug", "bad.wl", *words, "-c", "jump 5; save here.wl")
    kept, whole = read(Path("here.wl")).header, read(Path("bad.wl")).header
    assert kept.target == whole.target
    assert kept.parameters == whole.parameters
    again = run("replay", "here.wl", *words)
    assert again.status == 0
    assert again.err.endswith(", as here.wl says\n")
    assert "program_system" not in again.err


def test_a_crash_is_a_step_of_its_node():
    run("faults", "zoo:retry-deliv", "--out", "bad.wl")
    assert "a  call crash()\n" in run("show", "bad.wl").out


def test_what_arrives_at_a_halted_node_is_refused_and_not_dropped():
    run(
        "faults",
        "zoo:2pc",
        "--crash-semantics",
        "halt",
        "--eff",
        "0",
        "--out",
        "bad.wl",
    )
    steps = [step for step in read(Path("bad.wl")).steps if step.node is not None]
    crash = next(n for n, step in enumerate(steps) if step.kind == "crash")
    down = steps[crash].node
    refused = [n for n, step in enumerate(steps) if step.kind == "refuse"]
    assert refused
    assert all(n > crash and steps[n].node == down for n in refused)


@pytest.mark.parametrize("program", ["retry-deliv", "3pc"])
@pytest.mark.parametrize("semantics", ["mute", "halt"])
def test_every_falsifier_can_be_replayed(program: str, semantics: str):
    run("faults", f"zoo:{program}", "--crash-semantics", semantics, "--out", "bad.wl")
    again = run("replay", "bad.wl")
    assert again.status == 1
    assert again.err.startswith(f"worldline: note: zoo:{program} is loaded with -p nod")
    assert "note" not in again.out


def test_late_messages_can_be_replayed():
    late = run(
        *("faults", "zoo:2pc", "--eff", "4", "--crashes", "0", "--delay", "1"),
        *("--out", "bad.wl", "--json"),
    )
    assert json.loads(late.out)["verdict"] == "violated"
    assert run("replay", "bad.wl").status == 1


def test_a_replay_notices_that_the_program_has_changed():
    run(*BROKEN, "--out", "bad.wl")
    Path("deliver.ded").write_text(f"{DELIVER}bcast(N, P)@next :- bcast(N, P);\n")
    again = run("replay", "bad.wl", *PROGRAM)
    assert again.status == 2
    assert "NOT REPRODUCED" in again.out
    assert "step 6, call round(2) at a, went otherwise: sends" in again.out
    assert again.out.count("; program ") == 2


def test_json_has_the_documented_keys():
    result = run(*BROKEN, "--json")
    said = json.loads(result.out)
    assert list(said) == [
        *BASE,
        "system",
        "scope",
        "faults",
        "causes",
        "executions",
        "eot",
        "eff",
        "crashes",
        "nodes",
        "crash_nodes",
        "engine",
        "vacuous",
        "untested",
        "assumptions",
        "notes",
    ]
    assert said["verdict"] == "violated"
    assert said["faults"] == [["loss a->b@1"]]
    assert (said["eot"], said["eff"], said["crashes"]) == (4, 2, 1)
    assert said["nodes"] == ["a", "b", "c"]
    assert Path(said["trace"]).exists()


@pytest.mark.parametrize("engine", ["symbolic", "ldfi", "random", "exhaustive"])
def test_every_engine_finds_it(engine: str):
    result = run(*BROKEN, "--engine", engine, "--crashes", "0", "--json")
    said = json.loads(result.out)
    assert (result.status, said["engine"]) == (1, engine)
    assert said["faults"] in [[["loss a->b@1"]], [["loss a->c@1"]]]


@pytest.mark.parametrize("engine", ["symbolic", "ldfi", "exhaustive"])
def test_all_falsifiers_can_be_asked_for(engine: str):
    result = run(*BROKEN, "--engine", engine, "--crashes", "0", "--all", "--json")
    assert json.loads(result.out)["faults"] == [["loss a->b@1"], ["loss a->c@1"]]


def test_what_holds_is_said_with_what_it_assumes():
    result = run("faults", "zoo:redun-deliv", "--eot", "6")
    assert result.status == 0
    assert result.out.startswith("redun-deliv: HOLDS\n")
    assert "assuming: messages arrive in the next round; crashed nodes" in result.out


def test_late_messages_are_among_what_is_assumed():
    result = run("faults", "zoo:redun-deliv", "--eff", "5", "--delay", "1")
    assert "messages arrive in the next round or up to 1 later" in result.out


def test_an_interrupt_after_the_verdict_keeps_it(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("worldline.lineage.targets.program.frontier", interrupted)
    result = run("faults", "zoo:simple-deliv", "--frontier")
    assert result.status == 1
    assert "note: interrupted: the verdict stands" in result.out


def test_the_scope_of_a_program_of_the_zoo_is_the_papers():
    said = json.loads(run("faults", "zoo:2pc-ctp", "--json").out)
    assert (said["eot"], said["eff"], said["crashes"]) == (8, 0, 1)
    assert said["nodes"] == ["C", "a", "b", "d"]


def test_an_incomplete_search_proves_nothing():
    result = run(
        "faults", "zoo:redun-deliv", "--engine", "ldfi", "--negation", "ignore"
    )
    assert result.status == 3
    assert "redun-deliv: UNKNOWN\n" in result.out
    assert "note: nothing found, which without the whole lineage is no proof" in (
        result.out
    )


def test_a_bound_leaves_it_unknown():
    result = run(
        *("faults", "zoo:redun-deliv", "--engine", "exhaustive"),
        *("--max-executions", "20"),
    )
    assert result.status == 3
    assert result.out.startswith("redun-deliv: UNKNOWN (bound: executions)\n")


def test_what_promises_nothing_is_vacuous():
    Path("silent.ded").write_text(DELIVER.replace('bcast("a", "hi")@1;', "") + SPEC)
    Path("silent.ded").write_text(
        f"{Path('silent.ded').read_text()}bcast(N, P) :- never(N, P);\n"
        'never("a", "hi")@99;\n'
    )
    result = run("faults", "silent.ded", "--json")
    said = json.loads(result.out)
    assert (result.status, said["verdict"], said["vacuous"]) == (3, "unknown", True)


def test_rules_that_make_it_hold_are_suggested():
    result = run(*BROKEN, "--crashes", "0", "--harden")
    assert (
        "hardening: with any of these, it holds in this scope (certified)" in result.out
    )
    assert "    bcast(Node, X1)@next :- bcast(Node, X1);\n" in result.out


def test_a_sweep_ends_with_the_smallest_scope_that_fails():
    asked = ("faults", "deliver.ded", "spec.ded", "--crashes", "0", "--sweep", "60")
    result = run(*asked, "--json")
    said = json.loads(result.out)
    assert (result.status, said["verdict"], said["bound"]) == (1, "violated", None)
    assert said["sweep"]["failing"] == [said["eot"], said["eff"]] == [3, 2]
    assert (said["sweep"]["certain"], said["sweep"]["bound"]) == (True, None)
    assert said["sweep"]["holds_up_to"] == [2, 0]
    assert said["faults"] == [["loss a->b@1"]]
    text = run(*asked).out
    assert "    holds up to EOT 2, EFF 0, with up to 0 crashes\n" in text
    assert "    fails first at EOT 3, EFF 2: loss a->b@1\n" in text
    assert "    whether longer runs recover: --eot 4 --eff 2, and so on\n" in text


@pytest.mark.slow
def test_a_sweep_without_failure_says_up_to_where_it_holds():
    result = run("faults", "zoo:redun-deliv", "--sweep", "0.5", "--json")
    said = json.loads(result.out)
    assert (result.status, said["verdict"], said["bound"]) == (3, "unknown", "seconds")
    eot, eff = said["sweep"]["holds_up_to"]
    assert [said["eot"], said["eff"]] == [eot, eff] == [eot, eot - 1]
    decided = [one["eot"] for one in said["sweep"]["tried"]]
    assert decided[:eot] == list(range(1, eot + 1))
    assert (said["sweep"]["failing"], said["sweep"]["certain"]) == (None, False)


def test_a_sweep_without_a_promise_is_vacuous():
    Path("silent.ded").write_text(
        'has("a", 1)@1; has("b", 1)@1; pre(N, P) :- has(N, P), notin has(N, P);\n'
        "has(N, P)@next :- has(N, P); post(N, P) :- has(N, P);\n"
    )
    result = run("faults", "silent.ded", "--sweep", "0.1")
    assert result.status == 3
    assert result.out.startswith("silent: UNKNOWN (vacuous: ")
    assert "vacuous: nothing was put to the test" in result.out
    assert "holds up to" not in result.out


COUNTING = """\
import worldline as wl

@wl.node
class Counter:
    count: int = 0

    @wl.start
    def start(self, ctx):
        ctx.set_timer(Counter.tick, after=1.0)

    @wl.timer
    def tick(self, ctx):
        self.count += 1
        if self.count < 9:
            ctx.set_timer(Counter.tick, after=1.0)

@wl.safety
def few(view):
    return all(view[node].count < 4 for node in view)

@wl.liveness
def many(view):
    return all(view[node].count > 2 for node in view)

def system():
    nodes = dict(zip(wl.ids("a", "b"), (Counter(), Counter())))
    return wl.System(nodes, network=wl.datagrams(loss=True), properties=[few, many])
"""


def test_what_is_safe_in_no_longer_run_fails_without_faults():
    Path("counting.py").write_text(COUNTING)
    asked = ("faults", "counting.py", "--crashes", "0", "--sweep", "60")
    result = run(*asked)
    assert result.status == 1
    assert "EOT 1..3: broken even without faults: too short, or wrong" in result.out
    assert "fails first at EOT 5, EFF 0: without any fault" in result.out


def test_a_frontier_tells_how_few_losses_do():
    result = run("faults", "zoo:retry-deliv", "--frontier", "--json")
    none, one = json.loads(result.out)["frontier"]
    assert (none["crashes"], none["losses"]) == (0, None)
    assert (one["crashes"], one["losses"], one["eff"], one["exact"]) == (1, 1, 2, True)


def test_a_report_is_one_page_and_its_runs():
    result = run(*BROKEN, "--report", "out")
    assert result.status == 1
    page = Path("out/index.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in page
    assert page.count("<svg") == 3  # the falsifier, a lineage, the run without faults
    runs = json.loads(Path("out/runs.json").read_text("utf-8"))
    assert [one["status"] for one in runs] == ["success", "failure"]
    assert runs[0]["pre"] == [["b", "hi"], ["c", "hi"]]
    assert runs[1]["failureSpec"]["omissions"] == [{"from": "a", "to": "b", "time": 1}]


@pytest.mark.parametrize("engine", ["states", "ldfi", "exhaustive"])
def test_python_nodes_are_searched_in_rounds(engine: str):
    result = run(
        *("faults", "greeting.py", "--eot", "3", "--eff", "2", "--crashes", "0"),
        *("--engine", engine, "--json"),
    )
    said = json.loads(result.out)
    assert (result.status, said["verdict"]) == (1, "violated")
    assert said["nodes"] == ["a", "b", "c"]
    assert said["faults"] in [[["loss a->b@1"]], [["loss a->c@1"]]]
    again = run("replay", said["trace"], "greeting.py")
    assert (again.status, again.err) == (1, "")


def test_python_nodes_have_a_frontier_and_a_page():
    result = run(
        *("faults", "greeting.py", "--eot", "3", "--crashes", "1", "--frontier"),
        *("--report", "out", "--json"),
    )
    none, one = json.loads(result.out)["frontier"]
    assert (none["crashes"], none["losses"], none["exact"]) == (0, 1, True)
    assert (one["crashes"], one["losses"], one["exact"]) == (1, 0, True)
    page = Path("out/index.html").read_text("utf-8")
    assert page.count("<svg") == 3


def test_an_interrupted_search_is_unknown(monkeypatch: pytest.MonkeyPatch):
    runs = iter(range(100))

    def interrupted(self: DedalusSubject, faults: FaultSet) -> Run:
        if next(runs) == 3:
            raise KeyboardInterrupt
        return made(self, faults)

    made = DedalusSubject.run
    monkeypatch.setattr(DedalusSubject, "run", interrupted)
    result = run("faults", "zoo:redun-deliv", "--engine", "ldfi")
    assert result.status == 3
    assert result.out.startswith("redun-deliv: UNKNOWN (bound: interrupted)\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.ded"], "cannot read nowhere.ded"),
        (["spec.ded"], "the program names no node"),
        (["deliver.ded", "greeting.py"], "cannot be read as one program"),
        (["zoo:nobody"], "the zoo has no program or system 'nobody'"),
        (["zoo:2pc", "-p", "n=3"], "a Dedalus program has no parameters"),
        (["greeting.py", "--nodes", "a,b"], "leave --nodes out"),
        (["greeting.py", "--harden", "--eot", "3"], "leave --harden out"),
        (["zoo:2pc", "--eff", "9"], r"give --eff between 0 and --eot"),
        (
            ["zoo:2pc", "--engine", "states"],
            "cannot be searched by the engine 'states'",
        ),
        (["zoo:2pc", "--engine", "random", "--all"], "leave --all out"),
        (["zoo:2pc", "--goals", "failure-free"], "knows all goals only"),
        (["zoo:2pc", "--nodes", "a,b"], "is used as a place, and is no node"),
        (["zoo:2pc", "--recovery"], "start again"),
        (["zoo:2pc", "--crash-semantics", "partial"], "no partial crashes"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], said: str):
    result = run("faults", *arguments)
    assert result.status == 2
    assert said in result.err


def test_it_needs_a_target():
    assert "the following arguments are required: TARGET" in refusal(run("faults"))


def test_the_nodes_that_may_crash_and_the_properties_are_chosen():
    chosen = ("--property", "all_or_none", "--crash-nodes", "b,c")
    result = run("faults", "greeting.py", "--eff", "0", *chosen)
    assert "rounds 1..6, no losses, up to 1 crashes of b,c (halt)\n" in result.out
