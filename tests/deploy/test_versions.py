"""Two versions of a program: what may differ between processes, and between lives."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.deploy.cluster import LOOPBACK
from worldline.deploy.journal import JournalWriter
from worldline.deploy.journal_options import JournalOptions
from worldline.deploy.ports import free_ports
from worldline.deploy.recovery import Restored
from worldline.model.errors import InputError
from worldline.runs.recording.folder import JournalFolder, header_of
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.records import DeltaRecord, StartedRecord


def made(annotations: dict[str, Any], **fields: Any) -> wl.System:
    """Return a system of one node whose class has these fields, and is called Store."""
    (node,) = wl.ids("a")
    cls: Any = type("Store", (), {"__annotations__": annotations, **fields})
    return wl.System({node: wl.node(cls)()})


OLD = made(
    {"kept": int, "gone": str, "seen": int},
    kept=wl.durable(default=0),
    gone=wl.durable(default=""),
    seen=0,
)


def opened(place: Path, system: wl.System) -> Restored:
    """Begin a life, and end it."""
    codec, options = Codec(system), JournalOptions(run="r", sync="never")
    writer, restored = JournalWriter.open(place, system, codec, system.ids[0], options)
    durable = restored.durable
    writer.commit([StartedRecord(restored.incarnation, 0, 0, durable, 1.0)])
    if restored.incarnation == 1:
        writer.commit([DeltaRecord(0, {"kept": 7}, 0)])
    writer.close(None)
    return restored


def test_nodes_with_other_fields_understand_each_other():
    new = made({"kept": int, "other": bytes}, kept=wl.durable(default=0), other=b"")
    assert Codec(OLD).digest == Codec(new).digest


def test_a_field_that_has_come_has_its_default(tmp_path: Path):
    opened(tmp_path, OLD)
    new = made(
        {"kept": int, "gone": str, "new": int},
        kept=wl.durable(default=0),
        gone=wl.durable(default=""),
        new=wl.durable(default=3),
    )
    assert opened(tmp_path, new).durable == {"kept": 7}


def test_a_durable_field_that_has_gone_is_refused(tmp_path: Path):
    opened(tmp_path, OLD)
    new = made({"kept": int}, kept=wl.durable(default=0))
    with pytest.raises(
        InputError, match="field gone, which held str, and in Store it is"
    ):
        opened(tmp_path, new)


def test_a_durable_field_that_holds_something_else_is_refused(tmp_path: Path):
    opened(tmp_path, OLD)
    new = made(
        {"kept": str, "gone": str},
        kept=wl.durable(default=""),
        gone=wl.durable(default=""),
    )
    with pytest.raises(InputError, match="which held int, and in Store it holds str"):
        opened(tmp_path, new)


def test_a_field_that_dies_with_its_node_may_change(tmp_path: Path):
    opened(tmp_path, OLD)
    new = made(
        {"kept": int, "gone": str, "seen": bytes},
        kept=wl.durable(default=0),
        gone=wl.durable(default=""),
        seen=b"",
    )
    assert opened(tmp_path, new).incarnation == 2


def talking(*names: str, **fields: type) -> wl.System:
    """Return a system of such nodes, whose message has these fields."""
    word: Any = wl.message(type("Word", (), {"__annotations__": fields}))

    class Talker:
        kept: int = wl.durable(default=0)

        @wl.on(word)
        def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Any) -> None:
            self.kept += 1

    made: Any = wl.node(Talker)
    return wl.System({node: made() for node in wl.ids(*names)}, name="talk")


def lived(place: Path, system: wl.System, **options: Any) -> list[str]:
    """Run the nodes of a system for a moment; return what the host said."""
    lines: list[str] = []

    async def main() -> None:
        async with wl.Host(system, record=place, say=lines.append, **options):
            pass

    asyncio.run(main())
    return lines


@pytest.mark.parametrize("names", [("a", "b", "c"), ("a",), ("x", "y")])
def test_a_host_with_other_nodes_does_not_go_on_in_a_recording(
    tmp_path: Path, names: tuple[str, ...]
):
    lived(tmp_path, talking("a", "b"))
    with pytest.raises(InputError, match="recording of other nodes: a, b; record"):
        lived(tmp_path, talking(*names))
    assert lived(tmp_path, talking("a", "b")) == []
    JournalFolder(tmp_path, talking("a", "b"))  # it is one of a single system still


def test_another_run_does_not_go_on_in_a_recording(tmp_path: Path):
    lived(tmp_path, talking("a", "b"), run="first")
    with pytest.raises(InputError, match="recording of the run first, not second;"):
        lived(tmp_path, talking("a", "b"), run="second")
    assert lived(tmp_path, talking("a", "b"), run="first") == []
    assert lived(tmp_path, talking("a", "b")) == []
    JournalFolder(tmp_path, talking("a", "b"))


def test_nodes_of_a_cluster_without_a_name_are_of_one_run_wherever_they_begin(
    tmp_path: Path,
):
    made = talking("a", "b")
    one, other = free_ports(LOOPBACK, 2)
    addresses = dict(zip(made.ids, [(LOOPBACK, one), (LOOPBACK, other)], strict=True))
    places = ["here", "there"]

    def runs() -> set[str]:
        return {header_of(tmp_path / place).run for place in places}

    for node, place in zip(made.ids, places, strict=True):  # on a machine each
        cluster = wl.Cluster(addresses=addresses)
        lived(tmp_path / place, made, nodes=[node], cluster=cluster)
    assert len(runs()) == 1
    places = ["first", "second"]  # of all nodes, each time
    for place in places:
        lived(tmp_path / place, made, cluster=wl.Cluster(addresses=addresses))
    assert len(runs()) == 2


def test_a_life_with_other_messages_goes_on_and_is_told_what_that_costs(tmp_path: Path):
    lived(tmp_path, talking("a", "b", number=int))
    (line,) = lived(tmp_path, talking("a", "b", number=int, text=str))
    assert line == (
        f"{tmp_path} has lives with other messages (here message Word(number: int, "
        "text: str), there message Word(number: int)): nodes go on from their durable "
        "fields, but no replay knows both; to have one, record into a new folder"
    )
