"""A worker: a host on which executors and submitted drivers run."""

from __future__ import annotations

import worldline as wl
from worldline.zoo._spark.messages import (
    Heartbeat,
    KillExecutor,
    LaunchDriver,
    LaunchExecutor,
    LaunchTask,
    MasterChanged,
    ReconnectWorker,
    RegisteredExecutor,
    RegisteredWorker,
    RegisterExecutor,
    RegisterWorker,
    StatusUpdate,
    TaskRunner,
    WorkerSchedulerStateResponse,
)

HEARTBEAT = 15.0
"""Seconds; they count where time does."""


@wl.ignores(RegisteredExecutor)
@wl.node
class Worker:
    """A worker, with its executors: each runs one task of one application.

    Attributes
    ----------
    apps, drivers
        The applications with an executor here, and the drivers submitted to here.
    """

    master: wl.NodeId
    host: str

    is_registered: bool = False
    apps: frozenset[str] = frozenset()
    drivers: frozenset[str] = frozenset()

    @wl.start
    def join(self, ctx: wl.Context) -> None:
        self._beat(ctx)

    @wl.timer
    def beat(self, ctx: wl.Context) -> None:
        self._beat(ctx)

    def _beat(self, ctx: wl.Context) -> None:
        """Say that one is here, and until that is answered, who one is."""
        message = Heartbeat() if self.is_registered else RegisterWorker()
        ctx.send(self.master, message)
        ctx.set_timer(Worker.beat, after=HEARTBEAT)

    @wl.on(RegisteredWorker)
    def registered(
        self, ctx: wl.Context, src: wl.NodeId, msg: RegisteredWorker
    ) -> None:
        self.is_registered = True

    @wl.on(ReconnectWorker)
    def reconnect(self, ctx: wl.Context, src: wl.NodeId, msg: ReconnectWorker) -> None:
        self.is_registered = False

    @wl.on(MasterChanged)
    def follow(self, ctx: wl.Context, src: wl.NodeId, msg: MasterChanged) -> None:
        ctx.send(src, WorkerSchedulerStateResponse(self.apps, self.drivers))

    # ------------------------------------------------------------------ what it runs

    @wl.on(LaunchDriver)
    def launch_driver(self, ctx: wl.Context, src: wl.NodeId, msg: LaunchDriver) -> None:
        self.drivers |= {msg.name}

    @wl.on(LaunchExecutor)
    def launch_executor(
        self, ctx: wl.Context, src: wl.NodeId, msg: LaunchExecutor
    ) -> None:
        self.apps |= {msg.app}
        ctx.send(msg.driver, RegisterExecutor(msg.app, self.host))

    @wl.on(KillExecutor)
    def kill(self, ctx: wl.Context, src: wl.NodeId, msg: KillExecutor) -> None:
        self.apps -= {msg.app}

    @wl.on(LaunchTask, when=lambda self, src, msg: msg.task.app in self.apps)
    def launch_task(self, ctx: wl.Context, src: wl.NodeId, msg: LaunchTask) -> None:
        ctx.send(src, StatusUpdate(msg.task, is_finished=False))
        ctx.send(ctx.me, TaskRunner(src, msg.task))

    @wl.on(TaskRunner, when=lambda self, src, msg: msg.task.app in self.apps)
    def end_task(self, ctx: wl.Context, src: wl.NodeId, msg: TaskRunner) -> None:
        ctx.send(msg.driver, StatusUpdate(msg.task, is_finished=True))
