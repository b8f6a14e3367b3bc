"""What another process sees of the user code that runs."""

from __future__ import annotations

import gc
from typing import Any

from worldline.model.usercode import beat


def test_what_python_needs_to_collect_garbage_is_no_time_of_user_code():
    seen = []

    def look(phase: str, about: dict[str, Any]) -> None:
        # Callbacks are called in order: this one after that of the beat.
        if phase == "start":
            seen.append(beat.seen()[0])

    gc.callbacks.append(look)
    try:
        beat.begin(7, again=False)
        running = beat.seen()
        gc.collect()
        assert beat.seen() == running
        gc.collect(0)
    finally:
        gc.callbacks.remove(look)
        beat.end()
    assert seen == [0, running[0]]
    gc.collect()
    assert beat.seen()[0] == 0
