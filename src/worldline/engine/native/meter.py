"""The kernel's meter: how long, and with how much memory, it goes on."""

from __future__ import annotations

import ctypes
from typing import final

from worldline.engine.bounds import BoundHit, Meter
from worldline.model.usercode import interrupts

_UNBOUND = -1
_OUT_OF_MEMORY = -1


@final
class KernelMeter:
    """The kernel's meter, set as far as that of a search allows."""

    def __init__(self, library: ctypes.CDLL, meter: Meter) -> None:
        self._library = library
        self._meter = meter

    def start(self, *, timed: bool = True) -> None:
        """Let the kernel go on until a bound is hit, or Ctrl-C is pressed.

        Parameters
        ----------
        timed
            Whether the bound on seconds counts.
        """
        left = self._meter.seconds_left if timed else None
        ceiling = self._meter.ceiling
        self._library.wl_meter(
            _UNBOUND if left is None else max(0.0, left),
            _UNBOUND if ceiling is None else ceiling,
            interrupts.announced(),
        )

    def stop(self) -> None:
        """Take the bounds away, for whoever uses the kernel next."""
        self._library.wl_meter(_UNBOUND, _UNBOUND, _UNBOUND)

    def checked(self, result: int) -> int:
        """Return what a function of the kernel returned.

        Raises
        ------
        BoundHit
            If it wanted more memory than there is.
        """
        if result == _OUT_OF_MEMORY or self._library.wl_is_starved():
            raise BoundHit("memory")
        return result
