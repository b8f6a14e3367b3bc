"""Exact liveness: small systems whose fair runs can be told by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import worldline as wl
from worldline.model.verdicts import Verdict
from worldline.runs.report import PropertyReport
from worldline.search.report import Progress, Report
from worldline.show.steps import steps
from worldline.trace.format import read, write
from worldline.trace.records import End, Trace


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@wl.message
class Ball:
    pass


@wl.node
class Player:
    """Hits the ball to the other one whenever it has it."""

    other: wl.NodeId
    has: bool = False

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        if self.has:
            ctx.set_timer(Player.hit)

    @wl.on(Ball)
    def catch(self, ctx: wl.Context, src: wl.NodeId, msg: Ball) -> None:
        self.has = True
        ctx.set_timer(Player.hit)

    @wl.timer
    def hit(self, ctx: wl.Context) -> None:
        self.has = False
        ctx.send(self.other, Ball())


@wl.liveness
def the_first_has_it(view: wl.View) -> bool:
    return bool(view[view.nodes[0]].has)


@wl.liveness
def it_is_not_doubled(view: wl.View) -> bool:
    return not all(view[node].has for node in view)


def ping_pong(faults: wl.Faults | None = None) -> wl.System:
    a, b = wl.ids("a", "b")
    return wl.System(
        {a: Player(b, has=True), b: Player(a)},
        properties=[the_first_has_it, it_is_not_doubled],
        faults=faults or wl.Faults(),
        name="ping-pong",
    )


@wl.node
class Spinner:
    """Spins for ever; what else it does depends on `kind`."""

    kind: str
    done: bool = False
    turn: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Spinner.spin)
        if self.kind in ("finish", "fail"):
            ctx.set_timer(Spinner.finish)

    @wl.timer
    def spin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Spinner.spin)
        if self.kind == "choose":
            self.done = self.done or ctx.choose([False, True])
        elif self.kind == "toggle":
            self.turn = (self.turn + 1) % 3
            self.done = self.turn == 1
        elif self.kind == "flicker" and not self.done:
            # The timer `finish` can happen only in every second state.
            self.turn = 1 - self.turn
            if self.turn:
                ctx.set_timer(Spinner.finish)
            else:
                ctx.cancel_timer(Spinner.finish)

    @wl.timer
    def finish(self, ctx: wl.Context) -> None:
        assert self.kind != "fail"
        self.done = True


@wl.liveness
def is_done(view: wl.View) -> bool:
    return all(view[node].done for node in view)


@wl.liveness
def somebody_is_down(view: wl.View) -> bool:
    return not all(map(view.is_up, view))


def spinner(
    kind: str, known: wl.Property = is_done, faults: wl.Faults | None = None
) -> wl.System:
    return wl.System(
        {wl.NodeId("s"): Spinner(kind)},
        properties=[known],
        faults=faults or wl.Faults(),
        name=f"spinner {kind}",
    )


@wl.message
class Work:
    pass


@wl.message
class Ready:
    pass


@wl.node
class Sender:
    """Sends once, and again, if it is to, when it learns of a loss."""

    to: wl.NodeId
    retries: bool
    done: bool = False

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        if ctx.me == self.to:
            ctx.send(ctx.nodes[0], Ready())

    @wl.on(Ready)
    def ready(self, ctx: wl.Context, src: wl.NodeId, msg: Ready) -> None:
        # Now there is a connection that can break.
        ctx.set_timer(Sender.send)

    @wl.timer
    def send(self, ctx: wl.Context) -> None:
        ctx.send(self.to, Work())

    @wl.on(Work)
    def work(self, ctx: wl.Context, src: wl.NodeId, msg: Work) -> None:
        self.done = True

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        if self.retries and ctx.me != self.to:
            ctx.set_timer(Sender.send)


@wl.liveness
def the_work_is_done(view: wl.View) -> bool:
    return bool(view[view.nodes[1]].done)


def work(*, retries: bool, faults: wl.Faults | None = None) -> wl.System:
    a, b = wl.ids("a", "b")
    return wl.System(
        {a: Sender(b, retries), b: Sender(b, retries)},
        network=wl.streams(buffer=2),
        properties=[the_work_is_done],
        faults=faults or wl.Faults(),
        name="work",
    )


def only(report: Report) -> PropertyReport:
    (known,) = report.properties
    return known


def end_of(known: PropertyReport) -> End:
    assert known.trace is not None
    end = read(known.trace).end
    assert end is not None
    return end


def test_ping_pong_for_ever_is_a_prefix_and_a_cycle() -> None:
    report = wl.check(ping_pong())
    found = report.expect_violated("the_first_has_it")
    assert (found.steps, found.cycle) == (5, 2)
    assert "after 1 step, then a cycle of 4 for ever" in str(report)
    assert report.to_json()["properties"][0]["cycle"] == 2
    end = end_of(found)
    assert (end.property, end.kind, end.cycle) == ("the_first_has_it", "liveness", 2)
    assert report.verdict.exit_code == 1


def test_both_engines_find_the_same_cycle() -> None:
    for engine in ("auto", "python"):
        found = wl.check(ping_pong(), engine=engine, out=f"{engine}.wl")
        assert found.violated is not None
    native, python = (read(f"{engine}.wl") for engine in ("auto", "python"))
    assert native.steps == python.steps
    assert native.end == python.end


def test_a_loop_that_only_an_unfair_run_stays_in_does_not_count() -> None:
    assert only(wl.check(spinner("finish"))).verdict is Verdict.HOLDS


def test_a_timer_that_is_cancelled_again_and_again_is_owed_nothing() -> None:
    found = wl.check(spinner("flicker")).expect_violated("is_done")
    assert (found.steps, found.cycle) == (2, 1)


def test_true_then_false_for_ever_is_violated() -> None:
    found = wl.check(spinner("toggle")).expect_violated("is_done")
    assert (found.steps, found.cycle) == (3, 1)


def test_no_option_of_a_choice_is_owed() -> None:
    found = wl.check(spinner("choose")).expect_violated("is_done")
    assert (found.steps, found.cycle) == (1, 1)


def test_a_fault_need_never_happen() -> None:
    faults = wl.Faults(crashes=1)
    found = wl.check(spinner("finish", somebody_is_down, faults))
    # The crash is not owed, but the timer is: it comes first, then spinning is fair.
    assert found.expect_violated("somebody_is_down").cycle == 2


def test_a_fault_that_makes_it_unreachable_is_a_violation() -> None:
    found = wl.check(spinner("finish", faults=wl.Faults(crashes=1)))
    # The node is down: the run stops after the crash.
    known = found.expect_violated("is_done")
    assert (known.steps, known.cycle) == (1, 2)
    assert "after 1 step, then nothing more for ever" in str(found)


@pytest.mark.parametrize(
    ("retries", "errors", "verdict"),
    [
        (False, 0, Verdict.HOLDS),
        (False, 1, Verdict.VIOLATED),
        (True, 1, Verdict.HOLDS),
        (True, 2, Verdict.HOLDS),
    ],
)
def test_what_is_lost_must_be_sent_again(
    *, retries: bool, errors: int, verdict: Verdict
) -> None:
    faults = wl.Faults(connection_errors=errors)
    known = only(wl.check(work(retries=retries, faults=faults)))
    assert known.verdict is verdict
    if verdict is Verdict.VIOLATED:
        end = end_of(known)
        assert end.cycle == end.steps + 1


@pytest.mark.parametrize("resets", [1, None])
def test_faults_that_end_are_outlived_and_others_are_not(resets: int | None) -> None:
    known = only(wl.check(spinner("finish", faults=wl.Faults(resets=resets))))
    assert known.verdict is (Verdict.HOLDS if resets else Verdict.VIOLATED)
    if known.trace is not None:
        assert known.cycle is not None
        cycle = read(known.trace).run[known.cycle - 1 :]
        assert "reset" in {step.kind for step in cycle}


def test_a_crashed_node_need_not_restart() -> None:
    faults = wl.Faults(crashes=1, restarts=1)
    known = wl.check(spinner("finish", faults=faults)).expect_violated("is_done")
    assert (known.steps, known.cycle) == (1, 2)


def test_a_partition_need_not_heal() -> None:
    faults = wl.Faults(partitions=1)
    found = wl.check(work(retries=False, faults=faults))
    assert found.expect_violated("the_work_is_done").cycle is not None


def test_a_run_that_fails_is_not_judged() -> None:
    report = wl.check(spinner("fail"), keep_going=True)
    assert [known.name for known in report.properties] == ["exception", "is_done"]
    assert report.properties[1].verdict is Verdict.HOLDS
    assert "no run stops or goes on for ever" in str(report)


def test_what_is_assumed_away_is_not_judged() -> None:
    def is_in_play(view: wl.View) -> bool:
        return bool(view[view.nodes[0]].has)

    report = wl.check(ping_pong(), assume=is_in_play, properties=["the_first_has_it"])
    assert only(report).verdict is Verdict.HOLDS
    assert "no run stops or goes on for ever" in str(report)


def test_what_is_never_false_holds_vacuously() -> None:
    report = wl.check(ping_pong(), properties=["it_is_not_doubled"])
    assert only(report).verdict is Verdict.HOLDS
    assert "it_is_not_doubled holds vacuously" in str(report)
    doubled = wl.check(spinner("finish"))
    assert "vacuously" not in str(doubled)


# ------------------------------------------------------------------------ not searched


@wl.safety
def nobody_hits(view: wl.View) -> bool:
    return not view.messages()


def reason_of(report: Report, name: str = "the_first_has_it") -> str:
    (known,) = [p for p in report.properties if p.name == name]
    assert known.verdict is Verdict.NOT_SEARCHED
    assert known.trace is None
    return known.explanation


def test_a_bound_leaves_liveness_alone() -> None:
    report = wl.check(ping_pong(), max_states=2)
    assert "not exhausted (bound: states)" in reason_of(report)
    assert report.verdict is Verdict.UNKNOWN


def test_a_violation_that_ends_the_search_leaves_liveness_alone() -> None:
    system = ping_pong()
    system.properties = (*system.properties, nobody_hits)
    assert "bound: first violation" in reason_of(wl.check(system))
    full = wl.check(system, keep_going=True)
    assert full.expect_violated("the_first_has_it").cycle == 2


def test_it_can_be_switched_off() -> None:
    report = wl.check(ping_pong(), liveness=False)
    assert reason_of(report) == "switched off"
    assert report.verdict is Verdict.HOLDS
    assert report.liveness_s is None


def test_a_space_that_is_too_large_is_not_visited() -> None:
    report = wl.check(ping_pong(), max_liveness_states=3)
    assert "4 states; the limit is 3" in reason_of(report)
    assert wl.check(ping_pong(), max_liveness_states=4).violated is not None


def test_symmetry_is_refused_with_advice() -> None:
    a, b = wl.ids("a", "b")
    system = wl.System(
        {a: Spinner("toggle"), b: Spinner("toggle")},
        properties=[is_done],
        symmetry=[[a, b]],
        name="two spinners",
    )
    assert "--no-symmetry" in reason_of(wl.check(system), "is_done")
    found = wl.check(system, symmetry=False).expect_violated("is_done")
    assert found.cycle is not None


def test_ctrl_c_leaves_it_unknown() -> None:
    def interrupt(progress: Progress) -> None:
        if progress.liveness:
            raise KeyboardInterrupt

    report = wl.check(ping_pong(), progress=interrupt)
    assert {p.verdict for p in report.properties} == {Verdict.UNKNOWN}
    assert (report.verdict, report.bound) == (Verdict.UNKNOWN, "interrupted")
    for row in report.properties:
        assert row.explanation.endswith("(bound: interrupted)")


# ------------------------------------------------------------------------- the run


def recorded() -> Trace:
    wl.check(ping_pong(), out="run.wl")
    return read("run.wl")


def replay_with(trace: Trace, **changes: object) -> tuple[bool, str]:
    assert trace.end is not None
    end = dataclasses.replace(trace.end, **changes)  # type: ignore[arg-type]
    write(dataclasses.replace(trace, end=end), "edited.wl")
    again = wl.replay("edited.wl", system=ping_pong())
    return again.reproduced, again.explanation


def test_it_replays_and_shows_where_it_goes_round() -> None:
    trace = recorded()
    assert replay_with(trace)[0]
    lines = list(steps(trace))
    turn = lines.index("then for ever:")
    assert lines[turn + 1].startswith(" 2  b  deliver Ball()")


def test_a_run_that_stops_says_so_and_replays() -> None:
    system = spinner("finish", faults=wl.Faults(crashes=1))
    wl.check(system, out="run.wl")
    assert any(line.startswith("then nothing more") for line in steps(read("run.wl")))
    assert wl.replay("run.wl", system=system).reproduced


def test_a_cycle_that_does_not_come_round_is_not_reproduced() -> None:
    assert replay_with(recorded(), cycle=3) == (
        False,
        "the last state is not the one in which the cycle began",
    )


def test_a_run_that_need_not_stop_is_not_reproduced() -> None:
    right, why = replay_with(recorded(), cycle=6)
    assert not right
    assert "need not stop: deliver at b" in why


def test_a_cycle_in_which_the_property_is_true_is_not_reproduced() -> None:
    right, why = replay_with(recorded(), property="it_is_not_doubled")
    assert (right, why) == (
        False,
        "it_is_not_doubled is true in every state of the cycle",
    )


def test_an_unfair_cycle_is_not_reproduced() -> None:
    """Spinning alone starves the other timer: the same step, but no fair cycle."""
    system = spinner("finish", faults=wl.Faults(crashes=1))
    wl.check(system, out="run.wl")
    crashed = read("run.wl")
    wl.check(spinner("finish", somebody_is_down), out="run.wl")
    spun = read("run.wl")
    assert spun.end is not None
    (spin,) = [step for step in spun.run if step.name == "spin"]
    assert spin.step == 2
    boot = [step for step in spun.steps if step.phase == "boot"]
    spin = dataclasses.replace(spin, step=1, lamport=boot[-1].lamport + 1)
    end = dataclasses.replace(
        spun.end, property="is_done", steps=1, deliveries=1, cycle=1
    )
    write(Trace(crashed.header, (*boot, spin), end), "unfair.wl")
    again = wl.replay("unfair.wl", system=system)
    assert (again.divergence, again.reproduced) == (None, False)
    assert again.explanation.startswith("the cycle is not fair: timer at s finish")


def test_a_cycle_that_begins_after_the_end_is_no_trace() -> None:
    trace = recorded()
    assert trace.end is not None
    write(dataclasses.replace(trace, end=dataclasses.replace(trace.end, cycle=7)), "x")
    with pytest.raises(wl.InputError, match="after the end"):
        read("x")


def test_other_ends_are_written_as_before() -> None:
    wl.check(spinner("fail"), out="run.wl")
    assert "cycle" not in list(lines_of_end("run.wl"))


def lines_of_end(path: str) -> list[str]:
    from worldline.trace.schema import shallow

    end = read(path).end
    assert end is not None
    return list(shallow(end))
