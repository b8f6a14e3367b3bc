"""Replays that begin in the midst of a run: at checkpoints, and where something is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.runs.recording import rounds
from tests.runs.recording.rounds import B
from tests.runs.recording.simulated import Scribe, record, scribe_of

import worldline as wl
from worldline.loading.opening import open_system
from worldline.runs.recording.replay import replay_recording
from worldline.trace.format import read
from worldline.trace.journal.records import CheckpointRecord, GapRecord

NETWORKS = [wl.datagrams(), wl.datagrams(loss=False), wl.streams(buffer=20)]


@wl.safety
def b_hears_little(view: wl.View) -> bool:
    return bool(view[B].greeted < 15)


@wl.gauge(initial=0)
def steps(value: int, step: Any, view: wl.View) -> int:
    return value + 1


@wl.gauge(initial=0, resume=lambda view: 1_000)
def resumed(value: int, step: Any, view: wl.View) -> int:
    return value + 1


@wl.safety
def few_steps(view: wl.View) -> bool:
    return bool(view.gauge("steps") < 3)


@wl.safety
def few_resumed(view: wl.View) -> bool:
    return bool(view.gauge("resumed") < 1_010)


@wl.safety
def few_greetings(view: wl.View) -> bool:
    return bool(view.history("greetings") < 3)


greetings = wl.Observer(
    "greetings",
    0,
    project=lambda step: step.event.name if step.event.kind is wl.Kind.TIMER else None,
    fold=lambda value, name: value + 1,
)


def with_gap(scribe: Scribe, index: int, begin: float, end: float) -> Scribe:
    """Leave out what a journal has between two times, but for a checkpoint at the end."""
    life = scribe.lives[index][0]
    cut = [turn for turn in life.turns if begin < turn[0] < end]
    first = life.turns.index(cut[0])
    last = max(n for n, turn in enumerate(cut) if type(turn[1][0]) is CheckpointRecord)
    (saved,) = cut[last][1]
    gap = (cut[last][0], [GapRecord(last, "no space left on device"), saved])
    life.turns[first : first + last + 1] = [gap]
    return scribe


@pytest.mark.parametrize("network", NETWORKS)
def test_a_replay_from_a_time_goes_as_the_end_of_the_whole_one(network: Any):
    system = rounds.system(network, properties=[b_hears_little])
    folder = record(Path("run"), system, seconds=30, rate=0.0, every=3.0)
    whole = replay_recording(folder, system, out=Path("whole.wl"))
    found = replay_recording(folder, system, since=10.0)
    assert found.divergence is None
    assert found.begins == 10.0
    assert "begins at" in str(found)
    assert found.debug is None  # no command can load it
    # Both violate it in one moment, of which the windows know the same.
    late, early = (one.expect_violated("b_hears_little") for one in (found, whole))
    assert late.spans[0].time == early.spans[0].time
    assert found.trace is not None
    trace = read(found.trace)
    assert trace.header.begins == "state"
    assert wl.replay(found.trace, system).exit_code == 1
    last = len(trace.run)
    steps = read(whole.trace or "").run[-last:]
    assert [(s.node, s.kind, s.time, s.changes) for s in steps] == [
        (s.node, s.kind, s.time, s.changes) for s in trace.run
    ]


def test_of_connections_that_were_there_before_nothing_is_said():
    system = rounds.system(wl.streams(buffer=20), properties=[])
    folder = record(Path("run"), system, seconds=30, rate=0.0, every=3.0)
    found = replay_recording(folder, system, since=10.0)
    assert found.network.as_declared is None
    assert "streams, and not judged from step 1 on" in str(found)
    assert found.to_json()["network"]["as_declared"] is None
    system = rounds.system(wl.datagrams(), properties=[])
    folder = record(Path("more"), system, seconds=30, rate=0.0, every=3.0)
    assert replay_recording(folder, system, since=10.0).network.as_declared


def test_a_time_before_every_checkpoint_is_the_start_of_each_node():
    system = rounds.system(properties=[b_hears_little])
    folder = record(Path("run"), system, seconds=30, rate=0.0, every=3.0)
    found = replay_recording(folder, system, since=0.5)
    whole = replay_recording(folder, system)
    assert (found.begins, found.network.as_declared) == (None, True)
    assert "no node had written a checkpoint or begun anew by 0.5 s" in str(found)
    assert "checkpoint" not in str(whole)
    assert found.expect_violated("b_hears_little").spans[0].time == (
        whole.expect_violated("b_hears_little").spans[0].time
    )


@pytest.mark.parametrize("nodes", ["a b", "b c", "c a", "a b c"])
def test_of_a_node_that_was_reset_behind_where_it_begins_nothing_is_missing(nodes: str):
    system = rounds.system(wl.streams(buffer=20), properties=[b_hears_little])
    first, *others = nodes.split()
    weather = [f"at {n}s reset {first}" for n in (5, 6, 7)]
    weather += [f"at {n}s reset {each}" for n in (15, 20) for each in others]
    given: Any = {"weather": ", ".join(weather), "every": 3.0}
    folder = record(Path("run"), system, seconds=30, rate=0.0, **given)
    assert replay_recording(folder, system).network.as_declared
    found = replay_recording(folder, system, since=10.0, window=(1, 99))
    assert found.begins == 10.0
    assert found.trace is not None
    assert read(found.trace).header.network["missing"] == []


@pytest.mark.parametrize("every", [None, 3.0])
def test_a_time_behind_the_end_is_refused_with_and_without_checkpoints(
    every: float | None,
):
    system = rounds.system(properties=[b_hears_little])
    folder = record(Path("run"), system, seconds=30, rate=0.0, every=every)
    with pytest.raises(
        wl.UsageError, match=r"the recording ends after .*, before 99 s"
    ):
        replay_recording(folder, system, since=99.0)


def test_a_node_that_was_killed_is_down_where_the_replay_begins():
    system = open_system("zoo:randtree", {})
    weather = "at 20s crash any, at 25s restart any"
    folder = record(
        Path("run"), system, seconds=40, weather=weather, every=2.0, segmented=True
    )
    for since in (19.0, 22.0, 24.9):
        found = replay_recording(folder, system, since=since)
        assert found.divergence is None
        assert found.trace is not None
        assert wl.replay(found.trace, system).reproduced


def test_gauges_go_on_if_they_can_and_histories_are_not_known():
    properties = [few_steps, few_resumed, few_greetings]
    system = rounds.system(
        properties=properties, gauges=[steps, resumed], observers=[greetings]
    )
    folder = record(Path("run"), system, seconds=30, rate=0.0, every=3.0)
    found = replay_recording(folder, system, since=10.0)
    assert found.unknown == ("few_steps", "few_greetings")
    violated = found.expect_violated("few_resumed")
    assert violated.steps == 10
    rows = {row.name: row.explanation for row in found.properties}
    assert "it reads the gauge steps" in rows["few_steps"]
    assert "it reads the history greetings" in rows["few_greetings"]
    assert found.trace is not None
    state = read(found.trace).state
    assert state is not None
    assert state.gauges == {"resumed": 1_000}


def test_journals_of_which_the_first_segments_are_gone_begin_at_a_checkpoint():
    system = rounds.system(properties=[b_hears_little])
    folder = record(
        Path("run"), system, seconds=30, rate=0.0, every=3.0, segmented=True
    )
    for segment in range(3):
        (folder / "b" / f"1-{segment}.wlj").unlink()
    found = replay_recording(folder, system)
    assert found.divergence is None
    assert found.begins is not None
    assert 8 < found.begins < 10
    assert found.expect_violated("b_hears_little").spans


def test_after_a_gap_a_node_goes_on_at_its_checkpoint_and_is_not_judged_before():
    system = rounds.system(properties=[b_hears_little])
    scribe = scribe_of(system, seconds=30, rate=0.0, every=3.0)
    scribe.write(Path("whole"))
    with_gap(scribe, 1, 9.0, 20.0).write(Path("run"))
    found = replay_recording(Path("run"), system)
    assert found.divergence is None
    assert "b: no space left on device; what it did is not known" in str(found)
    assert "no space left on device" in str(found)
    assert found.nodes[1].gaps == ("no space left on device",)
    rows = {row.name: row for row in found.properties}
    # It heard 15 while nothing was written, and that is told from the checkpoint on.
    assert rows["b_hears_little"].verdict is wl.Verdict.VIOLATED
    (span,) = rows["b_hears_little"].spans
    whole = replay_recording(Path("whole"), system)
    (first,) = whole.expect_violated("b_hears_little").spans
    assert first.time is not None
    assert span.time is not None
    assert span.time > first.time
    # What the trace begins with is the state after the gap.
    assert found.trace is not None
    assert read(found.trace).header.begins == "state"
    assert wl.replay(found.trace, system).exit_code == 1
    assert found.network.as_declared is None


def test_what_holds_in_a_gap_for_all_that_is_known_is_not_known():
    @wl.safety
    def b_is_young(view: wl.View) -> bool:
        return bool(view[B].kept < 1_000)

    system = rounds.system(properties=[b_is_young])
    scribe = scribe_of(system, seconds=30, rate=0.0, every=3.0)
    with_gap(scribe, 1, 9.0, 20.0).write(Path("run"))
    found = replay_recording(Path("run"), system)
    assert (found.unknown, found.exit_code) == (("b_is_young",), 3)


def test_a_missing_segment_is_refused_and_partly_read_with_a_gap():
    system = rounds.system(properties=[b_hears_little])
    options: dict[str, Any] = {"seconds": 30, "rate": 0.0, "every": 3.0}
    folder = record(Path("run"), system, **options, segmented=True)
    (folder / "b" / "1-2.wlj").unlink()
    with pytest.raises(wl.InputError, match="lacks the segment before 1-3"):
        replay_recording(folder, system)
    found = replay_recording(folder, system, partial=True)
    assert found.divergence is None
    assert "lacks the segment before 1-3" in found.nodes[1].gaps[0]
    assert found.expect_violated("b_hears_little").spans


def test_damage_is_a_gap_up_to_the_next_segment():
    system = rounds.system(properties=[b_hears_little])
    options: dict[str, Any] = {"seconds": 30, "rate": 0.0, "every": 3.0}
    folder = record(Path("run"), system, **options, segmented=True)
    journal = folder / "b" / "1-2.wlj"
    data = bytearray(journal.read_bytes())
    data[-30] ^= 1
    journal.write_bytes(bytes(data))
    with pytest.raises(wl.InputError, match=r"1-2.wlj is damaged at byte \d+"):
        replay_recording(folder, system)
    found = replay_recording(folder, system, partial=True)
    assert found.divergence is None
    assert "goes on behind it" in found.nodes[1].gaps[0]
    assert found.nodes[1].torn == 0


def test_a_life_of_which_the_journal_is_gone_is_a_gap():
    system = rounds.system(faults=wl.Faults(crashes=2, restarts=2), properties=[])
    weather = "at 3s crash b, at 4s restart b, at 6s crash b, at 7s restart b"
    folder = record(Path("run"), system, seconds=12, rate=0.0, weather=weather)
    (folder / "b" / "2-0.wlj").unlink()
    found = replay_recording(folder, system)
    assert found.divergence is None
    assert found.nodes[1].gaps == ("the journal of life 2 is not there",)


def test_a_journal_of_which_nothing_is_left_is_like_none():
    system = rounds.system(properties=[rounds.few_at_b, rounds.few_at_c()])
    folder = record(Path("run"), system, seconds=10, rate=0.0)
    journal = folder / "c" / "1-0.wlj"
    journal.write_bytes(journal.read_bytes()[:40])
    found = replay_recording(folder, system)
    assert found.divergence is None
    assert found.unknown == ("few_at_c",)
    assert found.trace is not None
    assert read(found.trace).run[0].step == 1
    assert wl.replay(found.trace, system).reproduced


def test_who_waited_for_the_checkpoint_of_another_has_no_clock_that_is_behind():
    system = rounds.system(properties=[b_hears_little])
    scribe = scribe_of(system, seconds=30, rate=0.0, every=3.0)
    # Of a, from which b hears, nothing is known before the twelfth second.
    life = scribe.lives[0][0]
    kinds = [type(records[0]) for time, records in life.turns]
    late = next(
        number
        for number, (time, _) in enumerate(life.turns)
        if time > 12 and kinds[number] is CheckpointRecord
    )
    life.turns[:late] = []
    scribe.write(Path("run"))
    found = replay_recording(Path("run"), system)
    whole = record(Path("whole"), system, seconds=30, rate=0.0)
    expected = replay_recording(whole, system).expect_violated("b_hears_little")
    assert found.begins is not None
    assert found.begins > 12
    row = found.expect_violated("b_hears_little")
    assert row.spans[0].time == expected.spans[0].time
