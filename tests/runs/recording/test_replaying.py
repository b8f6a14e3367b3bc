"""Recordings that went otherwise, that lack something, and that show something."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.runs.recording import rounds
from tests.runs.recording.rounds import C
from tests.runs.recording.simulated import record
from tests.systems import stack

import worldline as wl
from worldline.trace.format import read


def replayed(folder: Path, system: wl.System, **options: Any) -> wl.ReplayedRecording:
    found = wl.replay(folder, system, **options)
    assert isinstance(found, wl.ReplayedRecording)
    return found


def last_of(found: wl.ReplayedRecording) -> int:
    assert found.window is not None
    return found.window[1]


@pytest.fixture
def folder() -> Path:
    """The recording of ten seconds of `rounds`."""
    return record(Path("run"), rounds.system(properties=[]), seconds=10, rate=0.0)


def test_a_run_that_violates_nothing_is_an_ordinary_trace(folder: Path):
    system = rounds.system(properties=[rounds.few_at_b, rounds.b_greets])
    found = replayed(folder, system)
    assert (found.verdict, found.exit_code) == (wl.Verdict.UNKNOWN, 0)
    assert found.events == sum(node.events for node in found.nodes) + 3
    assert [node.stopped for node in found.nodes] == ["asked to"] * 3
    rows = {row.name: row.verdict for row in found.properties}
    assert rows["b_greets"] is wl.Verdict.HOLDS
    assert found.trace is not None
    trace = read(found.trace)
    assert trace.header.engine == "recording"
    assert len(trace.run) == found.run_steps == last_of(found)
    assert [step.time for step in trace.run][-1] == pytest.approx(10.0, abs=0.1)
    assert "as declared, datagrams" in str(found)


def test_a_property_is_judged_at_every_event_and_the_first_that_violates_it_told(
    folder: Path,
):
    found = replayed(folder, rounds.system())
    assert found.exit_code == 1
    row = found.expect_violated("few_at_a")
    assert row.steps == last_of(found)
    assert found.trace is not None
    end = read(found.trace).end
    assert end is not None
    assert (end.property, end.steps) == ("few_at_a", row.steps)
    assert wl.replay(found.trace, rounds.system()).exit_code == 1


def test_a_handler_that_was_changed_is_told_at_the_first_event_that_differs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(rounds, "reply", lambda number: number + (1 + number // 4))
    found = replayed(folder, rounds.system(properties=[rounds.few_at_b]))
    assert (found.exit_code, found.reproduced) == (2, False)
    differs = found.divergence
    assert differs is not None
    assert differs.what in ("the message", "Counting.kept")
    assert "5" in differs.recorded
    assert "6" in differs.happened
    assert "WENT OTHERWISE" in str(found)
    assert found.to_json()["divergence"]["node"] == differs.node


def test_the_first_event_that_differs_is_told_and_what_comes_before_stands(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    @wl.safety
    def few_twos(view: wl.View) -> bool:
        return bool(view[rounds.B].kept < 2)

    system = rounds.system(properties=[few_twos])
    whole = replayed(folder, system)
    monkeypatch.setattr(rounds, "reply", lambda number: number + (1 + number // 4))
    found = replayed(folder, system)
    differs = found.divergence
    assert differs is not None
    # Each of the ring's messages says one more; that with 5 is the first one otherwise.
    assert (differs.recorded, differs.happened) == (
        "Greet(number=5)",
        "Greet(number=6)",
    )
    assert f"deliver at {differs.node} Greet(number=5) from" in differs.event
    row = found.expect_violated("few_twos")
    assert row.steps == whole.expect_violated("few_twos").steps
    assert row.steps is not None
    assert row.steps < differs.step
    assert whole.trace is not None
    assert found.trace is not None
    assert whole.trace.name == "run-replayed.wl"
    assert found.trace.name == "run-otherwise.wl"  # and leaves the other one alone
    assert wl.replay(found.trace, system).exit_code == 1


def test_a_handler_that_chooses_otherwise_is_told(monkeypatch: pytest.MonkeyPatch):
    calls = [wl.whenever(rounds.Counting.ask, words="more")]
    system = rounds.system(properties=[], workload=calls)
    folder = record(Path("run"), system, seconds=10, rate=1.0)
    assert replayed(folder, system).divergence is None

    for options, happened in (([1], "[]"), ([3, 4], "")):
        monkeypatch.setattr(rounds, "options", options)
        differs = replayed(folder, system).divergence
        assert differs is not None
        if happened:
            assert (differs.what, differs.happened) == ("the choices", happened)
        else:
            assert differs.what == "Counting.kept"


def test_a_durable_field_that_is_another_now_is_told_where_it_was_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    kept: list[int] = []

    def spoil(number: int) -> None:
        kept.append(number)

    monkeypatch.setattr(rounds, "max", lambda a, b: a + b, raising=False)
    monkeypatch.setattr(rounds, "fail", spoil)
    differs = replayed(folder, rounds.system(properties=[])).divergence
    assert differs is not None
    assert differs.what == "Counting.kept"
    assert kept


def test_with_a_journal_missing_only_what_reads_its_node_is_not_known(folder: Path):
    shutil.rmtree(folder / "c")
    properties = [rounds.few_at_b, rounds.few_at_c(), rounds.few_everywhere]
    found = replayed(folder, rounds.system(properties=properties))
    assert found.divergence is None
    rows = {row.name: row for row in found.properties}
    assert rows["few_at_b"].explanation == ""
    assert "it reads c, of which nothing is known" in rows["few_at_c"].explanation
    # What is false for the others is so whatever the missing node was like.
    assert rows["few_everywhere"].verdict is wl.Verdict.VIOLATED
    assert found.unknown == ("few_at_c",)
    assert "c: no journal, so its state is not known" in str(found)
    assert [node.missing for node in found.nodes] == [False, False, True]
    assert found.exit_code == 1
    assert not found.network.as_declared
    assert found.trace is not None
    assert wl.replay(found.trace, rounds.system(properties=properties)).reproduced


def test_a_torn_tail_is_left_out_and_told(folder: Path):
    journal = folder / "b" / "1-0.wlj"
    journal.write_bytes(journal.read_bytes()[:-7])
    found = replayed(folder, rounds.system(properties=[]))
    assert found.divergence is None
    assert found.nodes[1].torn > 0
    assert "bytes at the end of its journal are torn" in str(found)


def test_where_others_know_more_than_a_journal_its_end_is_lost(folder: Path):
    """Half of a journal, as after a loss of power: what it sent later was received."""
    journal = folder / "b" / "1-0.wlj"
    journal.write_bytes(journal.read_bytes()[: journal.stat().st_size // 2])
    system = rounds.system(properties=[rounds.few_at_a, rounds.few_at_b])
    whole, found = (
        replayed(folder, rounds.system(properties=[])),
        replayed(folder, system),
    )
    assert (whole.divergence, found.divergence) == (None, None)
    assert "it was cut, or a part was lost" in str(found)
    assert found.unknown == ("few_at_b",)
    assert found.expect_violated("few_at_a").steps is not None
    assert found.trace is not None
    assert wl.replay(found.trace, system).reproduced


def test_where_a_whole_life_is_lost_others_know_of_it(tmp_path: Path):
    system = rounds.system(properties=[rounds.few_at_b])
    weather = "at 5s reset b, at 15s reset b"
    folder = record(tmp_path / "run", system, seconds=30, rate=0.0, weather=weather)
    (folder / "b" / "3-0.wlj").unlink()
    found = replayed(folder, system)
    assert found.divergence is None
    assert "the journal of life 3 is not there" in str(found)
    assert (found.unknown, found.exit_code) == (("few_at_b",), 3)


def failing(exception: BaseException) -> Any:
    def fail(number: int) -> None:
        if number > 3:
            raise exception

    return fail


@pytest.mark.parametrize("exception", [ValueError("four"), KeyboardInterrupt()])
def test_a_handler_that_failed_fails_again(
    monkeypatch: pytest.MonkeyPatch, exception: BaseException
):
    monkeypatch.setattr(rounds, "fail", failing(exception))
    system = rounds.system(properties=[])
    folder = record(Path("run"), system, seconds=30, rate=0.0)
    found = replayed(folder, system)
    assert (found.divergence, found.failures, found.exit_code) == (None, 1, 1)
    assert found.expect_violated("exception").steps == last_of(found)
    assert found.trace is not None
    assert wl.replay(found.trace, system).exit_code == 1

    # The same failure from another line is the same.
    def fail(number: int) -> None:
        failing(exception)(number)

    monkeypatch.setattr(rounds, "fail", fail)
    assert replayed(folder, system).divergence is None
    monkeypatch.setattr(rounds, "fail", rounds.nothing)
    differs = replayed(folder, system).divergence
    assert differs is not None
    assert (differs.what, differs.happened) == (
        "the failure of the handler",
        "no failure",
    )


def test_nodes_that_faults_spare_can_have_been_killed_and_the_run_is_made_short():
    options: dict[str, Any] = {"faults": wl.Faults(crashes=1, restarts=1, nodes=(C,))}
    weather = "at 3s crash b, at 4s restart b"
    seen = rounds.system(faults=wl.Faults(crashes=1, restarts=1))
    folder = record(Path("run"), seen, seconds=30, rate=0.0, weather=weather)
    system = rounds.system(**options)
    found = replayed(folder, system)
    assert (found.exit_code, found.network.as_declared) == (1, True)
    assert found.nodes[1].incarnations == 2
    assert found.trace is not None
    assert wl.minimize(found.trace, system=system).verdict is wl.Verdict.VIOLATED


def test_predicates_of_a_file_are_judged_of_a_recording(folder: Path):
    Path("asked.py").write_text(
        "import worldline as wl\n"
        "from tests.runs.recording.rounds import A\n"
        "@wl.gauge(initial=0)\n"
        "def fired(value, step, view):\n"
        "    return value + (step.event.kind is wl.Kind.TIMER)\n"
        "@wl.safety\n"
        "def seldom(view):\n"
        "    return view.gauge('fired') < 5 or view[A].kept < 2\n"
    )
    found = replayed(folder, rounds.system(properties=[]), predicates="asked.py")
    assert found.expect_violated("seldom").spans[0].gauges["fired"] >= 5
    assert found.replay == "wl.replay('run', system=..., predicates='asked.py')"


def test_journals_of_another_system_and_of_none_are_refused(folder: Path):
    with pytest.raises(wl.UsageError, match="does not say from where"):
        wl.replay(folder)
    with pytest.raises(wl.InputError, match="other nodes or messages"):
        wl.replay(folder, "zoo:toy")
    Path("empty").mkdir()
    with pytest.raises(wl.InputError, match="has no journals"):
        wl.replay("empty", rounds.system())
    shutil.copytree(folder / "a", folder / "d")
    with pytest.raises(wl.InputError, match="is that of a"):
        wl.replay(folder, rounds.system())


@wl.gauge(initial=0.0)
def last_timer(value: float, step: Any, view: wl.View) -> float:
    return step.time if step.event.kind is wl.Kind.TIMER else value


@wl.liveness(
    confidence=lambda view: min(1.0, (view.time - view.gauge("last_timer")) / 2)
)
def a_hears_much(view: wl.View) -> bool:
    return bool(view[rounds.A].greeted > 1_000)


def test_no_deadline_rests_on_a_gauge_that_is_not_known(folder: Path):
    """It reads a node that is known; when it is due depends on all of them."""
    system = rounds.system(properties=[a_hears_much]).replace(gauges=[last_timer])
    assert replayed(folder, system).violated is None
    shutil.rmtree(folder / "c")
    found = replayed(folder, system)
    assert found.violated is None
    assert found.unknown == ("a_hears_much",)
    assert "it reads the gauge last_timer" in str(found)


def test_the_trace_of_a_replay_has_the_calls_between_services():
    found = replayed(record(Path("run"), stack(), seconds=20), stack())
    assert found.divergence is None
    assert found.trace is not None
    trace = read(found.trace)
    names = {call.name for step in trace.steps for call in step.calls or ()}
    assert names == {"route", "deliver", "confirmed"}
    assert wl.replay(found.trace, stack()).divergence is None
