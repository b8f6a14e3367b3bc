"""Ctrl-C in the command ``worldline``, from its first moment to its last.

This is imported before all else of the package, and imports next to nothing itself:
the rest takes a while to load, and Ctrl-C may come meanwhile.
"""

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 3
"""The exit code of a command that was interrupted."""

IS_COMMAND = False
"""Whether this process is the command, not a program that imports the package, and Ctrl-C
is not ignored, as it is with ``&`` in a script."""

IS_PROCESS = False
"""Whether this process is the command, whatever becomes of Ctrl-C."""


def _is_command() -> bool:
    if sys.argv[:1] == ["-m"]:
        # While a package is looked for, this is all that Python has put there.
        words = sys.orig_argv
        module = words[words.index("-m") + 1 :][:1] if "-m" in words else words[:0]
        return module == ["worldline"] or "-mworldline" in words
    name = os.path.basename(sys.argv[0]) if sys.argv else ""  # noqa: PTH119  pathlib is slow
    return name in ("worldline", "worldline.exe", "worldline-script.pyw")


def quit_at_once(signum: int = 0, frame: FrameType | None = None) -> None:
    """End the process with a word, whatever it is doing."""
    try:
        os.write(2, b"worldline: interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def begin() -> None:
    """Let Ctrl-C be raised from now on: there is somebody who catches it.

    Not before all is imported: Python drops some of what is raised meanwhile.
    """
    if IS_COMMAND:
        from worldline.model.usercode.interrupts import press

        signal.signal(signal.SIGINT, press)


def interrupted() -> None:
    """Let one more Ctrl-C end the process at once."""
    if IS_COMMAND:
        signal.signal(signal.SIGINT, quit_at_once)


def end(status: int) -> None:
    """End the process if it is the command: all was said.

    Python itself would take apart what a search has left, which may be gigabytes; and
    it ends by a signal if Ctrl-C was ever raised in code made from text, as parts of
    the standard library are, even if that was caught and answered.
    """
    if not IS_COMMAND:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - `contextlib` takes too long to load
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(status)


IS_PROCESS = _is_command()
if IS_PROCESS and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    IS_COMMAND = True
    signal.signal(signal.SIGINT, quit_at_once)
