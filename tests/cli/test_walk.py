"""``worldline walk``: verdicts, options, what is printed, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import refusal, run

LOSSY = """\
import worldline as wl

A, B = wl.ids("a", "b")

@wl.message
class Request:
    pass

@wl.node
class Asker:
    heard: bool = False

    @wl.call
    def ask(self, ctx):
        ctx.send(B, Request())

    @wl.on(Request)
    def hear(self, ctx, src, msg):
        self.heard = True

@wl.liveness
def is_heard(view):
    return view[B].heard

def system(drops: int = 1):
    return wl.System(
        {A: Asker(), B: Asker()},
        workload=[wl.script(A, [Asker.ask])],
        faults=wl.Faults(drops=drops),
        properties=[is_heard],
        name="lossy",
    )
"""


@pytest.fixture(autouse=True)
def _a_file_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lossy.py").write_text(LOSSY)
    monkeypatch.chdir(tmp_path)


def test_a_dead_state_is_reported_with_both_runs():
    result = run("walk", "lossy.py", "--seed", "5")
    assert result.status == 1
    assert result.out.startswith("lossy: VIOLATED\n")
    for line in (
        "  is_heard  liveness: violated after 2 steps",
        "    replay worldline replay worldline-out/lossy-is_heard.wl lossy.py",
        "    critical step 2, drop at b Request() from a",
        "    certified: of the 1 state that can follow none is live",
        "    of 60 walks from the step before 60 became live",
        "    closest live run  worldline-out/lossy-is_heard-live.wl",
        "the run",
    ):
        assert f"\n{line}\n" in result.out
    assert "case C1" in result.out
    assert "seed 5" in result.out


def test_both_traces_are_replayed_and_shown():
    run("walk", "lossy.py")
    dead = run("replay", "worldline-out/lossy-is_heard.wl", "lossy.py")
    assert (dead.status, "VIOLATED is_heard, reproduced" in dead.out) == (1, True)
    live = run("replay", "worldline-out/lossy-is_heard-live.wl", "lossy.py")
    assert (live.status, "LIVE is_heard, reproduced" in live.out) == (0, True)
    shown = run("show", "worldline-out/lossy-is_heard.wl")
    assert "step 2 is the critical transition" in shown.out


def test_json_is_one_object():
    result = run("walk", "lossy.py", "--json", "--out", "dead.wl")
    found = json.loads(result.out)
    assert result.status == 1
    assert found["seconds"] >= 0
    expected = {
        "verdict": "violated",
        "property": "is_heard",
        "critical_step": 2,
        "case": "C1",
        "certainty": "certified",
        "probe_walks": 1,
        "walks": 2,
        "trace": "dead.wl",
        "live_trace": "dead-live.wl",
        "replay": "worldline replay dead.wl lossy.py",
    }
    assert {key: found[key] for key in expected} == expected


def test_nothing_found_is_unknown():
    result = run("walk", "lossy.py", "-p", "drops=0")
    assert result.status == 3
    assert result.out.startswith("lossy: UNKNOWN\n")
    assert not Path("worldline-out").exists()


def test_options_reach_the_search():
    result = run(
        *("walk", "lossy.py", "--depth", "2", "--max-steps", "7", "--probes", "3"),
        *("--certify", "0", "--unbiased", "--walk-faults", "--weight", "drop=1000000"),
        *("--threads", "1", "--engine", "python", "--property", "is_heard", "--json"),
    )
    found = json.loads(result.out)
    assert (found["verdict"], found["certainty"]) == ("violated", "probable")
    assert (found["probe_walks"], found["engine"], found["depth"]) == (3, "python", 2)
    assert found["missed_share"] == pytest.approx(1 - 0.05 ** (1 / 3), abs=1e-4)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--weight", "drop"], "--weight 'drop' is not understood"),
        (["--weight", "fall=2"], "has no events 'fall' to weigh"),
        (["--certify", "-1"], "is not a whole number"),
        (["--depth", "0"], "is not a whole number"),
        (["--property", "x"], "has no property 'x'"),
    ],
)
def test_what_is_not_understood_is_refused(options: list[str], text: str):
    assert text in refusal(run("walk", "lossy.py", *options))


# ------------------------------------------------------------ live runs, and where to begin


def test_live_runs_are_written_and_can_be_searched_on_from():
    result = run("walk", "lossy.py", "--emit-live", "1", "--out", "live", "--json")
    found = json.loads(result.out)
    assert found["live_traces"] == ["live/lossy-live-1.wl"]
    assert found["bound"] == "live runs"
    replayed = run("replay", "live/lossy-live-1.wl", "lossy.py")
    assert (replayed.status, "LIVE is_heard, reproduced" in replayed.out) == (0, True)
    again = run("walk", "lossy.py", "--from", "live/lossy-live-1.wl:1", "--json")
    found = json.loads(again.out)
    assert (found["verdict"], found["critical_step"]) == ("violated", 1)
    assert "from step 1 of live/lossy-live-1.wl on" in found["notes"][0]
    assert run("replay", found["trace"], "lossy.py").status == 1


def test_stages_lead_to_where_walks_begin():
    result = run("walk", "lossy.py", "--until", "view.messages(dst=b)", "--json")
    assert json.loads(result.out)["critical_step"] == 1


def test_ctrl_c_prints_what_was_learned():
    interrupting = "import signal\n" + LOSSY.replace(
        "    return view[B].heard",
        "    if view[A].heard:\n        signal.raise_signal(signal.SIGINT)\n"
        "    return view[B].heard",
    ).replace("ctx.send(B, Request())", "ctx.send(A, Request())")
    Path("lossy.py").write_text(interrupting)
    result = run("walk", "lossy.py", "--depth", "2")
    assert result.status == 3
    assert result.out.startswith("lossy: UNKNOWN (bound: interrupted)\n")
    assert "2 states to depth 2" in result.out
    assert "0 walks of 0 steps" in result.out
