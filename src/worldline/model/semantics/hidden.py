"""The hidden state of a node: whether it is up, timers, script positions.

`Hidden` is a cell: a small mutable piece of the global state with named operations,
which can be frozen and restored. The direct world keeps cells; the tabulated world
memoises what an operation does to a frozen one.
"""

from __future__ import annotations

import enum
import itertools
from typing import Any, final

from worldline.model.data.content import FLOAT, TUPLE, Frozen, Sealed, order_key
from worldline.model.data.identity import NodeId
from worldline.model.data.settling import settled
from worldline.model.data.values import freeze, register_sealed
from worldline.model.usercode.user_errors import spelt
from worldline.model.workload import Invocation, Script


class Status(enum.Enum):
    """The status of a node: whether it takes part.

    Of one that is absent nothing is known; no state of a `Hidden` says so.
    """

    NEW = "new"
    UP = "up"
    DOWN = "down"
    ABSENT = "absent"


@final
class PendingTimer(Sealed):
    """A pending timer: at most one of each part, name and payload."""

    __slots__ = ("name", "part", "payload")

    def __init__(self, part: str, name: str, payload: Any) -> None:
        self.part = part
        self.name = name
        self.payload = settled(payload)
        super().__init__((PendingTimer, part, name, freeze(payload)))

    def __repr__(self) -> str:
        payload = "" if self.payload is None else f"({spelt(self.payload)})"
        return f"{self.part}.{self.name}{payload}".lstrip(".")


register_sealed(PendingTimer)


_NO_POSITIONS: list[int] = []
"""Those of every node without scripts, of which there may be a million."""


@final
class Hidden:
    """The cell of one node's hidden state.

    Parameters
    ----------
    node
        Whose it is.
    scripts
        The scripts that drive this node.
    timed
        Whether a timer waits for those set earlier with a delay not longer (the
        rule of dslabs); otherwise any pending timer may fire.
    """

    __slots__ = ("counter", "node", "positions", "scripts", "status", "timed", "timers")

    def __init__(
        self, node: NodeId, scripts: tuple[Script, ...], *, timed: bool = False
    ) -> None:
        self.node = node
        self.scripts = scripts
        self.timed = timed
        self.status = Status.NEW
        self.timers: dict[PendingTimer, float] = {}
        self.positions = [0] * len(scripts) if scripts else _NO_POSITIONS
        self.counter = 0

    def boot(self) -> None:
        self.status = Status.UP

    def reset(self) -> None:
        """Forget timers, and the positions of scripts that begin again."""
        self.stop()
        self.status = Status.UP

    def stop(self) -> None:
        self.status = Status.DOWN
        self.timers.clear()
        for index, script in enumerate(self.scripts):
            if script.on_reset == "restart":
                self.positions[index] = 0

    def set_timer(self, timer: PendingTimer, after: float) -> None:
        self.timers.pop(timer, None)
        self.timers[timer] = after

    def cancel_timer(self, timer: PendingTimer) -> None:
        self.timers.pop(timer, None)

    def stands_at(self, key: tuple[str, Frozen]) -> bool:
        """Say whether the next call of a script has this key."""
        heads = map(self.next_call, range(len(self.scripts)))
        return any(head is not None and head.key == key for head in heads)

    def called(self, key: tuple[str, Frozen]) -> None:
        """Advance the first script whose next call has this key."""
        for index in range(len(self.scripts)):
            head = self.next_call(index)
            if head is not None and head.key == key:
                self.positions[index] += 1
                return

    def called_from_outside(self, key: tuple[str, Frozen]) -> None:
        """Do the same, or advance the first one that only waits before such a call.

        Who calls from outside has waited as long as is right: no wait is an event there.
        """
        if self.stands_at(key):
            self.called(key)
            return
        for index, script in enumerate(self.scripts):
            position = self.positions[index]
            ahead = script.calls[position:]
            waits = list(
                itertools.takewhile(lambda call: call.until is not None, ahead)
            )
            if len(waits) < len(ahead) and ahead[len(waits)].key == key:
                self.positions[index] = position + len(waits) + 1
                return

    def count(self) -> None:
        """Use up one number of the sequence."""
        self.counter += 1

    def next_call(self, index: int) -> Invocation | None:
        """Return the call at which script `index` stands; None at its end."""
        calls = self.scripts[index].calls
        position = self.positions[index]
        return calls[position] if position < len(calls) else None

    def finished(self) -> bool:
        """Say whether every script of this node has come to its end."""
        return all(self.next_call(i) is None for i in range(len(self.scripts)))

    def due(self) -> list[PendingTimer]:
        """Return the timers that may fire now, in canonical order."""
        if not self.timed:
            return self.pending()
        delays = list(self.timers.values())
        blocked = {
            timer
            for index, timer in enumerate(self.timers)
            if any(earlier <= delays[index] for earlier in delays[:index])
        }
        return [timer for timer in self.pending() if timer not in blocked]

    def pending(self) -> list[PendingTimer]:
        """Return the timers that are set, in canonical order."""
        if len(self.timers) < 2:
            return list(self.timers)
        return sorted(self.timers, key=order_key)

    def freeze(self) -> Frozen:
        timers: list[Frozen]
        if self.timed:
            timers = [(TUPLE, a, (FLOAT, after)) for a, after in self.timers.items()]
        else:
            timers = self.pending()
        return (
            Hidden,
            self.status.value,
            (TUPLE, *timers),
            (TUPLE, *self.positions),
            self.counter,
        )

    def restore(self, frozen: Frozen) -> None:
        _, status, timers, positions, self.counter = frozen
        self.status = Status(status)
        self.positions = list(positions[1:])
        if self.timed:
            self.timers = {item[1]: item[2][1] for item in timers[1:]}
        else:
            self.timers = dict.fromkeys(timers[1:], 0.0)
