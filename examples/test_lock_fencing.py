"""The fence holds whatever the lock does, and each way to leave a gap is found."""

import pytest

import lock_fencing
import worldline as wl


def test_no_update_is_lost() -> None:
    wl.check(lock_fencing.system).expect_holds()


@pytest.mark.parametrize(
    "bug",
    [
        "no-fence",
        "reads-unfenced",
        "tokens-in-memory",
        "fence-in-memory",
        "token-per-release",
    ],
)
def test_each_bug_is_found(bug: str) -> None:
    report = wl.check(lock_fencing.system, parameters={"bug": bug})
    report.expect_violated("no_update_is_lost")
