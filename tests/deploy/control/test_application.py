"""What control answers: paths, arguments, states, and errors."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.control.asking import (
    DOWN,
    ODD,
    A,
    Client,
    Entry,
    FakeHost,
    refused,
    serving,
    state_trace,
)

from worldline.deploy.control.requests import LARGEST
from worldline.trace.format import read

ODD_PATH = "/nodes/b%2F..%2Fcall%2Fx"


def ask(*asked: Any, host: FakeHost | None = None, **more: Any) -> tuple[int, Any]:
    async def main() -> tuple[int, Any]:
        async with serving(host) as client:
            answer = await client.ask(*asked, **more)
        assert client.said == []
        return answer

    return asyncio.run(main())


def test_nodes_are_listed_with_their_counts():
    status, said = ask("/nodes")
    assert status == 200
    assert [each["node"] for each in said["nodes"]] == ["a", "b/../call/x", "down"]
    assert [each["up"] for each in said["nodes"]] == [True, True, False]
    assert said["nodes"][0]["events"] == 7


def test_a_state_has_every_field_that_is_plain_data_and_names_the_others():
    host = FakeHost()
    host.object.kept["k"] = b"\1"
    host.object.peer, host.object.handle = A, object()
    host.object.hits, host.object.cache.size = 3, 4
    assert ask("/nodes/a/state", host=host) == (
        200,
        {
            "node": "a",
            "class": "Store",
            "fields": {
                "kept": {"k": {"$bytes": "01"}},
                "peer": {"$node": "a"},
                "hits": 3,
                "cache.size": 4,
            },
            "opaque": ["handle"],
        },
    )


def test_a_snapshot_is_the_file_of_a_trace(tmp_path: Path):
    async def main() -> bytes:
        host = FakeHost()
        host.trace = state_trace()
        async with serving(host) as client:
            return await client.raw("/nodes/a/snapshot")

    head, _, body = asyncio.run(main()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert b"application/octet-stream" in head
    file = tmp_path / "state.wl"
    file.write_bytes(body)
    assert read(file) == state_trace()


def test_a_snapshot_that_fits_into_no_trace_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("worldline.trace.format.LONGEST_LINE", 100)
    host = FakeHost()
    host.trace = state_trace()
    status, said = ask("/nodes/a/snapshot", host=host)
    assert status == 409
    assert "fits into no trace" in said["error"]
    assert "wl.field(checkpoint=False)" in said["remedy"]


def test_metrics_are_text_for_prometheus():
    status, text = ask("/metrics")
    assert status == 200
    assert 'worldline_events_total{node="b/../call/x"} 7\n' in text


def test_a_call_is_made_with_its_arguments_and_answered():
    host = FakeHost(answer=(A, {1, 2}))
    body = ["k", {"$bytes": "00ff"}]
    assert ask("/nodes/a/call/put", body, host=host) == (
        200,
        {
            "node": "a",
            "call": "put",
            "answer": {"$tuple": [{"$node": "a"}, {"$set": [1, 2]}]},
        },
    )
    assert host.calls == [(A, "put", "k", b"\0\xff")]


def test_classes_of_the_system_are_made_and_none_of_their_code_runs():
    host = FakeHost()
    entry = {"$is": "Entry", "key": "k", "holders": {"$frozenset": [{"$node": "a"}]}}
    assert ask("/nodes/a/call/keep", [entry], host=host)[0] == 200
    [(_, _, made)] = host.calls
    assert type(made) is Entry
    assert (made.key, made.holders) == ("k", frozenset({A}))


def test_a_call_without_a_body_has_no_arguments():
    host = FakeHost()
    assert ask("/nodes/a/call/put", method="POST", host=host)[0] == 200
    assert host.calls == [(A, "put")]


@pytest.mark.parametrize("verb", ["crash", "stop"])
def test_a_node_is_ended_and_said_to_be_down(verb: str):
    host = FakeHost()
    path = f"{ODD_PATH}/{verb}"
    said = {"node": "b/../call/x", "up": False}
    assert ask(path, method="POST", host=host) == (200, said)
    assert host.calls == [(verb, ODD)]


@pytest.mark.parametrize(
    ("status", "method", "path"),
    [
        (404, "GET", ""),
        (404, "GET", "/"),
        (404, "GET", "/nodes/"),
        (404, "GET", "/nodes/a"),
        (404, "GET", "/nodes/a/snapshots"),
        (404, "GET", "/nodes/nobody/state"),
        (404, "GET", "/nodes/b/../call/x/state"),
        (404, "GET", "/nodes/./a/state"),
        (404, "POST", "/nodes/a/call"),
        (404, "POST", "/nodes/a/call/entry"),
        (404, "POST", "/nodes/a/call/__init__"),
        (404, "POST", "/nodes/a/call/put/more"),
        (405, "POST", "/nodes"),
        (405, "GET", "/nodes/a/crash"),
        (405, "DELETE", "/nodes/a/state"),
        (405, "OPTIONS", "/nodes/a/call/put"),
        (405, "POST", "/nodes/a/snapshot"),
        (409, "GET", "/nodes/down/state"),
        (409, "GET", "/nodes/down/snapshot"),
        (409, "GET", "/nodes/a/snapshot"),
        (400, "GET", "/nodes/a/snapshot?timeout=1"),
        (409, "POST", "/nodes/down/crash"),
        (400, "GET", "/nodes/%ff/state"),
        (400, "GET", "/nodes?x=1"),
        (400, "GET", "/nodes?x"),
        (400, "POST", "/nodes/a/crash?timeout=1"),
        (400, "POST", "/nodes/a/call/put?timeout=0"),
        (400, "POST", "/nodes/a/call/put?timeout=61"),
        (400, "POST", "/nodes/a/call/put?timeout=nan"),
        (400, "POST", "/nodes/a/call/put?timeout=x"),
        (400, "POST", "/nodes/a/call/put?timeout=1&timeout=2"),
    ],
)
def test_what_is_not_there_or_not_so_is_refused(status: int, method: str, path: str):
    host = FakeHost()
    got, said = ask(path, method=method, host=host)
    assert (got, host.calls) == (status, [])
    assert said["error"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"x", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[NaN]", "no array of plain data"),
        (b"{}", "no JSON array"),
        (b"[1", "not JSON"),
        (b'[{"a": 1, "a": 2}]', "comes twice"),
        (b'[{"$unknown": 1}]', "a known tag"),
        (b'[{"$node": "nobody"}]', "the body names the node 'nobody'"),
        (b'[{"$is": "os.system", "command": "x"}]', "names os.system"),
        (b'[{"$is": "Entry", "key": "k"}]', "Entry with the fields key"),
        (b'[{"$enum": "Entry.mro"}]', "names Entry.mro"),
        (b'[{"$set": [[]]}]', "cannot be a value"),
        (b"[" * 150 + b"]" * 150, "nested"),
        (b"[" * 300 + b"]" * 300, "nested"),
        (b"[" * 100_000, "nested"),
        (b"[" + b"9" * 5_000 + b"]", "not JSON"),
    ],
)
def test_a_body_that_spells_no_arguments_is_refused(body: bytes, said: str):
    host = FakeHost()
    status, answer = ask("/nodes/a/call/put", body, host=host)
    assert (status, host.calls) == (400, [])
    assert said in answer["error"]
    assert "trace" not in answer["error"]


def test_a_body_of_another_type_is_refused():
    headers = ("content-type: text/plain",)
    assert ask("/nodes/a/call/put", b"[]", headers=headers)[0] == 415


def test_a_body_where_none_is_wanted_is_refused():
    host = FakeHost()
    assert ask("/nodes/a/crash", [1], host=host)[0] == 400
    assert host.calls == []


def test_the_largest_body_is_read_and_a_larger_one_is_not():
    host = FakeHost()
    text = b'["' + b"x" * (LARGEST - 4) + b'"]'
    assert ask("/nodes/a/call/put", text, host=host)[0] == 200
    assert ask("/nodes/a/call/put", text + b" ", host=host)[0] == 413
    assert len(host.calls) == 1


def test_what_the_host_refuses_is_said():
    host = FakeHost(answer=refused("put takes a key"))
    said = {"error": "put takes a key", "remedy": "do otherwise"}
    assert ask("/nodes/a/call/put", [], host=host) == (400, said)


def test_a_call_that_waits_too_long_is_said_to():
    status, said = ask(
        "/nodes/a/call/put?timeout=0.01", [], host=FakeHost(answer=asyncio.Event)
    )
    assert (status, said["error"]) == (504, "a has not answered within 0.01 s")


def test_an_answer_that_is_no_plain_data_is_said_to_be_none():
    status, said = ask("/nodes/a/call/put", [], host=FakeHost(answer=object()))
    assert status == 500
    assert "the call was made, but its answer" in said["error"]


def test_a_fault_of_ours_is_one_line_for_both_and_no_traceback():
    async def main() -> tuple[Client, tuple[int, Any]]:
        async with serving(FakeHost(answer=KeyError("a\nb"))) as client:
            return client, await client.ask("/nodes/a/call/put", [])

    client, answer = asyncio.run(main())
    assert answer == (500, {"error": "KeyError: 'a\\nb'"})
    assert client.said == [
        "a request to control could not be answered: KeyError: 'a\\nb'"
    ]


def test_a_head_is_asked_for_like_what_it_belongs_to():
    async def main() -> bytes:
        async with serving() as client:
            lines = (
                f"HEAD /{client.token}/nodes HTTP/1.1\r\nhost: localhost:{client.port}"
            )
            return await client.send(lines.encode() + b"\r\n\r\n")

    head, _, body = asyncio.run(main()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert body == b""


def test_names_of_nodes_are_those_of_the_path_and_nothing_is_looked_up_in_them():
    host = FakeHost()
    assert ask(f"{ODD_PATH}/call/put", ["k"], host=host)[0] == 200
    assert host.calls == [(ODD, "put", "k")]
    assert DOWN in host.down
