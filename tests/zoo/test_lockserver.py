"""The lock server: a livelock and a deadlock are found, and the fixed one is not accused."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.oracle import Oracle
from tests.oracle.exploration import explore

import worldline as wl
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.zoo import lockserver
from worldline.zoo.lockserver.client import Client, Stage, Thread
from worldline.zoo.lockserver.messages import Denied, Mode, Release
from worldline.zoo.lockserver.properties import exclusive_is_alone
from worldline.zoo.lockserver.server import Server

SMALL: dict[str, Any] = {"clients": 2, "threads": 2, "locks": 1, "rest": 1.0}
"""The livelock as its authors isolated it: one lock, two clients."""

SHORT: dict[str, Any] = {"sockets": 1, "rest": 1.0}
"""One socket, under load."""

TINY: dict[str, Any] = {"clients": 2, "threads": 1, "locks": 1}


def simulated(parameters: dict[str, Any], *bugs: str, **options: Any) -> Any:
    """Run by the clock; return the report, and its row of the pending queue."""
    system = lockserver.system(**parameters, bugs=bugs)
    report = wl.simulate(system, **{"traces": False, **options})
    return report, next(p for p in report.properties if p.kind == "liveness")


def happening(
    parameters: dict[str, Any], bug: str, *, seed: int, seconds: float
) -> Iterator[tuple[Simulation, wl.Event]]:
    """Yield the events of a run that nobody judges, with the run."""
    conditions = Conditions(latency=latency_of("uniform 10ms 50ms"))
    system = lockserver.system(**parameters, bugs=(bug,))
    simulation = Simulation(system, conditions, seed)
    while (event := simulation.next(seconds)) is not None:
        yield simulation, event


LIVELOCK = 4
"""A seed with which two clients get into a livelock, after 16 seconds."""


def arriving(seconds: int) -> list[Counter[type]]:
    """Return which messages arrive in each second of a run that gets into a livelock."""
    arrived: list[Counter[type]] = [Counter() for _ in range(seconds)]
    run = happening(SMALL, "wids1", seed=LIVELOCK, seconds=seconds)
    for simulation, event in run:
        if event.kind is wl.Kind.DELIVER:
            arrived[int(simulation.now)][type(event.payload)] += 1
    return arrived


@functools.cache
def in_the_livelock():
    return simulated(SMALL, "wids1", seed=LIVELOCK, seconds=60)


@pytest.mark.slow
def test_one_lock_and_two_clients_are_enough_for_the_livelock():
    report, queue = in_the_livelock()
    report.expect_violated("pending_queue_is_empty")
    assert report.events == 753
    assert report.at == pytest.approx(20.806, abs=0.001)
    # Without a confidence each of them would be an alarm.
    assert (queue.alarms.spans, queue.alarms.reached) == (37, 1)
    assert queue.alarms.highest < 0.1


def test_in_the_livelock_one_release_after_the_other_is_denied():
    begun = arriving(20)[16:20]
    for second in begun:
        assert second.keys() == {Release, Denied}
        # A round trip is two messages of 30 ms on average.
        assert second[Denied] == pytest.approx(1 / 0.06, rel=0.2)


def test_the_livelock_ends_by_luck():
    in_it = [second.keys() == {Release, Denied} for second in arriving(150)]
    assert in_it[16:48] == [True] * 32
    assert not any(in_it[48:76])


def test_the_deadlock_is_the_cycle_of_the_paper_and_for_ever():
    times = []
    for simulation, _ in happening(SHORT, "wids2", seed=3, seconds=1e6):
        times.append(simulation.now)
    assert times[-1] < 10
    server, *nodes = simulation.world.nodes
    clients = dict(zip(simulation.world.system.ids[1:], nodes, strict=True))
    assert len(server.pending) == 2
    for lock in server.pending:
        for holder in server.holders[lock]:
            client = clients[holder]
            # The revoking thread is blocked by the flag,
            assert lock in client.revoking & client.releasepending
            # the thread that has set it by the lack of a socket,
            releasing = client.threads[client.transactions[lock]]
            assert releasing.stage is Stage.RELEASING
            assert not releasing.connected
            # and the one that has the socket by the server.
            (waiting,) = [t for t in client.threads.values() if t.connected]
            assert waiting.stage is Stage.ACQUIRING
            assert waiting.lock in server.pending


@pytest.mark.slow
def test_a_run_that_is_stuck_meets_its_deadline():
    report, queue = simulated(SHORT, "wids2", seed=3, seconds=30)
    report.expect_violated("pending_queue_is_empty")
    assert report.events < 2_000
    assert queue.alarms.reached == 1


@pytest.mark.slow
def test_the_gauges_are_those_of_figure_5():
    report, queue = in_the_livelock()
    size, changed = 0, 0.0
    for simulation, _ in happening(SMALL, "wids1", seed=LIVELOCK, seconds=report.at):
        pending = len(simulation.world.nodes[0].pending)
        if pending != size:
            size, changed = pending, simulation.now
    told = {"last_change_time": changed, "pending_sizes": {"$tuple": [1, 1]}}
    assert queue.spans[-1].gauges == told
    assert report.at == pytest.approx(changed + 5, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [SMALL, {**SHORT, "clients": 6}], ids=str)
def test_the_fixed_system_is_not_accused(parameters: dict[str, Any]):
    report, queue = simulated(parameters, seconds=10, seeds=3)
    assert report.verdict is wl.Verdict.UNKNOWN
    assert queue.alarms.spans > 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("parameters", "bug", "seconds", "seed", "spans", "clean"),
    [({}, "wids1", 60, 5, 72, 996), (SHORT, "wids2", 30, 0, 1, 20)],
)
def test_the_load_of_the_paper_shows_each_bug_and_accuses_no_control(
    parameters: dict[str, Any],
    bug: str,
    seconds: float,
    seed: int,
    spans: int,
    clean: int,
):
    report, queue = simulated(parameters, bug, seconds=seconds, seeds=20)
    report.expect_violated("pending_queue_is_empty")
    assert report.seed == seed
    assert (queue.alarms.spans, queue.alarms.reached) == (spans, 1)
    report, queue = simulated(parameters, seconds=seconds, seeds=20)
    assert report.verdict is wl.Verdict.UNKNOWN
    assert (queue.alarms.spans, queue.alarms.reached) == (clean, 0)
    assert queue.alarms.highest < 0.5


@pytest.mark.parametrize("bugs", [(), ("wids1",), ("wids2",)], ids=str)
def test_no_schedule_breaks_the_locks(bugs: tuple[str, ...]):
    report = wl.check(
        lockserver.system(**TINY, bugs=bugs),
        properties=["exclusive_is_alone"],
        traces=False,
    )
    report.expect_holds()
    # One in a livelock is in ten states more.
    assert report.states == (315 if "wids1" in bugs else 305)


@pytest.mark.nightly
def test_the_oracle_finds_as_many_states():
    counts = explore(Oracle(lockserver.system(**TINY)))
    assert (counts.distinct, counts.generated, counts.depth) == (305, 2_569, 16)


@pytest.mark.slow
def test_two_threads_each_do_not_break_the_locks():
    system = lockserver.system(clients=2, threads=2, locks=1)
    report = wl.check(system, properties=["exclusive_is_alone"], traces=False)
    report.expect_holds()
    assert report.states == 18_193


@pytest.mark.parametrize(
    ("one", "other", "releasing", "holds"),
    [
        (Mode.SHARED, Mode.SHARED, set(), True),
        (Mode.SHARED, Mode.EXCLUSIVE, set(), False),
        (Mode.EXCLUSIVE, Mode.SHARED, set(), False),
        (Mode.EXCLUSIVE, Mode.EXCLUSIVE, set(), False),
        (Mode.EXCLUSIVE, Mode.SHARED, {0}, True),
    ],
)
def test_two_that_have_a_lock_share_it(
    one: Mode, other: Mode, releasing: set[int], holds: bool
):
    server, a, b = wl.ids("server", "a", "b")

    def client(mode: Mode, released: set[int]) -> Client:
        threads = {1: Thread()}
        cached = {0: mode, 1: Mode.EXCLUSIVE} if released else {0: mode}
        return Client(
            server, 2, 1, 1.0, frozenset(), threads, cached, {}, released, set()
        )

    system = wl.System(
        {
            server: Server(),
            a: client(one, set()),
            b: client(other, releasing),
        },
        properties=[exclusive_is_alone],
    )
    report = wl.check(system, traces=False, max_states=1)
    assert (report.verdict is not wl.Verdict.VIOLATED) is holds


def test_an_unknown_bug_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="wids1, wids2"):
        lockserver.system(bugs=("cb1",))


@pytest.mark.parametrize("wrong", [{"sockets": 0}, {"clients": 0}, {"rest": -1.0}])
def test_too_few_of_something_is_refused(wrong: dict[str, Any]):
    with pytest.raises(ValueError, match="1 at least"):
        lockserver.system(**wrong)
