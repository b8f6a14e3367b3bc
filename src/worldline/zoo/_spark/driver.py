"""A driver: an application that runs jobs, and hands their tasks to its executors."""

from __future__ import annotations

from collections.abc import Iterable

import worldline as wl
from worldline.zoo._spark.messages import (
    ExecutorAdded,
    LaunchTask,
    MasterChangeAcknowledged,
    MasterChanged,
    RegisterApplication,
    RegisteredApplication,
    RegisteredExecutor,
    RegisterExecutor,
    ReviveOffers,
    StatusUpdate,
    UnregisterApplication,
)
from worldline.zoo._spark.tasks import Locality, Task, TaskSet, job_of

REGISTRATION_TIMEOUT, REVIVE_INTERVAL = 20.0, 1.0
"""Seconds; they count where time does."""


@wl.message
class Inversion:
    """A decision of the scheduler: what an executor was given, and what there was."""

    executor: wl.NodeId
    given: Locality
    better: Locality


@wl.ignores(ExecutorAdded)
@wl.node
class Driver:
    """A program whose jobs a cluster runs, each of them an approximation of pi.

    Attributes
    ----------
    threads, parts
        How many jobs run at once, and how many tasks each has.
    hosts
        Where a job's data may be.
    stays
        Whether it is one application from its start on, or one as long as it has jobs.
    app
        The application's name; empty if there is none.
    jobs
        By number, what is left of the jobs that run.
    executors
        The hosts of the executors, by worker.
    tasks
        The tasks that executors are busy with.
    asked, done
        How many jobs there were, and how many are finished.
    inverted
        The first decision that was not the best.
    """

    master: wl.NodeId
    bugs: frozenset[str] = frozenset()
    threads: int = 1
    parts: int = 4
    hosts: tuple[str, ...] = ("",)
    stays: bool = False

    app: str = ""
    is_registered: bool = False
    jobs: dict[int, TaskSet] = wl.field(default_factory=dict)
    executors: dict[wl.NodeId, str] = wl.field(default_factory=dict)
    tasks: dict[wl.NodeId, Task] = wl.field(default_factory=dict)
    asked: int = 0
    done: int = 0

    inverted: Inversion | None = wl.ghost(default=None)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if self.stays:
            self._apply(ctx, "pi")

    # ------------------------------------------------------------------------ master

    def _apply(self, ctx: wl.Context, app: str) -> None:
        self.app = app
        self._register(ctx)

    def _register(self, ctx: wl.Context) -> None:
        """Ask the master for executors, again and again until it has answered."""
        ctx.send(self.master, RegisterApplication(self.app))
        ctx.set_timer(Driver.retry, after=REGISTRATION_TIMEOUT)

    @wl.timer
    def retry(self, ctx: wl.Context) -> None:
        self._register(ctx)

    @wl.on(RegisteredApplication, when=lambda self, src, msg: msg.app == self.app)
    def registered(
        self, ctx: wl.Context, src: wl.NodeId, msg: RegisteredApplication
    ) -> None:
        self.is_registered = True
        ctx.cancel_timer(Driver.retry)

    @wl.on(MasterChanged)
    def follow(self, ctx: wl.Context, src: wl.NodeId, msg: MasterChanged) -> None:
        ctx.send(src, MasterChangeAcknowledged(self.app))

    def _stop(self, ctx: wl.Context) -> None:
        ctx.send(self.master, UnregisterApplication(self.app))
        ctx.cancel_timer(Driver.retry)
        ctx.cancel_timer(Driver.revive)
        self.app, self.is_registered = "", False
        self.executors = {}
        self.tasks = {}

    # -------------------------------------------------------------------------- jobs

    @wl.call(when=lambda self: len(self.jobs) < self.threads)
    def run(self, ctx: wl.Context) -> None:
        """Run a job: half of its tasks have their data on a host, the others nowhere."""
        near = ctx.choose(self.hosts)
        self.asked += 1
        if not self.app:
            self._apply(ctx, f"{ctx.me}-{self.asked}")
        self.jobs[self.asked] = job_of(self.app, self.asked, self.parts, near)
        ctx.send(ctx.me, ReviveOffers())
        ctx.set_timer(Driver.revive, after=REVIVE_INTERVAL)

    @wl.on(ReviveOffers)
    def look(self, ctx: wl.Context, src: wl.NodeId, msg: ReviveOffers) -> None:
        self._offer(ctx, self.executors, Locality.NO_PREF)

    @wl.timer
    def revive(self, ctx: wl.Context) -> None:
        """After a while a task may run anywhere, and a slow one twice."""
        for job, tasks in self.jobs.items():
            self.jobs[job] = tasks.speculated()
        self._offer(ctx, self.executors, Locality.SPECULATIVE)
        if self.jobs:
            ctx.set_timer(Driver.revive, after=REVIVE_INTERVAL)

    @wl.on(RegisterExecutor, when=lambda self, src, msg: msg.app == self.app)
    def add(self, ctx: wl.Context, src: wl.NodeId, msg: RegisterExecutor) -> None:
        # It may have begun anew, so it runs nothing.
        self.executors[src] = msg.host
        self.tasks.pop(src, None)
        ctx.send(src, RegisteredExecutor())
        self._offer(ctx, [src], Locality.NO_PREF)

    @wl.on(
        StatusUpdate,
        when=lambda self, src, msg: msg.is_finished and msg.task.app == self.app,
    )
    def finish(self, ctx: wl.Context, src: wl.NodeId, msg: StatusUpdate) -> None:
        self.tasks.pop(src, None)
        job = msg.task.job
        # Another copy may have ended the job before.
        if job in self.jobs:
            self.jobs[job] = self.jobs[job].finished(msg.task)
            if self.jobs[job].is_finished():
                del self.jobs[job]
                self.done += 1
        if self.jobs or self.stays:
            self._offer(ctx, [src], Locality.NO_PREF)
        else:
            self._stop(ctx)

    # --------------------------------------------------------------------- scheduling

    def _offer(
        self, ctx: wl.Context, executors: Iterable[wl.NodeId], most: Locality
    ) -> None:
        """Offer executors to the jobs, one by one, for the nearest tasks first."""
        free = [executor for executor in executors if executor not in self.tasks]
        for job in list(self.jobs):
            for locality in Locality:
                for executor in free:
                    if locality <= most and executor not in self.tasks:
                        self._choose(ctx, executor, job, locality)

    def _choose(
        self, ctx: wl.Context, executor: wl.NodeId, job: int, most: Locality
    ) -> None:
        """Give an executor the task of a job that suits it, if there is one."""
        tasks, host = self.jobs[job], self.executors[executor]
        offer = tasks.find(host, most, inverts="spark-2294" in self.bugs)
        if offer is not None:
            locality, task = offer
            best = min(nearness for nearness, _ in tasks.offers(host))
            if best < locality:
                wrong = Inversion(executor, locality, best)
                self.inverted = self.inverted or wrong
            self.tasks[executor] = task
            self.jobs[job] = tasks.launched(task)
            ctx.send(executor, LaunchTask(task))
