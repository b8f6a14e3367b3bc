"""The clock of a host: begins with the time of the wall, and goes forward only.

Setting the wall clock meanwhile changes nothing: neither timers, nor times, nor the
order of events.
"""

from __future__ import annotations

import time
from collections.abc import Callable

HostClock = Callable[[], float]
"""Returns the present time, in seconds; never less than before."""


def anchored(
    wall: HostClock = time.time,  # noqa: TID251 -- looked at once, for people
    monotonic: HostClock = time.monotonic,
) -> HostClock:
    """Return a clock that shows the time of the wall and goes as the other one goes."""
    anchor = wall() - monotonic()
    return lambda: monotonic() + anchor
