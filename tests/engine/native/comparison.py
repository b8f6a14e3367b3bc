"""What the tests of the kernel share: two reports, compared in everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import worldline as wl
from worldline.trace.format import read


def facts(report: wl.Report) -> dict[str, Any]:
    """All that a report says, but for what depends on machine and engine."""
    found = report.to_json()
    for key in ("seconds", "peak_mb", "engine"):
        del found[key]
    found["notes"] = [n for n in found["notes"] if not n.startswith("engine")]
    return found


def runs(report: wl.Report) -> list[Any]:
    """The steps of every trace written."""
    return [
        (trace.steps, trace.end)
        for known in report.properties
        if known.trace is not None
        for trace in (read(known.trace),)
    ]


def compare(
    build: Callable[[], wl.System], threads: tuple[int, ...] = (1, 3), **options: Any
) -> None:
    """Check a system with both engines, and the kernel on several threads."""
    python = wl.check(build(), engine="python", **options)
    expected = (facts(python), runs(python))
    for count in threads:
        native = wl.check(build(), engine="native", threads=count, **options)
        assert native.engine == "native"
        assert (facts(native), runs(native)) == expected
