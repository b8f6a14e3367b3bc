"""Messages between the processes of a Spark cluster."""

from __future__ import annotations

import worldline as wl
from worldline.zoo._spark.tasks import Task

# ------------------------------------------------------------------ worker and master


@wl.message
class RegisterWorker:
    """I am here and can run executors and drivers."""


@wl.message
class RegisteredWorker:
    """You are one of my workers."""


@wl.message
class Heartbeat:
    """I am still here."""


@wl.message
class ReconnectWorker:
    """I do not know you: register again."""


@wl.message
class LaunchExecutor:
    """Start a process that runs the tasks of an application."""

    app: str
    driver: wl.NodeId


@wl.message
class KillExecutor:
    """An application has ended; so ends its executor."""

    app: str


@wl.message
class LaunchDriver:
    """Start a driver that was submitted to the cluster."""

    name: str


@wl.message
class WorkerSchedulerStateResponse:
    """What I run: applications with an executor here, and submitted drivers."""

    apps: frozenset[str]
    drivers: frozenset[str]


# ------------------------------------------------------------------ driver and master


@wl.message
class RegisterApplication:
    """I need executors for an application."""

    app: str


@wl.message
class RegisteredApplication:
    """You will get executors."""

    app: str


@wl.message
class UnregisterApplication:
    """An application has ended."""

    app: str


@wl.message
class ExecutorAdded:
    """A worker is to start an executor for you."""

    app: str
    worker: wl.NodeId


@wl.message
class MasterChangeAcknowledged:
    """I know that you are the master now; this is my application, if there is one."""

    app: str


# -------------------------------------------------------------- of the master, to all


@wl.message
class ElectedLeader:
    """To oneself: be the master, and go on with what is on the disk."""


@wl.message
class MasterChanged:
    """The master has begun anew."""


# ---------------------------------------------------------------- driver and executor


@wl.message
class RegisterExecutor:
    """An executor runs on this host, with room for one task."""

    app: str
    host: str


@wl.message
class RegisteredExecutor:
    """You will get tasks."""


@wl.message
class ReviveOffers:
    """To oneself: there are new tasks, so see who has room."""


@wl.message
class LaunchTask:
    """Run a task."""

    task: Task


@wl.message
class TaskRunner:
    """To oneself: a task has come to its end."""

    driver: wl.NodeId
    task: Task


@wl.message
class StatusUpdate:
    """A task has begun, or has finished."""

    task: Task
    is_finished: bool
