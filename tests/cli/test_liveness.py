"""Liveness on the command line: verdicts, the cycle that is shown, the switches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import run

LAMP = """\
import worldline as wl

@wl.node
class Lamp:
    on: bool = False

    @wl.start
    def start(self, ctx):
        ctx.set_timer(Lamp.flip)

    @wl.timer
    def flip(self, ctx):
        self.on = not self.on
        ctx.set_timer(Lamp.flip)

@wl.liveness
def it_stays_on(view):
    return view[view.nodes[0]].on

def system():
    return wl.System({wl.NodeId("a"): Lamp()}, properties=[it_stays_on], name="lamp")
"""


@pytest.fixture(autouse=True)
def _lamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamp.py").write_text(LAMP)


def test_the_cycle_is_printed_and_replayed() -> None:
    found = run("check", "lamp.py")
    assert found.status == 1
    assert "violated after 0 steps, then a cycle of 2 for ever" in found.out
    assert "\nthen for ever:\n1  a  timer flip" in found.out
    assert run("replay", "worldline-out/lamp-it_stays_on.wl", "lamp.py").status == 1


def test_json_has_the_step_with_which_the_cycle_begins() -> None:
    found = json.loads(run("check", "lamp.py", "--json").out)
    (known,) = found["properties"]
    assert (known["verdict"], known["steps"], known["cycle"]) == ("violated", 2, 1)
    assert found["liveness_seconds"] >= 0


@pytest.mark.parametrize(
    ("option", "status", "said", "reason"),
    [
        (["--no-liveness"], 0, "HOLDS (without liveness, which", "switched off"),
        (
            ["--max-liveness-states", "1"],
            3,
            "UNKNOWN (bound: liveness)",
            "too large: 2 states; the limit is 1",
        ),
    ],
)
def test_what_was_not_judged_does_not_hold_unless_it_was_left_out(
    option: list[str], status: int, said: str, reason: str
) -> None:
    found = run("check", "lamp.py", *option)
    assert found.status == status
    assert said in found.out
    assert "not searched" in found.out
    assert reason in found.out


def test_diagrams_show_where_it_goes_round() -> None:
    run("check", "lamp.py")
    trace = "worldline-out/lamp-it_stays_on.wl"
    assert "then for ever:" in run("show", trace, "--diagram").out
    mermaid = run("show", trace, "--mermaid").out.splitlines()
    assert mermaid.index("  loop for ever") + 3 == mermaid.index("  end")
