"""Entering a step: its handler once more, line by line, on a copy of the state.

What is changed there is gone afterwards: the states of the run are rebuilt from the
trace. The handler runs with no limit of time, since a person steps through it.
"""

from __future__ import annotations

import bdb
import contextlib
import inspect
import os
import pdb
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import CodeType, FrameType, ModuleType
from typing import Any, TypeAlias, final

from worldline.debug.answers import Answer
from worldline.debug.arguments import number_of, one_step, words_of
from worldline.debug.session import Console, Session
from worldline.model.errors import UsageError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.node import NodeType
from worldline.model.system import System
from worldline.model.usercode import beat
from worldline.model.usercode.places import is_users
from worldline.runs.recorder import Recorder
from worldline.show.steps import step_lines
from worldline.trace.records import StepRecord
from worldline.trace.schema import dump

_EDITOR = "--debugpy"

Codes: TypeAlias = frozenset[CodeType]
"""The code of handlers."""

RunIn: TypeAlias = Callable[[Callable[[], StepRecord], Codes], StepRecord | None]
"""Runs a step where somebody looks at it line by line; None if that is given up."""

_PORT = 5678
"""Where editors look for debugpy by default."""


def enter(session: Session, rest: str) -> Answer:
    """Run the handler of this step again, line by line in pdb.

    Or that of STEP. It runs on a copy of the state before the step, so nothing that is changed there
    changes the run. pdb stops at the first line of the handler; its ``help`` lists its
    commands, ``c`` runs to the end, ``q`` gives up. ``enter 5 --debugpy [PORT]`` waits
    for an editor to attach instead, at that port of this machine (5678).
    """
    words, port = _editor_of(words_of(rest)[0])
    step = one_step(session, words)
    record, event = session.record(step), session.event(step)
    if record is None or event is None:
        raise UsageError(f"no step that is known led to the state of step {step}")
    system = session.timeline.system
    codes = frozenset(_codes(system, event))
    if event.node is None or not codes:
        raise UsageError(
            f"step {step} runs no handler",
            remedy="'list deliver', 'list timer' and 'list call' show steps that do",
        )
    run_in = _editor(port) if port else _in_pdb(session.console)
    # Whoever looks at it has Python tell of calls, too, and one alone can.
    recorder = Recorder(session.copy(step - 1), nested=False)
    happened = run_in(
        lambda: recorder.step(step, record.phase, event, record.choices), codes
    )
    if happened is None:
        return Answer({"step": step, "record": None}, ["given up"])
    happened = replace(
        happened,
        sent_in=record.sent_in,
        lamport=record.lamport,
        time=record.time,
        calls=record.calls,
        more_calls=record.more_calls,
    )
    lines = ["as recorded"] if happened == record else [*_otherwise(session, happened)]
    return Answer({"step": step, "record": dump(happened)}, lines)


def _otherwise(session: Session, happened: StepRecord) -> Iterator[str]:
    yield "otherwise than recorded, on the copy:"
    width = len(happened.node or "*")
    header = session.trace.header
    yield from step_lines(happened, header, len(str(happened.step)), width)


def _editor_of(words: list[str]) -> tuple[list[str], int | None]:
    """Return the words without ``--debugpy [PORT]``, and the port; None if not asked."""
    if _EDITOR not in words:
        return words, None
    at = words.index(_EDITOR)
    given = words[at + 1 :]
    port = number_of(given[0]) if given else _PORT
    if len(given) > 1 or not 0 < port < 65536:
        raise UsageError(f"{' '.join(given)!r} is no port", remedy="give 1 to 65535")
    return words[:at], port


def _codes(system: System, event: Event) -> Iterator[CodeType]:
    """Yield the code of the handlers that may take an event."""
    if event.node is None:
        return
    kind = system.types[system.index[event.node]]
    path = kind.error_part() if event.kind is Kind.TRANSPORT_ERROR else event.part
    for name in path.split(".") if path else ():
        kind = kind.parts[name]
    for function in _functions(kind, event):
        yield inspect.unwrap(function).__code__


def _functions(kind: NodeType, event: Event) -> Iterator[Callable[..., Any]]:
    if event.kind in (Kind.START, Kind.RESET, Kind.RESTART):
        for inner in kind.parts.values():
            yield from _functions(inner, event)
    handler = {
        Kind.DELIVER: kind.on.get(type(event.payload)),
        Kind.TIMER: kind.timers.get(event.name),
        Kind.CALL: kind.called.get(event.name),
        Kind.TRANSPORT_ERROR: kind.error,
        Kind.START: kind.start,
        Kind.RESET: kind.start,
        Kind.RESTART: kind.start,
    }.get(event.kind)
    if handler is not None:
        yield handler.function


# ------------------------------------------------------------------------------- in pdb


def _in_pdb(console: Console | None) -> RunIn:
    if console is None:
        raise UsageError(
            "enter needs a conversation", remedy="leave --json out, or add --debugpy"
        )

    def run(step: Callable[[], StepRecord], codes: Codes) -> StepRecord | None:
        debugger = _HandlerPdb(codes, console)
        happened: StepRecord | None = None
        with contextlib.suppress(bdb.BdbQuit):
            happened = debugger.runcall(step)
        return None if debugger.given_up else happened

    return run


@final
class _HandlerPdb(pdb.Pdb):
    """A pdb that stops in the handler, and steps through code of the user's only.

    Attributes
    ----------
    given_up
        Whether somebody left it before the handler ended.
    """

    def __init__(self, codes: Codes, console: Console) -> None:
        super().__init__(stdin=console[0], stdout=console[1], nosigint=True)
        self.prompt = "(pdb) "
        self._codes = codes
        self._is_in = False
        self.given_up = False

    def set_quit(self) -> None:
        self.given_up = True
        super().set_quit()

    def user_call(self, frame: FrameType, argument_list: None) -> None:
        if self._is_in:
            super().user_call(frame, argument_list)

    def user_line(self, frame: FrameType) -> None:
        self._is_in = True
        super().user_line(frame)

    def stop_here(self, frame: FrameType) -> bool:
        if not self._is_in:
            return frame.f_code in self._codes
        return is_users(frame.f_code.co_filename) and bool(super().stop_here(frame))

    def interaction(self, *arguments: Any) -> None:
        beat.end()  # somebody looks: from here on nobody counts the time
        super().interaction(*arguments)


# ------------------------------------------------------------------------- in an editor


def _editor(port: int) -> RunIn:
    # It warns of Python's own modules, in which nobody wants to stop.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        import debugpy
    except ImportError:
        raise UsageError(
            "to enter a step in an editor takes debugpy",
            remedy="install it: pip install 'worldline[debugpy]'",
        ) from None

    def run(step: Callable[[], StepRecord], codes: Codes) -> StepRecord | None:
        _listen(debugpy, port)
        debugpy.wait_for_client()
        import pydevd  # type: ignore[import-not-found] # debugpy brings it along

        def stop_in(frame: FrameType, event: str, argument: Any) -> None:
            if event == "call" and frame.f_code in codes:
                sys.setprofile(None)
                pydevd.settrace(
                    suspend=True, stop_at_frame=frame, patch_multiprocessing=False
                )

        beat.end()
        sys.setprofile(stop_in)
        try:
            return step()
        finally:
            sys.setprofile(None)

    return run


def _listen(debugpy: ModuleType, port: int) -> None:
    """Wait for editors at a port of this machine alone; once in a process."""
    try:
        debugpy.listen(("127.0.0.1", port))
    except RuntimeError as error:
        # Not what the system says of a port: "address already in use".
        if "already been called" not in str(error):
            raise UsageError(
                f"port {port} cannot be used: {error}", remedy="give another port"
            ) from None
