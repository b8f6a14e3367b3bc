"""``worldline predict``: verdicts, what is printed, shorter runs, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import refusal, run

TELLER = """\
import worldline as wl

A, B = wl.ids("a", "b")

@wl.message
class Told:
    count: int

@wl.node
class Counter:
    count: int = 0
    heard: int = 0

    @wl.call
    def up(self, ctx):
        self.count += 1
        ctx.send(B, Told(self.count))

    @wl.on(Told)
    def told(self, ctx, src, msg):
        self.heard = msg.count

@wl.safety
def nothing_is_lost(view):
    return bool(view.messages()) or view[A].count == view[B].heard

def system(ups: int = 1):
    return wl.System(
        {A: Counter(), B: Counter()},
        network=wl.datagrams(reordering=False),
        workload=[wl.script(A, [Counter.up] * ups)],
        properties=[nothing_is_lost],
        name="teller",
    )
"""


@pytest.fixture(autouse=True)
def _a_file_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "teller.py").write_text(TELLER)
    monkeypatch.chdir(tmp_path)


def test_what_can_go_wrong_is_shown_with_the_command_that_replays_it():
    result = run("predict", "teller.py")
    assert result.status == 1
    assert result.out.startswith("teller: VIOLATED\n")
    for line in (
        "  nothing_is_lost  safety: violated after 2 steps",
        "    trace  worldline-out/teller-nothing_is_lost-min.wl",
        "    replay worldline replay worldline-out/teller-nothing_is_lost-min.wl teller.py",
        " 2  b  drop Told(count=1) from a  (sent in step 1)",
    ):
        assert line in result.out.splitlines()
    file = "worldline-out/teller-nothing_is_lost-min.wl"
    assert run("replay", file, "teller.py").status == 1
    assert "; predicted faults drops=1, resets=1, deaf=1" in run("show", file).out


def test_from_here_on_nothing_can_go_wrong_without_faults():
    result = run("predict", "teller.py", "--faults", "declared")
    assert (result.status, result.out.splitlines()[0]) == (0, "teller: HOLDS")
    none = run("predict", "teller.py", "--faults", "none")
    assert (none.status, none.out.splitlines()[0]) == (0, "teller: HOLDS")
    bounded = run("predict", "teller.py", "--faults", "declared", "--max-states", "1")
    assert bounded.status == 3
    assert bounded.out.startswith("teller: UNKNOWN (bound: states)\n")


def test_a_json_object_has_the_base_and_what_a_prediction_knows():
    said = json.loads(run("predict", "teller.py", "--json", "--as-found").out)
    base = ["verdict", "properties", "bound", "seconds", "seed", "trace", "steps"]
    assert [*said][:8] == [*base, "replay"]
    assert (said["verdict"], said["bound"], said["steps"]) == (
        *("violated", "all violated"),
        2,
    )
    (one,) = said["predictions"]
    assert one.pop("states") == said["states"]
    assert one == {
        "property": "nothing_is_lost",
        "cost": 2,
        "steps": 2,
        "trace": "worldline-out/teller-nothing_is_lost.wl",
        "absent": [],
    }
    numbers = ("states", "generated", "put_off", "executed", "cost", "depth", "bytes")
    assert all(type(said[key]) is int for key in (*numbers, "decided"))
    assert (said["cost"], said["depth"], said["decided"]) == (2, 3, 1)


def test_a_prediction_goes_on_from_a_step_and_from_a_state():
    assert run("predict", "teller.py", "-p", "ups=2", "--out", "run.wl").status == 1
    kept = run("debug", "run.wl", "teller.py", "-c", "jump 1; save here.wl")
    assert "the state of step 1 is in here.wl" in kept.out
    shown = run("show", "here.wl").out.splitlines()
    assert (shown[0], shown[-1]) == (
        "teller: a state, with no steps",
        "a state, with no steps",
    )
    assert run("replay", "here.wl", "teller.py").out.splitlines() == [
        "teller: a state, with no steps, reproduced",
        "  this state violates nothing",
    ]
    for place in ("run.wl:1", "here.wl"):
        result = run("predict", "teller.py", "--from", place, "--out", "again.wl")
        assert result.status == 1
        assert "safety: violated after 1 step" in result.out
        assert "with every fault as often as allowed" in result.out
        assert run("replay", "again-min.wl", "teller.py").status == 1
    again = run("predict", "teller.py", "--from", "here.wl", "--faults", "declared")
    assert "from the state in here.wl on" in again.out
    assert "as often as allowed" not in again.out


def test_what_a_prediction_begins_with_is_not_overwritten():
    assert run("predict", "teller.py", "-p", "ups=2", "--as-found").status == 1
    found = Path("worldline-out/teller-nothing_is_lost.wl")
    for name in ("teller-nothing_is_lost-min.wl", "teller-nothing_is_lost.wl"):
        place = found.replace(found.with_name(name))
        before = place.read_bytes()
        asked = ("teller.py", "-p", "ups=2", "--from", f"{place}:1")
        for verb in (("predict",), ("check", "--minimize")):
            result = run(*verb, *asked)
            assert place.read_bytes() == before, result.out
        refused = refusal(run("predict", *asked, "--out", str(place)))
        assert f"the run that is found would take the place of {place}" in refused
        assert "take the place of" in refusal(run("check", *asked, "--out", str(place)))
        assert place.read_bytes() == before
        found = place


def test_a_shorter_run_takes_the_place_of_no_source():
    Path("found-min.wl").write_text("import worldline")
    result = run("predict", "teller.py", "--out", "found.wl")
    assert result.status == 1
    assert "    trace  found-min-2.wl" in result.out.splitlines()
    assert Path("found-min.wl").read_text() == "import worldline"


def test_what_a_state_keeps_of_what_is_declared_otherwise_is_said():
    mended = "def system(ups: int = 1, mended: int = 0):"
    source = TELLER.replace("def system(ups: int = 1):", mended)
    source = source.replace(
        "    heard: int = 0", "    heard: int = 0\n    mended: int = 0"
    )
    source = source.replace("{A: Counter()", "{A: Counter(mended=mended)")
    Path("teller.py").write_text(source)
    run("predict", "teller.py", "-p", "ups=2", "--out", "run.wl")
    run("debug", "run.wl", "teller.py", "-c", "jump 1; save here.wl")
    run("predict", "teller.py", "-p", "ups=2", "--from", "here.wl", "--out", "found.wl")
    for file, is_state in (("found.wl", True), ("run.wl", False)):
        said = run("replay", file, "teller.py", "-p", "mended=1").out
        assert "note: node a is declared otherwise" in said
        kept = (
            "declared otherwise: mended was 0, now it is 1; the run begins in a state"
        )
        assert (kept in said) is is_state


def test_a_source_that_has_changed_since_is_noted():
    run("predict", "teller.py", "-p", "ups=2", "--out", "run.wl")
    said = "note: the source changed since run.wl was recorded"
    asked = ("teller.py", "-p", "ups=2", "--from", "run.wl:1")
    before = [run(verb, *asked).out for verb in ("predict", "check")]
    Path("teller.py").write_text(TELLER.replace("count: int = 0", "count: int = +0"))
    after = [run(verb, *asked).out for verb in ("predict", "check")]
    assert [said in out for out in (*before, *after)] == [False] * 2 + [True] * 2


def test_a_run_is_made_shorter_before_it_is_shown():
    cb3 = ("zoo:bullet", "-p", "bugs=cb3", "-p", "start=cb3")
    asked = (*cb3, "--faults", "declared", "--property", "views_are_complete", "--json")
    found = json.loads(run("predict", *asked, "--as-found").out)
    said = json.loads(run("predict", *asked).out)
    assert found["steps"] == found["predictions"][0]["steps"] == 10
    # Breadth-first search finds one of 8.
    assert said["steps"] == said["predictions"][0]["steps"] == 8
    assert said["predictions"][0]["cost"] == 10
    (note,) = [n for n in said["notes"] if "was found after" in n]
    assert note == (
        "views_are_complete was found after 10 steps: "
        "worldline-out/bullet-views_are_complete.wl has these"
    )


def test_a_run_that_there_is_no_time_to_shorten_is_shown_as_it_was_found():
    cb1 = ("zoo:randtree", "-p", "bugs=cb1", "-p", "start=cb1")
    result = run("predict", *cb1, "--max-seconds", "0.3", "--max-states", "100000000")
    assert result.status == 1
    assert "children_are_not_siblings is not made shorter: no time is" in result.out
    file = "worldline-out/randtree-children_are_not_siblings.wl"
    assert f"    trace  {file}\n" in result.out
    assert run("replay", file).status == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--repeat-cost", "0"], "repeat_cost='0' is not a whole number"),
        (["--repeat-cost", "x"], "give a whole number of at least 1, or never"),
        (["--from", "teller.py:x"], "'x' is no step of teller.py; give its number"),
        (
            ["--until", "view.count"],
            "View has no 'count' for an expression; write view[a]",
        ),
        (
            ["--until", "view[c].count"],
            "name 'c' is not defined; there are A, B, a, b, Counter",
        ),
        (["--faults", "drop=1"], "not understood at 'drop=1'"),
        (["--faults", ""], "write declared, none, or NAME=N"),
        (["--faults", "resets=1,"], "not understood at ''"),
        (["--faults", "drops=1,drops=0"], "name drops twice; name it once"),
        (["--faults", "deaf=2"], "add silent_resets=1, or write none"),
        (["--from", "gone.wl"], "there is no trace gone.wl"),
        (["--from", "teller.py"], "teller.py is not a trace"),
        (["--property", "gone"], "has no property 'gone'"),
    ],
)
def test_what_is_no_option_is_refused(options: list[str], text: str):
    assert text in refusal(run("predict", "teller.py", *options))


def test_an_expression_that_fails_names_no_file_of_ours():
    for text in ("view.count", "view[c].count", "1 / 0"):
        assert ".py" not in refusal(run("predict", "teller.py", "--until", text))


def test_the_paper_s_algorithm_is_one_option_away():
    result = run("predict", "zoo:toy", "--repeat-cost", "never")
    assert result.status == 3
    assert result.out.startswith("toy: UNKNOWN (bound: pruned own steps)\n")


def test_the_help_says_what_it_asks():
    text = " ".join(run("predict", "--help").out.split())
    assert "The question: from here on, what can go wrong?" in text
    for flag in ("--from", "--faults", "--repeat-cost", "--as-found", "--max-cost"):
        assert flag in text
