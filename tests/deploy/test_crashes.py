"""Kills -9 under load: what anybody received is in a journal, and what was kept is there.

Of the first the check is made here, by reading all journals; that the second is what the
nodes had, replay says, which is shown to notice if it is not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.keepers import kill_many, processes, system
from tests.shares import share
from tests.trace.journal.reframed import contents_of, reframed

import worldline as wl
from worldline.runs.recording.recorded import ReplayedRecording
from worldline.runs.recording.replay import replay_recording
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.patches import MembersPatch
from worldline.trace.journal.reading import Incarnation, nodes_of, read_node
from worldline.trace.journal.records import (
    CalledRecord,
    DeltaRecord,
    ErredRecord,
    FiredRecord,
    ReceivedRecord,
    StartedRecord,
    spell,
)

Event = tuple[int, int, int]
"""An event: the index of its node, which life, and its Lamport time."""

NETWORKS = ("streams", "datagrams")


def lives(folder: Path) -> Iterator[tuple[str, Incarnation]]:
    for journal in nodes_of(folder):
        for life in read_node(journal).incarnations:
            yield journal.name, life


class Journals:
    """All journals of a recording, as this test understands them.

    Attributes
    ----------
    events
        Those that are in a journal.
    received
        Each message that was, by the event that sent it, and the one that took it.
    """

    def __init__(self, folder: Path, made: wl.System) -> None:
        self.events: set[Event] = set()
        self.received: list[tuple[Event, Event]] = []
        self.lives = 0
        codec = Codec(made.under_recording())
        for name, life in lives(folder):
            self.lives += 1
            me, clock = made.index[wl.NodeId(name)], 0
            for turn in life.turns(codec):
                for record in turn.records:
                    clock = self._take(record, codec, (me, life.number), clock)

    def _take(self, record: Any, codec: Codec, who: tuple[int, int], clock: int) -> int:
        match record:
            case StartedRecord():
                clock = record.lamport + 1
            case FiredRecord() | CalledRecord() | ErredRecord():
                clock += 1
            case ReceivedRecord(packets=packets):
                while packets:
                    size = 4 + int.from_bytes(packets[:4], "big")
                    frame: Any = codec.frame(packets[4:size])
                    packets = packets[size:]
                    clock = max(clock, frame.lamport) + 1
                    sent = frame.sender, frame.incarnation, frame.lamport
                    self.received.append((sent, (*who, clock)))
                    self.events.add((*who, clock))
                return clock
            case _:
                return clock
        self.events.add((*who, clock))
        return clock

    def missing(self) -> list[tuple[Event, Event]]:
        """Return what was received though no journal has the event that sent it."""
        return [one for one in self.received if one[0] not in self.events]


def crashed(folder: Path, network: str, sync: str, kills: int, seed: int) -> Journals:
    """Kill nodes under load; see what is in the journals, and that it replays."""
    with processes(network, folder, sync) as killing:
        kill_many(killing, kills, seed)
        killing.stop()
    journals = Journals(folder, system(network))
    sys.stdout.write(f"{len(journals.received):,} received in {journals.lives} lives\n")
    assert journals.missing() == []
    assert len(journals.received) > 50 * kills
    assert journals.lives > kills / 2
    replayed = replay(folder, network)
    assert replayed.divergence is None, str(replayed)
    replayed.expect_no_violation()
    assert sum(node.incarnations for node in replayed.nodes) == journals.lives
    return journals


def replay(folder: Path, network: str) -> ReplayedRecording:
    return replay_recording(folder, system(network), traces=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "sync"),
    share([("streams", "never"), ("datagrams", "durable")], but=["streams"]),
)
def test_after_kills_nothing_was_received_that_no_journal_has(
    network: str, sync: str, tmp_path: Path
):
    crashed(tmp_path, network, sync, kills=10, seed=1)


@pytest.mark.nightly
@pytest.mark.parametrize("sync", ["never", "durable"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("seed", range(5))
def test_after_many_kills_nothing_was_received_that_no_journal_has(
    network: str, sync: str, seed: int, tmp_path: Path
):
    """Ten kills in each of twenty runs; those of one are a share in every run."""
    crashed(tmp_path, network, sync, kills=10, seed=100 + seed)


# ------------------------------------------------------------------- that it would be seen


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    with processes("datagrams", folder, "never") as killing:
        kill_many(killing, 3, seed=5)
        killing.stop()
    return folder


def changed(folder: Path, to: Path, change: Callable[[Any], Any]) -> None:
    """Copy a recording, with one record changed: the first that `change` returns anew."""
    codec, is_done = Codec(system("datagrams").under_recording()), False
    for name, life in lives(folder):
        turns = life.turns(codec)
        for file in life.files:
            data = file.path.read_bytes()
            header, *contents = contents_of(data)
            for at, turn in zip(range(len(contents)), turns, strict=False):
                for number, record in enumerate(turn.records):
                    other = None if is_done else change(record)
                    if other is not None:
                        is_done, spelt = True, codec.unpack(contents[at])
                        spelt[2][number] = spell(other, codec.values)
                        contents[at] = codec.pack(spelt)
            place = to / name / file.path.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(reframed([header, *contents]))
    assert is_done


def test_durable_state_that_is_not_what_the_node_had_is_noticed(
    recording: Path, tmp_path: Path
):
    def plant(record: Any) -> Any:
        if not isinstance(record, StartedRecord) or not record.durable:
            return None
        entries = [*record.durable["entries"], 0]
        return record._replace(durable={**record.durable, "entries": entries})

    assert replay(recording, "datagrams").divergence is None
    changed(recording, tmp_path, plant)
    found = replay(tmp_path, "datagrams").divergence
    assert found is not None
    assert (found.what, found.event.split()[0]) == ("Keeper.entries", "start")


@pytest.mark.parametrize("where", ["added", "gone"])
def test_a_change_that_was_written_otherwise_is_noticed(
    where: str, recording: Path, tmp_path: Path
):
    def plant(record: Any) -> Any:
        if not isinstance(record, DeltaRecord):
            return None
        for number, patch in enumerate(record.patches):
            if isinstance(patch, MembersPatch) and patch.added:
                (key, text), *more = patch.added
                if where == "added":
                    other = patch._replace(added=((key, text + b"y"), *more))
                else:
                    other = patch._replace(gone=(*patch.gone, key))
                patches = list(record.patches)
                patches[number] = other
                return record._replace(patches=tuple(patches))
        return None

    changed(recording, tmp_path, plant)
    found = replay(tmp_path, "datagrams").divergence
    assert found is not None
    assert found.what.startswith("Keeper.pairs")


def test_a_message_that_no_journal_has_is_noticed(recording: Path, tmp_path: Path):
    def plant(record: Any) -> Any:
        if not isinstance(record, ReceivedRecord):
            return None
        made = system("datagrams")
        codec = Codec(made.under_recording())
        size = 4 + int.from_bytes(record.packets[:4], "big")
        frame: Any = codec.frame(record.packets[4:size])
        life, when = frame.incarnation + 50, frame.lamport
        who = frame.sender, life, when, frame.place, ""
        packet = codec.packet(*who, frame.message)
        return record._replace(packets=packet + record.packets[size:])

    changed(recording, tmp_path, plant)
    assert len(Journals(tmp_path, system("datagrams")).missing()) == 1
    assert replay(tmp_path, "datagrams").divergence is not None
