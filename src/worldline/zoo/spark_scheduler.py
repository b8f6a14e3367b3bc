"""Spark's scheduler: tasks of concurrent jobs are given to executors, the nearest first.

A driver is one application for all its jobs, whose tasks are half of them near their data
and the others anywhere. Workers join while jobs run. Master and driver have started, and
the driver is registered, before a run begins.

Bugs
----
spark-2294
    Executors are offered to a job level by level, the nearest first; but what is given to
    an executor at the first level includes tasks that may run anywhere, and speculative
    copies. So these come before tasks whose data are on its host.

References
----------
C. Scott, A. Panda, V. Brajkovic, G. Necula, A. Krishnamurthy and S. Shenker,
"Minimizing Faulty Executions of Distributed Systems", NSDI 2016, appendix E.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo._spark.cluster import (
    DRIVER,
    MASTER,
    NETWORK,
    workers_of,
)
from worldline.zoo._spark.driver import Driver
from worldline.zoo._spark.master import Master
from worldline.zoo._spark.messages import (
    ElectedLeader,
    RegisterApplication,
    RegisteredApplication,
)
from worldline.zoo._spark.worker import Worker

SWITCHES = ("spark-2294",)
BUGS = {
    "demi": {"spark-2294": "fuzz zoo:spark-scheduler -p bugs=spark-2294 --events 5000"}
}


@wl.safety
def the_nearest_comes_first(view: wl.View) -> bool:
    """SP-S1: no executor gets a task while one of that job suits it better.

    Tasks on its host come before those without a preference, these before those whose
    data are elsewhere, and speculative copies come last.
    """
    return view[DRIVER].inverted is None


@wl.sometimes
def a_job_is_done(view: wl.View) -> bool:
    """A job can come to its end."""
    return bool(view[DRIVER].done)


def system(
    *,
    workers: int = 15,
    hosts: int = 15,
    jobs: int = 15,
    parts: int = 4,
    threads: int = 3,
    bugs: tuple[str, ...] = (),
) -> wl.System:
    """Return a cluster whose workers join while jobs are submitted.

    Parameters
    ----------
    workers, hosts
        How many workers join, and on how many hosts, in turn.
    jobs, parts
        How many jobs there are, and how many tasks each has.
    threads
        How many jobs run at once.
    bugs
        Some of `SWITCHES`.

    Raises
    ------
    ValueError
        If a bug is unknown.
    """
    check_names("bug", bugs, SWITCHES)
    ids, places = workers_of(workers), [f"host{n}" for n in range(1, hosts + 1)]
    return wl.System(
        {
            MASTER: Master(),
            DRIVER: Driver(
                MASTER, frozenset(bugs), threads, parts, tuple(places), stays=True
            ),
            **{
                worker: Worker(MASTER, places[number % hosts])
                for number, worker in enumerate(ids)
            },
        },
        network=NETWORK,
        workload=[wl.script(DRIVER, [Driver.run] * jobs)],
        boot="events",
        prologue=[
            wl.events.start(MASTER),
            wl.events.deliver(MASTER, ElectedLeader),
            wl.events.start(DRIVER),
            wl.events.deliver(MASTER, RegisterApplication),
            wl.events.deliver(DRIVER, RegisteredApplication),
        ],
        properties=[the_nearest_comes_first, a_job_is_done],
        name="spark-scheduler",
    )
