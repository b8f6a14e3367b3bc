"""The child process of a predictor: loads the system, and answers questions.

It is as polite as a process can be (nice 19), and ends when its host does: then, the
connection does, too, which a thread sees whatever the other is doing.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from worldline.loading.loader import load
from worldline.model.errors import UsageError, WorldlineError, name_of, one_line
from worldline.model.system import SystemOrigin
from worldline.model.usercode.interrupts import elsewhere
from worldline.model.usercode.user_errors import escaped
from worldline.steer.process.frames import FrameReader, framed
from worldline.steer.process.works import AnswersQuestions, Work, work_of
from worldline.trace.journal.codec import Codec
from worldline.trace.json_checks import Malformed

_CHUNK = 1 << 18
_NICE = 19


def serve(descriptor: int, works: Mapping[str, Work]) -> None:
    """Answer what comes over a socket, until nobody is at its other end.

    Parameters
    ----------
    works
        What can be asked for, by name; see `works`.
    """
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with its host
    with elsewhere(), socket.socket(fileno=descriptor) as sock:
        sock.setblocking(True)
        inbox: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        reading = threading.Thread(target=_read, args=(sock, inbox), daemon=True)
        reading.start()
        _, target, parameters, same, work, options = inbox.get()
        try:
            answers = _prepared(target, parameters, same, work_of(work, works), options)
        except BaseException as error:
            sock.sendall(framed("refused", _said(error)))
            return
        sock.sendall(framed("ready"))
        while True:
            _, number, question = inbox.get()
            _answer(sock, answers, number, question)


def _read(sock: socket.socket, inbox: queue.SimpleQueue[list[Any]]) -> None:
    """Read frames; once there can be no more, end the process."""
    reader = FrameReader()
    with contextlib.suppress(OSError, Malformed):
        while data := sock.recv(_CHUNK):
            for frame in reader.feed(data):
                inbox.put(frame)
    os._exit(0)


def _prepared(
    target: str,
    parameters: Mapping[str, str],
    same: list[bytes],
    work: Work,
    options: bytes,
) -> AnswersQuestions:
    system = load(target, parameters)
    assert isinstance(system.origin, SystemOrigin)
    if [system.origin.source.encode(), Codec(system).digest.raw] != same:
        raise UsageError(
            f"{target} has changed since the host was started",
            remedy="start it anew",
        )
    return work(system, options)


def _answer(
    sock: socket.socket, answers: AnswersQuestions, number: int, question: bytes
) -> None:
    end = framed("done", number)
    parts = _parts(answers, question)
    while True:
        try:
            part = next(parts, None)
            if part is None:
                break
            frame = framed("answer", number, part)
        except Exception as error:
            end = framed("failed", number, _said(error))
            break
        sock.sendall(frame)
    sock.sendall(end)


def _parts(answers: AnswersQuestions, question: bytes) -> Iterator[bytes]:
    yield from answers(question)


def _said(error: BaseException) -> str:
    """Return what is wrong, in a line."""
    theirs = error if isinstance(error, WorldlineError) else escaped(error)
    return one_line(str(theirs or f"{name_of(error)}: {error}"))[:1_000]
