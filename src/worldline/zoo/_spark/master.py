"""The master: it knows workers, applications and drivers, and writes them to disk."""

from __future__ import annotations

import enum
from typing import TypeAlias

import worldline as wl
from worldline.zoo._spark.messages import (
    ElectedLeader,
    ExecutorAdded,
    Heartbeat,
    KillExecutor,
    LaunchDriver,
    LaunchExecutor,
    MasterChangeAcknowledged,
    MasterChanged,
    ReconnectWorker,
    RegisterApplication,
    RegisteredApplication,
    RegisteredWorker,
    RegisterWorker,
    UnregisterApplication,
    WorkerSchedulerStateResponse,
)

RECOVERY, SECOND = 60.0, 1.0
"""Seconds; they count where time does."""

PATIENCE = 60
"""Seconds after which a worker that is silent is lost."""


@wl.message
class WorkerInfo:
    """What is on the disk of a worker."""

    worker: wl.NodeId


@wl.message
class ApplicationInfo:
    """What is on the disk of an application."""

    app: str
    driver: wl.NodeId


@wl.message
class DriverInfo:
    """What is on the disk of a submitted driver: not the worker that runs it."""

    name: str


Info: TypeAlias = WorkerInfo | ApplicationInfo | DriverInfo


class Phase(enum.Enum):
    """What a master does: it waits for its election, recovers, then works."""

    STANDBY = "standby"
    RECOVERING = "recovering"
    ALIVE = "alive"


@wl.node
class Master:
    """The master of a cluster.

    Attributes
    ----------
    second
        The time of day.
    files
        What is on the disk, by the name of the file.
    workers
        When each worker was last heard of.
    apps
        The applications, by driver.
    executors
        Which applications have an executor at which workers.
    placed
        Where each submitted driver runs; None if it waits for a worker.
    awaited
        While recovering: who has not answered yet.
    """

    bugs: frozenset[str] = frozenset()

    second: int = wl.durable(default=0)
    files: dict[str, Info] = wl.durable(default_factory=dict)
    phase: Phase = Phase.STANDBY
    workers: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    apps: dict[wl.NodeId, str] = wl.field(default_factory=dict)
    executors: frozenset[tuple[str, wl.NodeId]] = frozenset()
    placed: dict[str, wl.NodeId | None] = wl.field(default_factory=dict)
    awaited: frozenset[wl.NodeId] = frozenset()

    @wl.start
    def stand(self, ctx: wl.Context) -> None:
        ctx.send(ctx.me, ElectedLeader())
        ctx.set_timer(Master.tick, after=SECOND)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        """A second is over."""
        self.second += 1
        if self.phase is Phase.ALIVE:
            for worker, heard in list(self.workers.items()):
                if heard + PATIENCE < self.second:
                    self._lose(worker)
            self._schedule(ctx)
        ctx.set_timer(Master.tick, after=SECOND)

    # -------------------------------------------------------------------------- disk

    def _create(self, name: str, info: Info) -> None:
        """Write a new file.

        Raises
        ------
        FileExistsError
            If there is one of that name.
        """
        if name in self.files:
            raise FileExistsError(name)
        self.files[name] = info

    def _delete(self, info: Info) -> None:
        """Remove all files about something."""
        self.files = {name: one for name, one in self.files.items() if one != info}

    # ----------------------------------------------------------------------- workers

    @wl.on(RegisterWorker, when=lambda self, src, msg: self.phase is Phase.ALIVE)
    def register_worker(
        self, ctx: wl.Context, src: wl.NodeId, msg: RegisterWorker
    ) -> None:
        # It may have begun anew, so it runs nothing.
        self._lose(src)
        self.workers[src] = self.second
        self._create(f"worker-{src}", WorkerInfo(src))
        ctx.send(src, RegisteredWorker())
        self._schedule(ctx)

    @wl.on(Heartbeat)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Heartbeat) -> None:
        if src in self.workers:
            self.workers[src] = self.second
        elif self.phase is Phase.ALIVE:
            ctx.send(src, ReconnectWorker())

    def _lose(self, worker: wl.NodeId) -> None:
        """Forget a worker and what runs there."""
        self.workers.pop(worker, None)
        self._delete(WorkerInfo(worker))
        self.executors = frozenset(one for one in self.executors if one[1] != worker)
        for name, place in list(self.placed.items()):
            if place == worker:
                self.placed[name] = None

    # ------------------------------------------------------- applications and drivers

    @wl.on(RegisterApplication, when=lambda self, src, msg: self.phase is Phase.ALIVE)
    def register_application(
        self, ctx: wl.Context, src: wl.NodeId, msg: RegisterApplication
    ) -> None:
        if self.apps.get(src) != msg.app or "spark-9256" in self.bugs:
            file = f"app-{self.second}-{msg.app}"
            self._create(file, ApplicationInfo(msg.app, src))
            self.apps[src] = msg.app
        ctx.send(src, RegisteredApplication(msg.app))
        self._schedule(ctx)

    @wl.on(UnregisterApplication)
    def unregister_application(
        self, ctx: wl.Context, src: wl.NodeId, msg: UnregisterApplication
    ) -> None:
        self._end(src, msg.app)
        for worker in self.workers:
            ctx.send(worker, KillExecutor(msg.app))

    def _end(self, driver: wl.NodeId, app: str) -> None:
        """Forget an application."""
        if self.apps.get(driver) == app:
            del self.apps[driver]
        self._delete(ApplicationInfo(app, driver))
        self.executors = frozenset(one for one in self.executors if one[0] != app)

    @wl.call(when=lambda self, name: self.phase is Phase.ALIVE)
    def request_submit_driver(self, ctx: wl.Context, name: str) -> None:
        """Take a driver that is to run in the cluster."""
        self._create(f"driver-{name}", DriverInfo(name))
        self.placed[name] = None
        self._schedule(ctx)

    def _schedule(self, ctx: wl.Context) -> None:
        """Launch the drivers that wait, and an executor of each application anywhere."""
        if self.phase is not Phase.ALIVE or not self.workers:
            return
        for name, place in list(self.placed.items()):
            if place is None:
                self.placed[name] = first = min(self.workers)
                ctx.send(first, LaunchDriver(name))
        for driver, app in self.apps.items():
            for worker in self.workers:
                if (app, worker) not in self.executors:
                    self.executors |= {(app, worker)}
                    ctx.send(worker, LaunchExecutor(app, driver))
                    ctx.send(driver, ExecutorAdded(app, worker))

    # ---------------------------------------------------------------------- recovery

    @wl.on(ElectedLeader)
    def recover(self, ctx: wl.Context, src: wl.NodeId, msg: ElectedLeader) -> None:
        """Read the disk, and ask whoever is written there what has become of it."""
        for info in self.files.values():
            match info:
                case WorkerInfo(worker):
                    self.workers[worker] = self.second
                case ApplicationInfo(app, driver):
                    self.apps[driver] = app
                case DriverInfo(name):
                    # A pointer that is not on the disk is null unless it is set.
                    if "spark-3150" not in self.bugs:
                        self.placed[name] = None
        if not self.files:
            self.phase = Phase.ALIVE
            return
        self.phase = Phase.RECOVERING
        self.awaited = frozenset({*self.workers, *self.apps})
        for node in self.awaited:
            ctx.send(node, MasterChanged())
        ctx.set_timer(Master.complete_recovery, after=RECOVERY)

    @wl.on(
        WorkerSchedulerStateResponse,
        when=lambda self, src, msg: self.phase is Phase.RECOVERING,
    )
    def take_up(
        self, ctx: wl.Context, src: wl.NodeId, msg: WorkerSchedulerStateResponse
    ) -> None:
        self.executors |= {(app, src) for app in msg.apps}
        for name in msg.drivers:
            self.placed[name] = src
        self._answered(ctx, src)

    @wl.on(
        MasterChangeAcknowledged,
        when=lambda self, src, msg: self.phase is Phase.RECOVERING,
    )
    def acknowledged(
        self, ctx: wl.Context, src: wl.NodeId, msg: MasterChangeAcknowledged
    ) -> None:
        if self.apps.get(src) == msg.app:
            self._answered(ctx, src)

    def _answered(self, ctx: wl.Context, node: wl.NodeId) -> None:
        self.awaited -= {node}
        if not self.awaited:
            ctx.cancel_timer(Master.complete_recovery)
            self._complete(ctx)

    @wl.timer
    def complete_recovery(self, ctx: wl.Context) -> None:
        self._complete(ctx)

    def _complete(self, ctx: wl.Context) -> None:
        """Forget whoever has not answered, and submitted drivers that nobody runs."""
        for node in self.awaited:
            if node in self.apps:
                self._end(node, self.apps[node])
            self._lose(node)
        for info in list(self.files.values()):
            if isinstance(info, DriverInfo) and self.placed[info.name] is None:
                del self.placed[info.name]
                self._delete(info)
        self.phase = Phase.ALIVE
        self._schedule(ctx)
