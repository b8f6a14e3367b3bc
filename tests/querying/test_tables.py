"""The tables of runs say what their records say, whatever the run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.querying import plainly
from tests.search.test_liveness import ping_pong
from tests.shares import share
from tests.systems import VARIANTS
from tests.trace.runs import boot, random_trace
from tests.trace.scenes import both_hold, granted_twice

import worldline as wl
from worldline.debug.state import node_state
from worldline.querying.asking import ask, opened
from worldline.querying.duck import Connection
from worldline.runs.record import Ending, record
from worldline.runs.state_record import state_record
from worldline.trace.format import Trace, read, write
from worldline.trace.json_text import show
from worldline.trace.records import STATUS
from worldline.worlds.checkpoint import take
from worldline.worlds.direct import DirectWorld

pytest.importorskip("duckdb")

FEW = (
    "datagrams",
    "three on datagrams",
    "streams",
    "message set",
    "timed",
    "crashes on streams beside a message set",
)


def rows(connection: Connection, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    return [*ask(connection, sql, values).rows]


def same(one: list[Any], other: list[Any]) -> bool:
    return sorted(one, key=repr) == sorted(other, key=repr)


def compare(connection: Connection, trace: Trace) -> None:
    """Compare all tables and views but those that need to know the parts of nodes."""
    given = rows(connection, "SELECT * EXCLUDE (payload_json) FROM steps")
    assert given == plainly.steps(trace)
    assert rows(connection, "SELECT * EXCLUDE (message_json) FROM sends") == (
        plainly.sends(trace)
    )
    calls = "SELECT * EXCLUDE (arguments_json, result_json) FROM calls"
    assert rows(connection, calls) == plainly.calls(trace)
    changes = rows(
        connection, "SELECT * EXCLUDE (before_json, after_json) FROM changes"
    )
    assert changes == plainly.changes(trace)
    asked = "sent_in, src, dst, part, name, message, fate, ended_in"
    met = rows(connection, f"SELECT {asked} FROM messages")
    assert same(met, plainly.messages(trace))
    times = plainly.times(trace)
    met = rows(connection, "SELECT sent_in, sent_at, ended_in, ended_at FROM messages")
    assert all((at, end) == (times[a], times[e]) for a, at, e, end in met)
    asked = "set_in, node, part, name, payload, after, fate, ended_in"
    met = rows(connection, f"SELECT {asked} FROM timers")
    assert same(met, plainly.timers(trace))
    compare_traffic(connection, trace)
    for number in (len(trace.run), len(trace.run) // 2):
        met = rows(
            connection,
            "SELECT node, field, value, step, kind, name, peer, payload, sent_in "
            "FROM last_writer_at(?)",
            number,
        )
        assert {(n, f): (*row,) for n, f, *row in met} == (
            plainly.last_writer(trace, number)
        )


def compare_traffic(connection: Connection, trace: Trace) -> None:
    expected = plainly.traffic(trace)
    met = rows(connection, "SELECT name, src, dst, messages, received FROM traffic")
    assert {row[:3]: row[3:] for row in met} == {a: c[:2] for a, c in expected.items()}
    met = rows(
        connection,
        "SELECT name, src, dst, messages, dropped, refused, remaining FROM unreceived",
    )
    assert {row[:3]: row[3:] for row in met} == {
        at: (all_ - received, *rest)
        for at, (all_, received, *rest) in expected.items()
        if all_ > received
    }


def compare_states(connection: Connection, trace: Trace) -> None:
    met = rows(connection, "SELECT node, field, step, time, until, value FROM history")
    assert same(met, plainly.history(trace))
    for number in (-10, 0, len(trace.run) // 2, len(trace.run)):
        found = rows(connection, "SELECT node, field, value FROM state_at(?)", number)
        assert {row[:2]: row[2] for row in found} == plainly.state_at(trace, number)


def scenes(tmp_path: Path) -> Iterator[Trace]:
    yield both_hold()
    yield granted_twice()
    wl.check(ping_pong(), out=tmp_path / "lasso.wl")
    trace = read(tmp_path / "lasso.wl")
    assert trace.end is not None
    assert trace.end.cycle is not None
    yield trace
    yield from begun_in_states()


def begun_in_states() -> Iterator[Trace]:
    """Runs that begin where others are under way, without steps and with some."""
    for name in ("datagrams", "streams", "timed"):
        system = VARIANTS[name]()
        world, rng = DirectWorld(system), random.Random(3)
        boot(world)
        drawn(world, rng, 6)
        begins = take(world)
        state = state_record(system, begins)
        assert any(node.timers or node.messages for node in state.nodes)
        for length in (0, 8):
            yield record(
                DirectWorld(system),
                [],
                [],
                drawn(world, rng, length),
                ending=Ending(None, None, wl.Verdict.UNKNOWN),
                engine="test",
                seed=0,
                begins=begins,
            )


def drawn(world: DirectWorld, rng: random.Random, length: int) -> list[Any]:
    """Let so many events happen at most, drawn at random; return them and their choices."""
    done: list[Any] = []
    for _ in range(length):
        enabled = world.enabled()
        if not enabled:
            break
        event = rng.choice(enabled)
        outcome = world.step(event, source=lambda count, _: rng.randrange(count))
        assert world.failure is None
        done.append((event, outcome.choices))
    return done


def check(trace: Trace, place: Path, *, has_parts: bool = False) -> None:
    write(trace, place)
    with opened(place, threads=1) as connection:
        compare(connection, trace)
        if not has_parts:
            compare_states(connection, trace)


@pytest.mark.slow
@pytest.mark.parametrize("name", share(FEW, every=2))
def test_a_random_run_has_in_its_tables_what_it_has_in_its_records(
    name: str, tmp_path: Path
):
    check(random_trace(VARIANTS[name](), 1, 200), tmp_path / "run.wl")


@pytest.mark.nightly
@pytest.mark.parametrize("name", VARIANTS)
def test_so_do_the_runs_of_every_system(name: str, tmp_path: Path):
    for seed in range(6):
        trace = random_trace(VARIANTS[name](), seed, 300)
        check(trace, tmp_path / "run.wl", has_parts="stack" in name)


@pytest.mark.slow
def test_so_do_runs_with_faults_a_cycle_a_failure_and_those_from_a_state(
    tmp_path: Path,
):
    for number, trace in enumerate(scenes(tmp_path)):
        check(trace, tmp_path / f"{number}.wl")


@pytest.mark.slow
def test_the_state_after_a_step_is_that_of_the_world_with_parts_dotted(tmp_path: Path):
    system = VARIANTS["stack on datagrams"]()
    trace = random_trace(system, 2, 60)
    place = tmp_path / "run.wl"
    write(trace, place)
    world = DirectWorld(system)
    boot(world)
    rng = random.Random(2)
    states = [_fields(world)]
    for _ in trace.run:
        event = rng.choice(world.enabled())
        world.step(event, source=lambda count, _: rng.randrange(count))
        states.append(_fields(world))
    assert any("." in field for _, field in states[0])
    with opened(place, threads=1) as connection:
        for number, state in enumerate(states):
            met = rows(connection, "SELECT node, field, value FROM state_at(?)", number)
            assert {row[:2]: row[2] for row in met} == state


def _fields(world: DirectWorld) -> dict[tuple[str, str], str]:
    states = [node_state(world, index) for index in range(len(world.system.ids))]
    return {
        (state.node, field): show(value)
        for state in states
        for field, value in {**state.fields, STATUS: state.owns[STATUS]}.items()
    }
