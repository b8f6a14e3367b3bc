"""The tasks of a job, and which of them suits a host best: Spark's ``TaskSetManager``.

Values that never change.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

import worldline as wl


class Locality(enum.IntEnum):
    """How near a task is to its data, the best first."""

    PROCESS_LOCAL = 0
    NODE_LOCAL = 1
    NO_PREF = 2
    ANY = 3
    SPECULATIVE = 4


@wl.message
class Task:
    """A part of a job.

    Attributes
    ----------
    near
        The host that has its data; empty if that does not matter.
    """

    app: str
    job: int
    part: int
    near: str

    def locality(self, host: str) -> Locality:
        """Return how near the task would be on a host."""
        if not self.near:
            return Locality.NO_PREF
        return Locality.NODE_LOCAL if self.near == host else Locality.ANY


@wl.message
class TaskSet:
    """The tasks of a job that are not finished.

    Attributes
    ----------
    size
        How many tasks the job has in all.
    pending
        Those that nobody runs.
    running
        Those that somebody runs.
    slow
        Those of `running` of which another, speculative copy may be run.
    """

    size: int
    pending: tuple[Task, ...]
    running: tuple[Task, ...] = ()
    slow: tuple[Task, ...] = ()

    def offers(self, host: str) -> Iterator[tuple[Locality, Task]]:
        """Yield what could run on a host, with the locality that it would have."""
        for task in self.pending:
            yield task.locality(host), task
        for task in self.slow:
            yield Locality.SPECULATIVE, task

    def find(
        self, host: str, most: Locality, *, inverts: bool = False
    ) -> tuple[Locality, Task] | None:
        """Return what suits a host best, of what is not worse than `most`.

        Parameters
        ----------
        inverts
            Whether that bound is not for tasks without a preference, and for copies.
        """
        allowed = [
            (locality, task)
            for locality, task in self.offers(host)
            if locality <= most or (inverts and locality in _ANYWHERE)
        ]
        return min(allowed, key=lambda offer: offer[0], default=None)

    def launched(self, task: Task) -> TaskSet:
        """Return what it is once somebody has been given a task, or a copy of it."""
        running = self.running if task in self.running else (*self.running, task)
        return TaskSet(
            self.size, _without(self.pending, task), running, _without(self.slow, task)
        )

    def finished(self, task: Task) -> TaskSet:
        """Return what is left."""
        running, slow = _without(self.running, task), _without(self.slow, task)
        return TaskSet(self.size, self.pending, running, slow)

    def speculated(self) -> TaskSet:
        """Return it with what still runs as slow, if half of the job is finished."""
        left = len(self.pending) + len(self.running)
        slow = self.running if left * 2 <= self.size else ()
        return TaskSet(self.size, self.pending, self.running, slow)

    def is_finished(self) -> bool:
        """Say whether nothing is left."""
        return not self.pending and not self.running


def job_of(app: str, job: int, parts: int, near: str) -> TaskSet:
    """Return a job of some tasks; the first half of them are near a host."""
    hosts = [near if part * 2 < parts else "" for part in range(parts)]
    tasks = [Task(app, job, part, host) for part, host in enumerate(hosts)]
    return TaskSet(parts, tuple(tasks))


_ANYWHERE = (Locality.NO_PREF, Locality.SPECULATIVE)


def _without(tasks: tuple[Task, ...], task: Task) -> tuple[Task, ...]:
    return tuple(one for one in tasks if one != task)
