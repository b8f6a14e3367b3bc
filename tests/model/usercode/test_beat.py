"""What another process sees of the user code that runs."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

from worldline.model.usercode import beat, divergence


def test_what_python_needs_to_collect_garbage_is_no_time_of_user_code():
    seen = []

    def look(phase: str, about: dict[str, Any]) -> None:
        # Callbacks are called in order: this one after that of the beat.
        if phase == "start":
            seen.append(beat.seen()[0])

    before = [*gc.callbacks]
    beat.spare_collections()
    gc.callbacks.append(look)
    try:
        beat.begin(7, again=False)
        running = beat.seen()
        gc.collect()
        assert beat.seen() == running
        gc.collect(0)
    finally:
        beat.end()
        gc.collect()
        gc.callbacks[:] = before
    assert seen == [0, running[0], 0]
    assert beat.seen()[0] == 0


def test_who_imports_the_package_has_nothing_called_when_garbage_is_collected():
    # What a signal's handler raises there is lost.
    program = (
        "import gc, worldline as wl; from worldline.zoo import toy; "
        "wl.check(toy.system(), traces=False); print(gc.callbacks)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n", said.stderr


def test_the_clock_begins_to_look_anew_after_all_garbage_was_collected(monkeypatch):
    monkeypatch.setattr(divergence, "clock", divergence._Clock())
    divergence.clock.repeatable = True
    assert divergence._due() is None
    assert isinstance(divergence._due(), divergence.Suspected)
    gc.collect()
    assert divergence._due() is None
