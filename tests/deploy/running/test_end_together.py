"""The end of a run whose nodes have processes of their own: none hears of another's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import run_process

from worldline.trace.format import read

SYSTEM = """\
import time
import worldline as wl

A, B = wl.ids("a", "b")

@wl.message
class Ping:
    pass

@wl.node
class Node:
    other: wl.NodeId
    errors: int = 0

    @wl.call
    def ping(self, ctx):
        ctx.send(self.other, Ping())

    @wl.on(Ping)
    def pinged(self, ctx, src, msg):
        time.sleep(0.04)

    @wl.transport_error
    def lost(self, ctx, peer):
        self.errors += 1

def system():
    script = wl.script(A, [wl.invoke(Node.ping)] * 500)
    return wl.System({A: Node(B), B: Node(A)}, network=wl.streams(), name="pair",
                     workload=[script], properties=[])
"""


@pytest.mark.slow
def test_nodes_that_are_stopped_as_a_whole_do_not_hear_of_each_others_end(
    tmp_path: Path,
):
    (tmp_path / "pair.py").write_text(SYSTEM)
    done = run_process(
        *("run", "pair.py", "--rate", "25", "--seconds", "0.7", "--record", "run"),
        folder=tmp_path,
    )
    assert done.status == 0, done
    done = run_process(
        *("replay", "run", "pair.py", "--out", "run.wl", "--json"), folder=tmp_path
    )
    assert json.loads(done.out)["network"]["as_declared"] is True, done
    kinds = {step.kind for step in read(tmp_path / "run.wl").run}
    assert kinds == {"call", "deliver"}
