"""A handler that was changed after the recording is told at the first event that differs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import worldline as wl

(A,) = wl.ids("a")


@wl.node
class Store:
    pairs: dict[str, int] = wl.durable(default_factory=dict)
    words: list[str] = wl.durable(default_factory=list)
    names: set[str] = wl.durable(default_factory=set)
    term: int = wl.durable(default=0)
    seen: int = wl.ghost(default=0)
    plain: int = 0

    @wl.call
    def fill(self, ctx: wl.Context) -> None:
        self.pairs = {f"k{number}": number for number in range(20)}
        self.words = [f"w{number}" for number in range(20)]
        self.names = {f"n{number}" for number in range(20)}

    @wl.call
    def put(self, ctx: wl.Context, number: int) -> None:
        self.pairs[f"k{number}"] = -number
        self.words.append(f"w{number}")
        self.names.add(f"m{number}")

    @wl.call
    def look(self, ctx: wl.Context) -> None:
        self.plain += 1


def system() -> wl.System:
    return wl.System({A: Store()}, name="store")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recording")

    async def main() -> None:
        async with wl.Host(system(), record=folder, sync="never") as host:
            await host.call(A, Store.fill)
            await host.call(A, Store.put, 3)
            await host.call(A, Store.look)
            await host.call(A, Store.put, 4)

    asyncio.run(main())
    return folder


def replayed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **handlers: Callable[..., Any]
) -> Any:
    """Return the divergence of a replay in which calls are handled otherwise."""
    made = system()
    for name, function in handlers.items():
        monkeypatch.setitem(made.types[0].calls[name].__dict__, "function", function)
    report = wl.replay(folder, made)
    assert isinstance(report, wl.ReplayedRecording)
    return report.divergence


def test_the_same_handlers_do_the_same(recording: Path, monkeypatch):
    assert replayed(recording, monkeypatch) is None


def also(change: Callable[[Any], None]) -> Callable[..., None]:
    """Return a handler of `put` that does something more."""

    def put(self: Any, ctx: wl.Context, number: int) -> None:
        self.pairs[f"k{number}"] = -number
        self.words.append(f"w{number}")
        self.names.add(f"m{number}")
        change(self)

    return put


MORE: list[tuple[Callable[[Any], Any], str]] = [
    (lambda node: node.pairs.__setitem__("k9", 0), "pairs"),
    (lambda node: node.pairs.pop("k9"), "pairs"),
    (lambda node: node.words.append("more"), "words"),
    (lambda node: node.words.__setitem__(0, "other"), "words"),
    (lambda node: node.names.add("more"), "names"),
    (lambda node: node.names.discard("n1"), "names"),
    (lambda node: setattr(node, "term", 5), "term"),
    (lambda node: setattr(node, "seen", 5), "seen"),
]


@pytest.mark.parametrize(("change", "field"), MORE, ids=range(len(MORE)))
def test_what_changes_more_is_told_at_once(change, field, recording, monkeypatch):
    found = replayed(recording, monkeypatch, put=also(change))
    assert found is not None
    assert field in found.what
    assert found.event == "call at a put"
    assert found.lamport == 3


def test_what_changes_where_nothing_did_is_told_at_once(recording, monkeypatch):
    def look(self: Any, ctx: wl.Context) -> None:
        self.pairs["k5"] = 7

    found = replayed(recording, monkeypatch, look=look)
    assert (found.what, found.recorded) == ("what changes of Store.pairs", "nothing")
    assert "('k5', 7)" in found.happened
    assert found.lamport == 4


def test_what_changes_less_is_told_at_once(recording, monkeypatch):
    def put(self: Any, ctx: wl.Context, number: int) -> None:
        self.pairs[f"k{number}"] = -number
        self.words.append(f"w{number}")

    found = replayed(recording, monkeypatch, put=put)
    assert found.what == "Store.names"
    assert "m3" in found.recorded


def test_what_is_put_in_again_as_it_was_is_no_change(recording, monkeypatch):
    def look(self: Any, ctx: wl.Context) -> None:
        self.plain += 1
        self.pairs["k6"] = int("6")
        self.words[1] = str(b"w1", "ascii")
        self.names.discard("n1")
        self.names.add(str(b"n1", "ascii"))
        self.term = int("0")

    assert replayed(recording, monkeypatch, look=look) is None
