"""Entering a step: what pdb is given, what comes back, and what stays as it was."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.debug.opened import granted, held, opened
from tests.trace.runs import random_trace

import worldline as wl
from worldline.debug.commands import answer
from worldline.debug.session import Session
from worldline.model.errors import UsageError


@wl.message
class Ask:
    amount: int


@wl.node
class Inner:
    begun: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.begun += 1

    @wl.on(Ask)
    def ask(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        doubled = 2 * msg.amount
        self.begun += doubled


@wl.node
class Outer:
    inner: Inner = wl.part()
    asked: int = 0

    @wl.call
    def go(self, ctx: wl.Context, amount: int) -> None:
        ctx.up  # noqa: B018 - a line to stop at
        self.asked += self.size(amount)
        ctx.set_timer(Outer.late, after=1.0)

    def size(self, amount: int) -> int:
        return amount + 1

    @wl.timer
    def late(self, ctx: wl.Context) -> None:
        self.asked = 0


def layered() -> wl.System:
    a, b = wl.ids("a", "b")
    return wl.System(
        {a: Outer(Inner()), b: Outer(Inner())},
        workload=[wl.whenever(Outer.go, amount=3)],
        faults=wl.Faults(crashes=1, restarts=1),
    )


def typed(session: Session, command: str, *lines: str) -> tuple[list[str], str]:
    """Answer `enter` while somebody types lines; return the answer and what was shown."""
    shown = io.StringIO()
    session.console = io.StringIO("".join(f"{line}\n" for line in lines)), shown
    return list(answer(session, command).lines), shown.getvalue()


def step_of(session: Session, kind: str) -> int:
    return next(s.step for s in session.trace.steps if s.kind == kind)


@pytest.fixture
def session() -> Session:
    return opened(random_trace(layered(), 3, 30), layered())


@pytest.mark.parametrize("kind", ["start", "call", "timer", "restart"])
def test_what_is_not_changed_happens_as_recorded(session: Session, kind: str):
    lines, shown = typed(session, f"enter {step_of(session, kind)}", "c")
    assert lines == ["as recorded"]
    assert "test_entering.py" in shown


def test_each_line_of_the_handler_and_what_it_calls_is_stepped_through(
    session: Session,
):
    call = step_of(session, "call")
    _, shown = typed(session, f"enter {call}", "n", "s", "s", "p amount", "c")
    assert "-> ctx.up" in shown
    assert "-> self.asked += self.size(amount)" in shown
    assert "-> return amount + 1" in shown
    assert "worldline/model" not in shown.replace("\\", "/")
    assert "(pdb) 3\n" in shown


def test_what_is_changed_there_is_told_and_gone(session: Session):
    call = step_of(session, "call")
    before = session.state(call)
    lines, _ = typed(session, f"enter {call}", "self.asked = 40", "c")
    assert lines[0] == "otherwise than recorded, on the copy:"
    assert any("asked: " in line and "→ 44" in line for line in lines)
    assert session.state(call) == before
    assert typed(session, f"enter {call}", "c")[0] == ["as recorded"]


def test_it_can_be_given_up(session: Session):
    call = step_of(session, "call")
    for last in ("q", ""):
        lines, _ = typed(session, f"enter {call}", *([last] if last else []))
        assert lines == ["given up"]
    assert typed(session, f"enter {call}", "c")[0] == ["as recorded"]


def test_the_step_where_a_handler_fails_is_entered():
    session = granted()
    lines, shown = typed(session, "enter", "c")
    assert lines == ["as recorded"]
    assert "scenes.py" in shown


def test_a_position_is_the_default_and_time_does_not_count():
    session = held()
    session.jump(step_of(session, "deliver"))
    lines, _ = typed(session, "enter", "import time; time.sleep(0.6)", "c")
    assert lines == ["as recorded"]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("enter 99", "there is no step 99"),
        ("enter first", "no step that is known led to"),
        ("enter 1 2", "one step is enough"),
        ("enter 1 --debugpy x", "'x' is not a whole number"),
        ("enter 1 --debugpy 70000", "'70000' is no port"),
    ],
)
def test_what_cannot_be_entered_is_refused(line: str, error: str):
    session = held()
    session.console = io.StringIO(), io.StringIO()
    with pytest.raises(UsageError, match=error):
        answer(session, line)


def test_what_runs_no_handler_is_refused(session: Session):
    with pytest.raises(UsageError, match="runs no handler"):
        typed(session, f"enter {step_of(session, 'crash')}", "c")


def test_nobody_to_ask_is_refused(session: Session):
    with pytest.raises(UsageError, match="needs a conversation"):
        answer(session, f"enter {step_of(session, 'call')}")


def test_debugpy_is_asked_for_where_it_is_missing(
    session: Session, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "debugpy", None)
    with pytest.raises(UsageError, match="takes debugpy; install it: pip install"):
        answer(session, f"enter {step_of(session, 'call')} --debugpy")


# ------------------------------------------------------------------------- an editor


class Editor:
    """A client of the Debug Adapter Protocol: as much of one as a test needs."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._file = self._socket.makefile("rb")
        self._number = 0

    def ask(self, command: str, **arguments: Any) -> None:
        self._number += 1
        body = json.dumps(
            {
                "seq": self._number,
                "type": "request",
                "command": command,
                "arguments": arguments,
            }
        ).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def until(self, name: str) -> dict[str, Any]:
        """Return the first event or response of a name that comes."""
        for message in self._messages():
            if name in (message.get("event"), message.get("command")):
                return message
        raise AssertionError(name)

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def _messages(self) -> Iterator[dict[str, Any]]:
        while header := self._file.readline():
            self._file.readline()
            yield json.loads(self._file.read(int(header.split()[1])))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.mark.slow
def test_an_editor_stops_in_the_handler(tmp_path: Path):
    pytest.importorskip("debugpy")
    run, port = tmp_path / "run.wl", free_port()
    command = [sys.executable, "-m", "worldline"]
    found = [*command, "check", "zoo:paxos", "-p", "bugs=wids2", "--out", str(run)]
    subprocess.run(found, stdout=subprocess.DEVNULL, check=False)
    debugger = subprocess.Popen(
        [*command, "debug", str(run), "-c", f"enter 2 --debugpy {port}", "--json"],
        stdout=subprocess.PIPE,
    )
    try:
        editor = _connected(port)
        editor.ask("initialize", adapterID="test", pathFormat="path")
        editor.until("initialize")
        editor.ask("attach", justMyCode=False)
        editor.until("initialized")
        editor.ask("configurationDone")
        thread = editor.until("stopped")["body"]["threadId"]
        editor.ask("stackTrace", threadId=thread)
        frame = editor.until("stackTrace")["body"]["stackFrames"][0]
        editor.ask("continue", threadId=thread)
        editor.until("continue")
        assert debugger.wait(timeout=20) == 0
        editor.close()
        output, _ = debugger.communicate(timeout=20)
    finally:
        debugger.kill()
        debugger.wait()
    assert frame["source"]["path"].endswith("zoo/paxos.py")
    record = json.loads(output)["results"][0]["result"]["record"]
    assert record["step"] == 2


@pytest.mark.slow
def test_a_port_that_is_in_use_is_refused(session: Session):
    pytest.importorskip("debugpy")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = f"enter {step_of(session, 'call')} --debugpy {port}"
        with pytest.raises(UsageError, match=f"port {port} cannot be used"):
            answer(session, words)


def _connected(port: int) -> Editor:
    import time

    until = time.monotonic() + 20
    while True:
        try:
            return Editor(port)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
