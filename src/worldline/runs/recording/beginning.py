"""Beginnings of nodes in a recording: a start, or a checkpoint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, final

from worldline.runs.recording.journaled import Life
from worldline.trace.journal.checkpoints import NodeCheckpoint
from worldline.trace.journal.reading import Turn
from worldline.trace.journal.records import CheckpointRecord, StartedRecord

EventName: TypeAlias = tuple[int, int]
"""An event among those of its node: the incarnation, and the Lamport time."""

_NS = 1e-9
_BEGIN = frozenset({StartedRecord, CheckpointRecord})


@final
class NodeBeginning(NamedTuple):
    """A place in the journal of a node at which its whole state is known.

    Attributes
    ----------
    life, turn, record
        Which of its lives, which turn of that, which record of that.
    at
        When it was written, in nanoseconds.
    is_first
        Whether it is the first start of all.
    knows
        The last event of each other node of which it had heard by then, by index, as far
        as its journal says.
    """

    life: int
    turn: int
    record: int
    at: int
    is_first: bool
    knows: Mapping[int, EventName]


def behind(begin: NodeBeginning, lives: Iterable[Life]) -> Iterator[Sequence[Any]]:
    """Yield the records of a journal, turn by turn, from a beginning on."""
    for number, life in enumerate(lives):
        if number < begin.life:
            continue
        for place, turn in enumerate(life.turns()):
            if number > begin.life or place > begin.turn:
                yield turn.records
            elif place == begin.turn:
                yield turn.records[begin.record :]


def place_before(
    begin: NodeBeginning, lives: Iterable[Life], read: Callable[[bytes], NodeCheckpoint]
) -> tuple[int, int]:
    """Return the life and the Lamport time of a node where it begins; life 0 before a start."""
    what = next(behind(begin, lives))[0]
    if type(what) is StartedRecord:
        return 0, what.lamport
    saved = read(what.state)
    return saved.incarnation, saved.lamport


@final
class TurnClock:
    """The times of the turns of one node, in nanoseconds since the epoch.

    The wall clock is looked at once: it may be set meanwhile. The other goes on through
    all lives, as long as the machine does.
    """

    __slots__ = ("_anchor", "_last")

    def __init__(self) -> None:
        self._anchor, self._last = 0, -1

    def at(self, monotonic: int, wall: int) -> int:
        """Return the time of the next turn."""
        if self._last < 0 or monotonic < self._last:
            self._anchor = wall - monotonic
        self._last = monotonic
        return monotonic + self._anchor


@final
class Beginnings:
    """All places at which nodes can begin.

    Attributes
    ----------
    began
        Nanoseconds of the wall clock at the first turn of all; 0 if there is none.
    """

    def __init__(self) -> None:
        self._of: dict[int, list[NodeBeginning]] = defaultdict(list)
        self.began = 0

    @property
    def nodes(self) -> frozenset[int]:
        """The indices of the nodes that have any."""
        return frozenset(self._of)

    @property
    def are_whole(self) -> bool:
        """Whether each begins with its first start."""
        return all(places[0].is_first for places in self._of.values())

    def look(
        self, index: int, lives: Iterable[Life], heard: Mapping[int, EventName]
    ) -> Iterator[Turn]:
        """Look through the journal of a node, and yield its turns.

        Parameters
        ----------
        heard
            The last event of each other node of which it has heard in the turns so far;
            who takes a turn goes on with it.
        """
        clock = TurnClock()
        for life, one in enumerate(lives):
            for place, turn in enumerate(one.turns()):
                if not self.began or turn.wall_ns < self.began:
                    self.began = turn.wall_ns
                at = clock.at(turn.monotonic_ns, turn.wall_ns)
                yield turn
                for number, record in enumerate(turn.records):
                    if type(record) in _BEGIN:
                        first = getattr(record, "incarnation", 0) == 1
                        begin = NodeBeginning(
                            life, place, number, at, first, dict(heard)
                        )
                        self._of[index].append(begin)

    def last_before(
        self, since: float | None, count: int
    ) -> list[NodeBeginning | None]:
        """Return the last of each node that was before a time; if none was, the first.

        Parameters
        ----------
        since
            Seconds since the run began; None for the first of each.
        """
        until = self.began if since is None else self.began + int(since / _NS)
        found: list[NodeBeginning | None] = []
        for index in range(count):
            places = self._of.get(index)
            if not places:
                found.append(None)
                continue
            before = [one for one in places if since is not None and one.at <= until]
            found.append(before[-1] if before else places[0])
        return found
