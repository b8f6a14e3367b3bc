"""What stands beside the nodes of a run: made by who knows what it does, used by hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, final

from worldline.deploy.running.options import RunOptions
from worldline.model.errors import UsageError
from worldline.model.system import System
from worldline.worlds.access_links import capacity_of
from worldline.worlds.companions import Companion


@final
@dataclass(frozen=True, slots=True)
class BesideOptions:
    """What is to stand beside the nodes of a run.

    Attributes
    ----------
    mode
        What is done about failures that are to come; see ``worldline run --help``.
    every
        Seconds from one snapshot to the next.
    bandwidth
        Bits a second that a node may spend on them.
    who
        Names the nodes, where they are not all there are.
    """

    mode: str
    every: float
    bandwidth: float
    who: str = ""

    @classmethod
    def of(cls, options: RunOptions, who: str = "") -> BesideOptions:
        """Return what the options of a run say of it.

        Raises
        ------
        UsageError
            If one of them says nothing.
        """
        bandwidth = bits_of(options.gather_bandwidth)
        return cls(options.mode, options.gather_every, bandwidth, who)


class StandsBeside(Protocol):
    """What makes the companions of a host, which last as long as a block runs."""

    def __call__(
        self, system: System, options: BesideOptions, say: Callable[[str], None], /
    ) -> AbstractAsyncContextManager[Sequence[Companion]]: ...


def bits_of(text: str) -> float:
    """Return the bits a second that a text says; without a unit, it counts bits.

    Raises
    ------
    UsageError
        If it says nothing.

    Examples
    --------
    >>> bits_of("10k"), bits_of("10kbit"), bits_of("1kB")
    (10000.0, 10000.0, 8000.0)
    """
    try:
        return 8 * capacity_of(text if text[-1:] in ("t", "B") else f"{text}bit")
    except UsageError:
        raise UsageError(
            f"{text!r} is no bandwidth",
            remedy="write bits a second, as in 10k or 1Mbit",
        ) from None
