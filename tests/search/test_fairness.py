"""Which events fair runs owe, one by one, and what a renewed timer is owed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import worldline as wl
from worldline.show.steps import steps
from worldline.trace.format import read, write

A, B, C = wl.ids("a", "b", "c")
Verdicts = dict[str, str]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def judged(build: Callable[[], wl.System]) -> Verdicts:
    """The verdict on each property; of each violation, the trace replays."""
    found: list[Verdicts] = []
    engines: tuple[Literal["native", "python"], ...] = ("native", "python")
    for engine in engines:
        report = wl.check(build(), engine=engine, keep_going=True, out="first.wl")
        for known in report.properties:
            if known.trace is not None:
                assert wl.replay(known.trace, system=build()).reproduced
        found.append({p.name: p.verdict.value for p in report.properties})
    assert found[0] == found[1]
    return found[0]


# ------------------------------------------------------------------------ renewed timers


@wl.message
class Ping:
    pass


@wl.node
class Pinger:
    to: wl.NodeId

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Pinger.beat)

    @wl.timer
    def beat(self, ctx: wl.Context) -> None:
        ctx.send(self.to, Ping())
        ctx.set_timer(Pinger.beat)


@wl.node
class Detector:
    """Suspects that somebody has crashed when no ping came for long enough.

    `how` it restarts its timer at a ping: not at all, by setting it, or by cancelling
    it and setting it.
    """

    how: str
    suspects: bool = False

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Detector.too_long)

    @wl.on(Ping)
    def ping(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        if self.suspects or self.how == "never":
            return
        if self.how == "cancels":
            ctx.cancel_timer(Detector.too_long)
        ctx.set_timer(Detector.too_long)

    @wl.timer
    def too_long(self, ctx: wl.Context) -> None:
        self.suspects = True


@wl.liveness
def the_crash_is_noticed(view: wl.View) -> bool:
    return bool(view[A].suspects) or view.is_up(C)


def detector(how: str) -> wl.System:
    """Two nodes ping; one of them crashes, and the other one goes on."""
    return wl.System(
        {A: Detector(how), B: Pinger(A), C: Pinger(A)},
        network=wl.streams(buffer=1),
        faults=wl.Faults(crashes=1, nodes=(C,)),
        properties=[the_crash_is_noticed],
        name="detector",
    )


@pytest.mark.parametrize(
    ("how", "verdict"),
    [("never", "holds"), ("sets", "violated"), ("cancels", "violated")],
)
def test_a_timer_that_is_set_again_at_every_ping_need_not_fire(
    how: str, verdict: str
) -> None:
    assert judged(lambda: detector(how)) == {"the_crash_is_noticed": verdict}


@wl.node
class Sleeper:
    """Wakes up by a timer, and is reset before."""

    awake: bool = wl.durable(default=False)

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Sleeper.wake)

    @wl.timer
    def wake(self, ctx: wl.Context) -> None:
        self.awake = True


@wl.liveness
def all_are_awake(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].awake)


@pytest.mark.parametrize(("resets", "verdict"), [(3, "holds"), (None, "violated")])
def test_a_reset_renews_the_timers_that_are_set_at_the_start(
    resets: int | None, verdict: str
) -> None:
    def build() -> wl.System:
        faults = wl.Faults(resets=resets)
        return wl.System({A: Sleeper()}, faults=faults, properties=[all_are_awake])

    assert judged(build) == {"all_are_awake": verdict}


@wl.node
class Metronome:
    """Ticks by a timer that its own handler sets; the tenth tick is not needed."""

    ticks: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Metronome.tick)
        ctx.set_timer(Metronome.other)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.ticks = min(self.ticks + 1, 3)
        ctx.set_timer(Metronome.tick)

    @wl.timer
    def other(self, ctx: wl.Context) -> None:
        ctx.set_timer(Metronome.other)


@wl.liveness
def it_ticks(view: wl.View) -> bool:
    return bool(view[A].ticks == 3)


def test_a_timer_that_fires_and_is_set_by_its_own_handler_has_happened() -> None:
    assert judged(lambda: wl.System({A: Metronome()}, properties=[it_ticks])) == {
        "it_ticks": "holds"
    }


# --------------------------------------------------------------------- events by value


@wl.node
class Heart:
    """Beats for each of its peers, by one handler and one timer for each."""

    beaten: frozenset[wl.NodeId] = frozenset()

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        if ctx.me == A:
            ctx.set_timer(Heart.beat, B)
            ctx.set_timer(Heart.beat, C)

    @wl.timer
    def beat(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.beaten |= {peer}
        ctx.set_timer(Heart.beat, peer)


@wl.liveness
def all_are_beaten_for(view: wl.View) -> bool:
    return bool(view[A].beaten == {B, C})


def test_timers_of_one_handler_do_not_starve_each_other() -> None:
    def build() -> wl.System:
        nodes = {A: Heart(), B: Heart(), C: Heart()}
        return wl.System(nodes, properties=[all_are_beaten_for])

    assert judged(build) == {"all_are_beaten_for": "holds"}


@wl.message
class Item:
    number: int


@wl.node
class Echo:
    """Sends item 0 for ever, by way of another node; item 1 is sent once."""

    has: frozenset[int] = frozenset()

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        if ctx.me == A:
            ctx.send(B, Item(0))
            ctx.send(B, Item(1))

    @wl.on(Item)
    def item(self, ctx: wl.Context, src: wl.NodeId, msg: Item) -> None:
        if ctx.me == B:
            self.has |= {msg.number}
        if msg.number == 0:
            ctx.send(src, msg)


@wl.liveness
def all_has_come(view: wl.View) -> bool:
    return bool(view[B].has == {0, 1})


@pytest.mark.parametrize(
    "network", [wl.datagrams(), wl.message_set()], ids=lambda network: network.name
)
def test_messages_of_one_class_and_sender_do_not_starve_each_other(
    network: Any,
) -> None:
    def build() -> wl.System:
        nodes = {A: Echo(), B: Echo()}
        return wl.System(nodes, network=network, properties=[all_has_come])

    assert judged(build) == {"all_has_come": "holds"}


@wl.node
class Clerk:
    """Is asked, for ever, for two things by calls of one name."""

    done: frozenset[int] = frozenset()

    @wl.call
    def do(self, ctx: wl.Context, what: int) -> None:
        self.done |= {what}


@wl.liveness
def all_is_done(view: wl.View) -> bool:
    return bool(view[A].done == {0, 1})


def test_calls_with_other_arguments_do_not_starve_each_other() -> None:
    def build() -> wl.System:
        calls = [
            wl.whenever(wl.invoke(Clerk.do, 0)),
            wl.whenever(wl.invoke(Clerk.do, 1)),
        ]
        return wl.System({A: Clerk()}, workload=calls, properties=[all_is_done])

    assert judged(build) == {"all_is_done": "holds"}


# ------------------------------------------------------------------- what is said of it


def test_a_verdict_on_liveness_says_what_fair_runs_are() -> None:
    report = wl.check(detector("never"))
    (told,) = [text for text in report.assumptions if text.startswith("fair runs")]
    assert "timer" in told
    assert told in str(report)
    other = wl.check(detector("never"), liveness=False)
    assert not any(text.startswith("fair runs") for text in other.assumptions)


def test_a_replayed_cycle_is_judged_by_the_timers_that_its_steps_set() -> None:
    """The same steps without their renewals show no violation, and do not replay."""
    wl.check(detector("sets"), out="run.wl")
    trace = read("run.wl")
    edited = tuple(
        dataclasses.replace(step, timers=()) if step.name == "Ping" else step
        for step in trace.steps
    )
    write(dataclasses.replace(trace, steps=edited), "edited.wl")
    again = wl.replay("edited.wl", system=detector("never"))
    assert not again.reproduced
    assert "not fair: timer at a too_long can always happen" in again.explanation


# ------------------------------------------------------------------------ what is printed


@wl.liveness
def nobody_is_beaten_for(view: wl.View) -> bool:
    return not view[A].beaten


def cycle_of(system: wl.System) -> list[str]:
    wl.check(system, out="run.wl")
    lines = list(steps(read("run.wl")))
    begin = lines.index("then for ever:") + 1
    return lines[begin : lines.index("", begin)]


def test_steps_of_a_cycle_that_change_nothing_are_one_line() -> None:
    nodes = {A: Heart(), B: Heart(), C: Heart()}
    printed = cycle_of(wl.System(nodes, properties=[nobody_is_beaten_for]))
    # The last time that something changes is the first of the cycle's other timer.
    assert printed[-1].endswith(
        "2 steps change nothing: timer beat(b) at a; timer beat(c) at a"
    )


@wl.node
class Idler:
    """Does nothing, for ever."""

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Idler.idle)

    @wl.timer
    def idle(self, ctx: wl.Context) -> None:
        ctx.set_timer(Idler.idle)


@wl.liveness
def never(view: wl.View) -> bool:
    return False


def test_a_single_step_that_changes_nothing_has_no_second_line() -> None:
    wl.check(wl.System({A: Idler()}, properties=[never]), out="run.wl")
    lines = list(steps(read("run.wl")))
    begin = lines.index("the run")
    assert lines[begin : begin + 4] == [
        "the run",
        "",
        "then for ever:",
        "1  a  timer idle  (changes nothing)",
    ]


def test_a_message_that_is_consumed_and_sent_again_changes_something() -> None:
    nodes = {A: Echo(), B: Echo()}
    datagrams = wl.System(nodes, properties=[nothing_has_come])
    assert not any("nothing" in line for line in cycle_of(datagrams))
    kept = wl.System(nodes, network=wl.message_set(), properties=[nothing_has_come])
    assert "steps change nothing: deliver Item(number=0)" in cycle_of(kept)[-1]


@wl.liveness
def nothing_has_come(view: wl.View) -> bool:
    return not view[B].has


# --------------------------------------------------------------- what a timed system is


@wl.safety
def it_is_quiet(view: wl.View) -> bool:
    return True


def test_a_timed_system_that_holds_says_that_delays_of_two_nodes_are_not_compared() -> (
    None
):
    nodes = {A: Sleeper(), B: Sleeper()}
    timed = wl.System(nodes, properties=[all_are_awake], timed=True)
    assert "the delays of two nodes are not compared" in str(wl.check(timed))
    untimed = wl.System(nodes, properties=[all_are_awake])
    assert "delays" not in str(wl.check(untimed))
    # Beside a violation, what holds says it too.
    mixed = wl.System(nodes, properties=[it_is_quiet, never], timed=True)
    assert "the delays of two nodes are not compared" in str(wl.check(mixed))
    assert "delays" not in str(wl.check(mixed, properties=["never"]))
