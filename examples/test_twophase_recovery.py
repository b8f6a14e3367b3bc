"""The transaction is atomic whoever starts again, and each way to forget is found."""

import pytest

import twophase_recovery
import worldline as wl


def test_it_is_atomic_and_ends() -> None:
    wl.check(twophase_recovery.system).expect_holds()


@pytest.mark.parametrize(
    "bug",
    [
        "decision-in-memory",
        "vote-in-memory",
        "presumes-commit",
        "counts-votes",
        "impatient",
    ],
)
def test_each_bug_is_found(bug: str) -> None:
    report = wl.check(twophase_recovery.system, parameters={"bug": bug})
    report.expect_violated("nobody_commits_what_another_aborts")
