"""A predictor's process that thinks of what tests need: it echoes, sleeps, dies, raves.

Run with ``python -m`` and the number of a socket, as the real one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

from worldline.model.errors import ModelError
from worldline.model.system import System
from worldline.steer.process.child import serve
from worldline.steer.process.works import AnswersQuestions

MODULE = "tests.steer.process.thinker"


def echo(system: System, options: bytes) -> AnswersQuestions:
    def answers(question: bytes) -> Iterator[bytes]:
        yield question
        yield b"%s has %d nodes" % (system.name.encode(), len(system.ids))
        yield options

    return answers


def sleep(system: System, options: bytes) -> AnswersQuestions:
    def answers(question: bytes) -> Iterator[bytes]:
        time.sleep(float(question))
        yield question

    return answers


def die(system: System, options: bytes) -> AnswersQuestions:
    def answers(question: bytes) -> Iterator[bytes]:
        yield question
        os._exit(int(question))

    return answers


def rave(system: System, options: bytes) -> AnswersQuestions:
    def answers(question: bytes) -> Iterator[bytes]:
        os.write(int(sys.argv[1]), question)
        yield b""

    return answers


def fail(system: System, options: bytes) -> AnswersQuestions:
    def answers(question: bytes) -> Iterator[bytes]:
        yield b"something"
        if question == b"bad":
            raise ModelError("a handler is not deterministic", remedy="mend it")

    return answers


def spin(system: System, options: bytes) -> AnswersQuestions:
    def answers(question: bytes) -> Iterator[bytes]:
        while True:
            sum(range(10_000))

    return answers


WORKS = {work.__name__: work for work in (echo, sleep, die, rave, fail, spin)}

if __name__ == "__main__":
    serve(int(sys.argv[1]), WORKS)
