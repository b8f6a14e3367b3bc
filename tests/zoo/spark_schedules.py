"""Schedules made by hand: the shortest way to each bug of Spark, after its start-up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import worldline as wl
from worldline.model.prologue import Pattern
from worldline.zoo import spark_master, spark_scheduler
from worldline.zoo._spark import messages
from worldline.zoo._spark.cluster import DRIVER, MASTER, workers_of
from worldline.zoo._spark.driver import Driver
from worldline.zoo._spark.master import Master

MakeSystem: TypeAlias = Callable[..., wl.System]


@dataclass(frozen=True)
class Case:
    """A schedule, and what it comes to.

    Attributes
    ----------
    violated
        The property that is false after its last event, and not before.
    deliveries, externals
        How many deliveries, timers and calls it has; how many starts, calls and faults.
    startup
        How many deliveries come before it, in the prologue.
    """

    system: MakeSystem
    schedule: tuple[Pattern, ...]
    violated: str
    deliveries: int
    externals: int
    startup: int


(FIRST,) = workers_of(1)

CASES = {
    # An executor starts on the host that has the data of half the waiting tasks.
    "spark-2294": Case(
        spark_scheduler.system,
        (
            wl.events.call(DRIVER, Driver.run, choices=[0]),
            wl.events.start(FIRST),
            wl.events.deliver(MASTER, messages.RegisterWorker),
            wl.events.deliver(FIRST, messages.RegisteredWorker),
            wl.events.deliver(FIRST, messages.LaunchExecutor),
            wl.events.deliver(DRIVER, messages.RegisterExecutor),
        ),
        "the_nearest_comes_first",
        deliveries=5,
        externals=2,
        startup=3,
    ),
    # No worker has joined, so nobody runs the driver when the master starts again.
    "spark-3150": Case(
        spark_master.system,
        (
            wl.events.call(MASTER, Master.request_submit_driver),
            wl.events.crash(MASTER),
            wl.events.restart(MASTER),
            wl.events.deliver(MASTER, messages.ElectedLeader),
            wl.events.timer(MASTER, Master.complete_recovery),
        ),
        "exception",
        deliveries=3,
        externals=3,
        startup=1,
    ),
    "spark-9256": Case(
        spark_master.system,
        (
            wl.events.call(DRIVER, Driver.run),
            wl.events.timer(DRIVER, Driver.retry),
            wl.events.deliver(MASTER, messages.RegisterApplication),
            wl.events.deliver(MASTER, messages.RegisterApplication),
        ),
        "exception",
        deliveries=4,
        externals=1,
        startup=1,
    ),
}
