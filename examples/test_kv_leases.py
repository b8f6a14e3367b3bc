"""Leases in virtual time: primaries are cut off with a client while the others go on."""

import pytest

import kv_leases
import worldline as wl


def storm() -> str:
    """Cut each replica off with each client, and start the other replicas again."""
    entries, time = [], 2
    for client in (kv_leases.ANN, kv_leases.BOB):
        for replica in kv_leases.REPLICAS:
            entries += [f"at {time}s cut {replica} {client}", f"at {time + 4}s heal"]
            for other in kv_leases.REPLICAS:
                if other != replica:
                    entries.append(f"at {time * 1000 + 100}ms crash {other}")
                    entries.append(f"at {time * 1000 + 200}ms restart {other}")
            time += 6
    return ", ".join(entries)


def simulated(bug: str, seeds: int) -> wl.SimulateReport:
    return wl.simulate(
        kv_leases.system,
        parameters={"bug": bug},
        seconds=38,
        rate=2.0,
        weather=storm(),
        seeds=seeds,
        threads=1,
    )


def test_no_run_of_some_seeds_breaks_it() -> None:
    simulated("none", seeds=3).expect_no_violation()


@pytest.mark.parametrize(
    "bug", ["reads-anyway", "promise-in-memory", "no-write-back", "acks-early"]
)
def test_each_bug_is_found(bug: str) -> None:
    simulated(bug, seeds=20).expect_violated("linearizable")
