"""Spark's master: applications register, a driver is submitted, and nodes crash.

Two drivers run jobs, each of them an application of its own, on workers that join.
Another driver is submitted to the cluster. The master may crash and start again; two of
the workers may crash. The master has been elected before a run begins.

Bugs
----
spark-3150
    What the master reads of a submitted driver, once it has started again, lacks the
    worker that runs it. If no worker says that it does, the master fails, for ever.
spark-9256
    A driver asks for its registration until it has an answer. A second request within the
    same second is to make a file that exists.

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
    OTHER_DRIVER,
    workers_of,
)
from worldline.zoo._spark.driver import Driver
from worldline.zoo._spark.master import Master
from worldline.zoo._spark.messages import ElectedLeader
from worldline.zoo._spark.worker import Worker

SWITCHES = ("spark-3150", "spark-9256")
_FUZZ = "fuzz zoo:spark-master -p bugs="
BUGS = {
    "demi": {
        "spark-3150": f"{_FUZZ}spark-3150 --seed 3 --events 10000",
        "spark-9256": f"{_FUZZ}spark-9256 --events 10000",
    }
}

DRIVERS = (DRIVER, OTHER_DRIVER)


@wl.sometimes
def a_job_is_done(view: wl.View) -> bool:
    """A job can come to its end."""
    return any(view[driver].done for driver in DRIVERS)


def system(
    *,
    workers: int = 8,
    jobs: int = 7,
    parts: int = 4,
    bugs: tuple[str, ...] = (),
) -> wl.System:
    """Return a cluster of two drivers, whose master and some workers may crash.

    Parameters
    ----------
    workers
        How many workers join; the first two may crash.
    jobs, parts
        How many jobs the drivers have together, and how many tasks each has.
    bugs
        Some of `SWITCHES`.

    Raises
    ------
    ValueError
        If a bug is unknown.
    """
    check_names("bug", bugs, SWITCHES)
    ids = workers_of(workers)
    submitted = wl.invoke(Master.request_submit_driver, "submitted")
    return wl.System(
        {
            MASTER: Master(frozenset(bugs)),
            **{driver: Driver(MASTER, parts=parts) for driver in DRIVERS},
            **{worker: Worker(MASTER, f"host-{worker}") for worker in ids},
        },
        network=NETWORK,
        workload=[
            wl.script(MASTER, [submitted], on_reset="continue"),
            *(
                wl.script(driver, [Driver.run] * (jobs // 2 + odd))
                for odd, driver in zip((jobs % 2, 0), DRIVERS, strict=True)
            ),
        ],
        faults=wl.Faults(crashes=3, restarts=1, nodes=(MASTER, *ids[:2])),
        boot="events",
        prologue=[
            wl.events.start(MASTER),
            wl.events.deliver(MASTER, ElectedLeader),
            *(wl.events.start(driver) for driver in DRIVERS),
        ],
        properties=[a_job_is_done],
        name="spark-master",
    )
