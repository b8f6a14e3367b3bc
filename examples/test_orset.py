"""The OR-set converges, and each way to get it wrong is found."""

import pytest

import orset
import worldline as wl


def test_replicas_converge() -> None:
    wl.check(orset.system).expect_holds()


@pytest.mark.parametrize(
    ("bug", "broken"),
    [
        ("removes-by-name", "replicas_agree_at_rest"),
        ("no-tombstones", "replicas_agree_at_rest"),
        ("tags-of-size", "additions_show_at_once"),
        ("last-tag", "an_unseen_addition_wins"),
    ],
)
def test_each_bug_is_found(bug: str, broken: str) -> None:
    wl.check(orset.system, parameters={"bug": bug}).expect_violated(broken)
