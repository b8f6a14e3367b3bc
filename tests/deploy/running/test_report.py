"""The report of a run: counts of lives together, its text, its JSON, its exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from worldline.deploy.counts import NodeCounts
from worldline.deploy.running.report import RunReport, counts_of, in_all

FIRST = NodeCounts(
    node="a",
    address="127.0.0.1:7001",
    incarnations=1,
    events=5,
    sent=3,
    received=2,
    cpu_seconds=0.25,
    journal_bytes=1024,
)
SECOND = replace(FIRST, incarnations=2, events=7, failure="ValueError: no")


def report(*nodes: NodeCounts) -> RunReport:
    return RunReport(
        system="idle",
        target="idle.py",
        recording=Path("out/idle-run"),
        seconds=2.0,
        nodes=nodes,
        replay="worldline replay out/idle-run idle.py",
        notes=("nothing came of the weather: at 9 s heal",),
    )


def test_lives_in_several_processes_are_counted_together():
    both = in_all("a", [FIRST, SECOND])
    assert (both.events, both.sent, both.received) == (12, 6, 4)
    assert (both.cpu_seconds, both.journal_bytes) == (0.5, 2048)
    assert (both.incarnations, both.address) == (2, "127.0.0.1:7001")
    assert both.failure == "ValueError: no"
    assert in_all("a", [SECOND, FIRST]).failure == "ValueError: no"
    steered = [replace(FIRST, steering={"blocked": 1}), SECOND]
    assert in_all("a", [*steered, *steered]).steering == {"blocked": 2}
    assert in_all("a", []) == NodeCounts(node="a")


def test_counts_go_to_another_process_and_back():
    sent = json.loads(json.dumps(SECOND.to_json()))
    assert counts_of(sent) == SECOND
    steered = replace(SECOND, steering={"blocked": 1})
    assert counts_of(json.loads(json.dumps(steered.to_json()))) == steered


def test_the_exit_code_tells_failures_from_journals():
    assert report(FIRST).exit_code == 0
    assert report(FIRST, SECOND).exit_code == 1
    full = replace(FIRST, journal_failure="the disk is full")
    assert report(FIRST, full).exit_code == 2
    assert report(SECOND, full).exit_code == 1
    ended = replace(report(SECOND), error="b cannot be run: no disk")
    assert ended.exit_code == 2
    assert "\n  it ended: b cannot be run: no disk\n" in str(ended)


def test_a_run_that_ended_before_any_node_began_was_none():
    none = replace(report(NodeCounts(node="a")), recording=None, replay=None, notes=())
    assert none.exit_code == 3
    assert "\n  it ended before any node had begun: nothing was run" in str(none)
    failed = replace(none, error="a cannot be run: no disk")
    assert failed.exit_code == 2
    assert "before any node" not in str(failed)
    assert "before any node" not in str(report(FIRST, NodeCounts(node="b")))


def test_its_text_has_a_line_for_each_node_and_what_to_do_next():
    lines = str(
        report(FIRST, replace(SECOND, node="bee", events=1_000_000))
    ).splitlines()
    assert lines == [
        "idle: 2 nodes, 2.0 s, 1,000,005 events, 500,002/s",
        "  node  address         lives     events  sent  received  lost  journal    cpu",
        "  a     127.0.0.1:7001      1          5     3         2     0  1.0 KiB  0.2 s",
        "  bee   127.0.0.1:7001      2  1,000,000     3         2     0  1.0 KiB  0.2 s",
        "  bee failed: ValueError: no",
        "  note: nothing came of the weather: at 9 s heal",
        "  recording out/idle-run",
        "  replay    worldline replay out/idle-run idle.py",
    ]


def test_its_json_has_these_keys():
    shown = report(FIRST).to_json()
    assert list(shown) == [
        "system",
        "target",
        "recording",
        "seconds",
        "events_per_second",
        "nodes",
        "mode",
        "steering",
        "predictions",
        "refusals",
        "refused_in_all",
        "unseen",
        "replay",
        "error",
        "notes",
    ]
    assert shown["recording"] == "out/idle-run"
    assert shown["events_per_second"] == 2.5
    assert list(shown["nodes"][0]) == [
        "node",
        "address",
        "incarnations",
        "events",
        "sent",
        "received",
        "lost",
        "refused",
        "malformed",
        "unrecorded",
        "control_bytes",
        "journal_bytes",
        "cpu_seconds",
        "steering",
        "failure",
        "journal_failure",
    ]
