"""Orders are paid for and packed, or neither, and each way to lose one is found."""

import pytest

import outbox
import worldline as wl


def test_the_books_balance() -> None:
    """HOLDS says what was assumed: how many messages are under way."""
    wl.check(outbox.system).expect_holds()


@pytest.mark.parametrize(
    ("bug", "broken"),
    [
        ("outbox-in-memory", "the_books_balance_in_the_end"),
        ("no-inbox", "nothing_is_done_twice"),
        ("inbox-in-memory", "nothing_is_done_twice"),
        ("any-answer", "the_books_balance_in_the_end"),
        ("no-refund", "the_books_balance_in_the_end"),
    ],
)
def test_each_bug_is_found(bug: str, broken: str) -> None:
    wl.check(outbox.system, parameters={"bug": bug}).expect_violated(broken)
