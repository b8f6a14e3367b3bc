"""What the compiled kernel holds, in processes that are forked off one that searched."""

from __future__ import annotations

import gc
import os
import sys

import pytest

import worldline as wl
from worldline.engine.native.breadth_first import _Levels
from worldline.engine.native.kernel_search import WORTH_THREADS, KernelSearch
from worldline.loading.loader import load
from worldline.shrink.forking import CAN_FORK, fork


@pytest.mark.skipif(not CAN_FORK, reason="nothing is forked here")
def test_a_search_with_threads_is_no_more_in_a_process_that_has_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its threads are its parent's: who waits there for their end waits for ever, or aborts."""
    kept: list[KernelSearch] = []

    def close(self: _Levels) -> None:
        """Free nothing, as where walks go on from the last states of a search."""
        self.kernel.meter.stop()
        kept.append(self.kernel)

    monkeypatch.setattr(_Levels, "close", close)
    report = wl.check(load("zoo:twophase", {"n": "6"}), threads=2, engine="native")
    assert report.states > WORTH_THREADS
    sys.stderr.flush()
    child = fork()
    if not child:
        kept.clear()
        gc.collect()
        os._exit(7)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
