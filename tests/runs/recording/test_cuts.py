"""Journals that lack lives or their ends, and nodes that begin at different times."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from tests.runs.recording import rounds
from tests.runs.recording.rounds import A, B, C
from tests.runs.recording.simulated import Scribe, scribe_of

import worldline as wl
from worldline.runs.recording.replay import replay_recording

KILLED = "at 8s crash c, at 9s restart c, at 16s crash c, at 17s restart c"


@wl.safety
def told_by_the_one_before(view: wl.View) -> bool:
    """True in each consistent cut: what a node has kept, the one before it has sent."""
    return all(
        view[after].kept <= view[before].kept + 1
        for before, after in ((A, B), (B, C), (C, A))
    )


@wl.gauge(initial=0.0)
def last_greeting(value: float, step: wl.TimedStep, view: wl.View) -> float:
    return step.time if step.event.node == C else value


def sure(view: wl.View) -> float:
    """Never sure, as long as the last greeting is known: there is one each second."""
    return float(min(1.0, (view.time - view.gauge("last_greeting")) / 5))


@wl.liveness(confidence=sure)
def many_at_a(view: wl.View) -> bool:
    return bool(view[A].kept > 1_000)


GAUGED = rounds.system(properties=[many_at_a], gauges=[last_greeting])
SYSTEM = rounds.system(properties=[told_by_the_one_before])


def scribe(every: float | None = None) -> Scribe:
    weather = None if every else KILLED
    return scribe_of(SYSTEM, seconds=30, rate=0.0, weather=weather, every=every)


def written(scribe: Scribe) -> Path:
    scribe.write(folder := Path("run"))
    return folder


def replayed(folder: Path, since: float | None = None) -> wl.ReplayedRecording:
    return replay_recording(folder, SYSTEM, since=since)


@pytest.mark.parametrize("since", [10.0, 18.5, 25.0])
def test_a_state_is_judged_once_all_nodes_have_caught_up(since: float):
    """Two begin at their starts, and one where it came back."""
    found = replayed(written(scribe()), since)
    assert (found.divergence, found.begins, found.exit_code) == (None, since, 0)
    assert found.properties[0].explanation == ""


@pytest.mark.parametrize("ahead", [-100.0, 100.0])
@pytest.mark.parametrize("node", [0, 1, 2])
def test_a_node_with_another_clock_begins_with_what_it_had_heard(
    node: int, ahead: float
):
    """Its last checkpoint by its clock knows what others did much later by theirs."""
    one = scribe(every=3.0)
    for life in one.lives[node]:
        life.turns = [(time + ahead, records) for time, records in life.turns]
    folder = written(one)
    for since in (5.0, 110.0, 125.0):
        found = replayed(folder, since)
        assert (found.divergence, found.exit_code) == (None, 0)


def test_a_time_behind_the_end_of_a_recording_is_refused():
    with pytest.raises(
        wl.UsageError, match=r"the recording ends after \d.* s, before 99"
    ):
        replayed(written(scribe(every=3.0)), 99.0)


@pytest.mark.parametrize("lives", [(2,), (3,), (2, 3)])
def test_of_a_life_that_is_not_there_nothing_is_invented(lives: tuple[int, ...]):
    folder = written(scribe())
    for life in lives:
        (folder / "c" / f"{life}-0.wlj").unlink()
    found = replayed(folder)
    assert (found.divergence, found.exit_code) == (None, 3)
    assert found.unknown == ("told_by_the_one_before",)
    which = f"life {lives[0]} is" if len(lives) == 1 else "lives 2 to 3 is"
    assert f"c: the journal of {which} not there; what it did" in str(found)


def test_a_first_life_that_is_not_there_is_said():
    folder = written(scribe())
    (folder / "c" / "1-0.wlj").unlink()
    found = replayed(folder)
    assert (found.divergence, found.exit_code) == (None, 0)
    assert found.begins == pytest.approx(9.0, abs=0.1)
    assert "c: the journal of life 1 is not there" in str(found)
    # Who begins behind it does not need it.
    assert "is not there" not in str(replayed(written_whole(), since=18.0))


def written_whole() -> Path:
    scribe().write(folder := Path("whole"))
    return folder


@pytest.mark.parametrize("life", [1, 2, 3])
@pytest.mark.parametrize("torn", [0, 5])
def test_a_journal_that_ends_before_what_others_heard_is_no_other_program(
    life: int, torn: int
):
    one = scribe()
    cut = one.lives[2][life - 1]
    del cut.turns[len(cut.turns) // 2 :]
    folder = written(one)
    file = folder / "c" / f"{life}-0.wlj"
    if torn:
        file.write_bytes(file.read_bytes()[:-torn])
    found = replayed(folder)
    assert (found.divergence, found.exit_code) == (None, 3)
    (why,) = found.nodes[2].gaps
    assert why.startswith(f"the journal of life {life} ends at ")
    assert "it was cut, or a part was lost" in why
    assert found.unknown == ("told_by_the_one_before",)


def test_what_nobody_heard_of_was_not_cut():
    """A journal that ends with what its node did last is that of one that was killed."""
    one = scribe()
    del one.lives[2][-1].turns[-1:]  # that it stopped
    found = replayed(written(one))
    assert (found.nodes[2].gaps, found.nodes[2].stopped, found.exit_code) == ((), "", 0)


def test_a_gauge_that_has_not_seen_all_makes_no_property_due():
    whole = replay_recording(written(scribe()), GAUGED)
    assert (whole.undecided, whole.unknown, whole.exit_code) == (("many_at_a",), (), 3)
    shutil.rmtree("run/c")
    found = replay_recording(Path("run"), GAUGED)
    assert (found.undecided, found.unknown) == ((), ("many_at_a",))
    assert (found.verdict, found.exit_code) == (wl.Verdict.UNKNOWN, 3)
    said = "not known from step 0 on: it reads the gauge last_greeting"
    assert said in str(found)
    (span,) = found.properties[0].spans
    assert (span.confidence, span.due, span.gauges) == (None, None, {})


@pytest.mark.parametrize("resumes", [False, True])
def test_a_gauge_begins_amid_a_run_with_what_it_resumes(resumes: bool):
    resume = (lambda view: 20.0) if resumes else None
    gauge = dataclasses.replace(last_greeting, resume=resume)
    system = GAUGED.replace(gauges=[gauge])
    found = replay_recording(written(scribe(every=3.0)), system, since=20.0)
    assert found.unknown == (() if resumes else ("many_at_a",))
    assert found.undecided == (("many_at_a",) if resumes else ())
    assert found.exit_code == 3
