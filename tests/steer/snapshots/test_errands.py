"""Nodes ask those beside them for others, and tell of all in one letter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.steer.snapshots.posting import Post
from tests.steer.snapshots.rows import QUIET, ring, row, star

import worldline as wl
from worldline.steer.snapshots.accounts import (
    NO_ACCOUNT,
    Account,
    said_by,
)
from worldline.steer.snapshots.errands import _MOST_BEGUN, _MOST_WAITING
from worldline.steer.snapshots.letter_bytes import write
from worldline.steer.snapshots.letters import (
    ANEW,
    BESIDE,
    BUT,
    MORE,
    Busy,
    Gone,
    Reply,
    Request,
    SnapshotLetter,
    ToldCheckpoint,
)
from worldline.steer.snapshots.log import FoundCheckpoint, KnownCheckpoint
from worldline.steer.snapshots.options import LARGEST
from worldline.steer.snapshots.packing import packed
from worldline.trace.json_checks import Malformed

BODY = bytes(range(100))


@pytest.mark.parametrize(
    "network", [wl.streams(), wl.datagrams()], ids=["streams", "datagrams"]
)
def test_the_neighbours_of_neighbours_are_asked_too(network: wl.Streams | wl.Datagrams):
    post = row(4, network)
    post.change(0)
    post.wait(1.0)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0, 1, 2}


def test_a_neighbour_asks_those_beside_it_once_and_tells_of_them():
    post = row(3, wl.streams())
    for _ in range(2):
        post.letters.clear()
        post.change(0)
        post.wait(1.0)
    asked = [(src, dst) for src, dst, one in post.letters if isinstance(one, Request)]
    assert sorted(asked) == [(0, 1), (1, 2), (1, 2)]  # once for itself, as it has news


@pytest.mark.parametrize("named", [(1, 2), (2, 1)])
def test_who_is_named_but_has_no_connection_is_told_of_by_a_neighbour(
    named: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
):
    post = row(3, wl.streams())
    keeper: Any = post.snapshots._keepers[post.system.ids[0]]
    monkeypatch.setattr(keeper, "neighbours", lambda: named)
    absent = keeper.counts.absent
    post.change(0)
    post.wait(1.0)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0, 1, 2}
    assert keeper.counts.absent == absent


def test_a_neighbour_without_a_connection_is_absent():
    post = row(3, wl.streams())
    post.open.clear()
    post.change(0)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0}


@pytest.mark.parametrize(
    "network", [wl.streams(), wl.datagrams()], ids=["streams", "datagrams"]
)
@pytest.mark.parametrize("nobody", [3, 1 << 40])
def test_an_answer_that_names_nobody_is_refused(
    network: wl.Streams | wl.Datagrams, nobody: int
):
    post = row(3, network)

    def lies(src: int, dst: int, letter: SnapshotLetter) -> bool:
        if not isinstance(letter, Reply):
            return True
        told = write(letter._replace(told=(ToldCheckpoint(nobody, 0),)))
        post.companion.heard(post.lives[dst], post.system.ids[src], told)
        return False

    post.keep = lies
    post.change(0)
    post.wait(5.0)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0}
    assert post.snapshots.counts[post.system.ids[0]].malformed


def test_what_has_come_is_known_before_a_snapshot_is_complete():
    post = row(3, wl.datagrams())
    me = post.system.ids[0]
    before = post.snapshots.records(me)
    assert post.snapshots.records(me) is before
    post.keep = lambda src, dst, letter: src != 2
    post.change(1)
    post.change(0)
    post.wait(0.3)
    after = post.snapshots.records(me)
    assert after[1].number > before[1].number
    assert after[2] is before[2]
    assert post.snapshots.records(me) is after


def test_what_is_beside_a_neighbour_and_has_not_changed_is_not_told_again():
    post = row(3, wl.streams())
    for _ in range(3):
        post.letters.clear()
        post.change(0)
        post.wait(1.0)
    taken = [one for one in post.taken if one.node == 0]
    assert all(set(one.members) == {0, 1, 2} for one in taken)
    letters = [one for _, dst, one in post.letters if dst == 0]
    early, *late = [one for one in letters if isinstance(one, Reply)]
    assert early == Reply(early.gather, MORE)
    assert late == [Reply(early.gather)]


def test_with_news_a_neighbour_tells_of_itself_before_it_asks_others():
    post = row(3, wl.streams())
    me = post.system.ids[0]
    post.delay = lambda src, dst, letter: 0.4 if src == 2 else 0.05
    post.change(1, leaves=False)
    post.change(0)
    post.wait(0.2)
    assert post.snapshots.records(me)[1].local[2] == 1
    assert [one for one in post.taken if one.node == 0] == []
    post.wait(0.4)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0, 1, 2}


@pytest.mark.parametrize(
    "network", [wl.streams(), wl.datagrams()], ids=["streams", "datagrams"]
)
def test_who_does_not_answer_a_neighbour_is_absent_after_a_second(
    network: wl.Streams | wl.Datagrams,
):
    post = row(4, network)
    post.keep = lambda src, dst, letter: src != 2
    post.change(0)
    post.wait(0.9)
    assert [one for one in post.taken if one.node == 0] == []
    post.wait(0.3)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0, 1}


def test_who_asks_itself_is_told_of_by_nobody_else():
    """So that a neighbour that lies can lie about no other of one's neighbours."""
    post = ring()
    post.change(0)
    post.wait(1.0)
    assert post.sent(Request)[0].flags & BESIDE
    told = {
        one.node
        for src, dst, letter in post.letters
        if (src, dst) == (1, 0) and isinstance(letter, Reply)
        for one in letter.told
    }
    assert told <= {1}
    post.taken.clear()
    lies = lies_about(post, 2)
    post.change(0)
    post.wait(2.5)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert lies
    assert set(taken.members) == {0, 1}


def lies_about(post: Post, whom: int) -> list[Reply]:
    """Let node 1 say of another one, which is silent, that it has seen very much."""
    lies: list[Reply] = []

    def keep(src: int, dst: int, letter: SnapshotLetter) -> bool:
        if src != 1 or dst != 0 or not isinstance(letter, Reply):
            return src != whom
        spelt = post.snapshots._setting.bytes
        true = post.snapshots.record_now(post.lives[whom])
        cls, first, _, *others = true.local
        body = spelt.pack(replace(true, local=(cls, first, 99, *others)), whom)
        own = spelt.pack(post.snapshots.record_now(post.lives[1]), 1)
        told = (
            ToldCheckpoint(1, 0, False, packed(own)),
            ToldCheckpoint(whom, 0, False, packed(body, own)),
        )
        lie = Reply(letter.gather, ANEW, told)
        lies.append(lie)
        post.companion.heard(post.lives[dst], post.system.ids[src], write(lie))
        return False

    post.keep = keep
    return lies


def test_who_is_asked_for_one_is_not_asked_at_once_for_another():
    post = star()
    ask(post, 1, 0, 50)
    ask(post, 2, 0, 50)
    assert [dst for src, dst, _ in post.letters if src == 0] == [2, 3, 1]
    post.wait(0.2)
    for asking, others in ((1, {0, 2, 3}), (2, {0, 1, 3})):
        (reply,) = post.to(asking, Reply)
        assert {one.node for one in reply.told} == others


def test_what_was_asked_for_a_number_is_not_asked_again():
    post = star()
    post.change(1)
    post.wait(1.0)
    number = post.snapshots.number(post.system.ids[1])
    post.letters.clear()
    ask(post, 2, 0, number)
    post.wait(0.1)
    assert [dst for src, dst, _ in post.letters if src == 0] == [2]
    (reply,) = post.sent(Reply)
    assert {one.node for one in reply.told} == {0, 1, 3}


def test_a_repeated_request_begins_no_other_errand():
    post = star()
    for _ in range(3):
        ask(post, 1, 0, 50, gather=7)
    assert [dst for src, dst, _ in post.letters if src == 0] == [2, 3]
    post.wait(0.2)
    assert [one.gather for one in post.to(1, Reply)] == [7]


def test_of_very_many_that_ask_most_are_told_what_is_known():
    """So that names do not come round, and nobody has to remember very many."""
    post = star(replace(QUIET, bandwidth=1e9))
    post.delay = lambda src, dst, letter: 1.5
    for n in range(100):
        ask(post, 1, 0, 50 + n, gather=n)
    errands = post.snapshots._keepers[post.system.ids[0]]._errands
    assert len(errands._waiting) == _MOST_WAITING
    assert len(post.to(2, Request)) == _MOST_WAITING
    assert len(post.to(1, Reply)) == 100 - _MOST_WAITING
    post.wait(1.1)
    assert len(post.to(1, Reply)) == 100
    assert not errands._waiting
    assert not errands._gathers
    post.letters.clear()
    for n in range(100):
        ask(post, 1, 0, 200 + n, gather=n)
        post.wait(0.001)
    assert len(post.to(2, Request)) <= _MOST_BEGUN


def test_who_may_send_no_more_asks_nobody_for_others():
    post = star()
    allowance = post.snapshots._keepers[post.system.ids[0]]._allowance
    allowance.spend(3_000, post.now)
    ask(post, 1, 0, 50)
    assert [type(one) for one in post.to(1)] == [Busy]
    assert post.to(2) == post.to(3) == []


def test_a_number_that_is_far_ahead_is_not_passed_on():
    post = star()
    ask(post, 1, 0, 1 << 47)
    assert [type(one) for one in post.to(1)] == [Gone]
    assert post.to(2) == post.to(3) == []


def test_who_is_lost_while_others_wait_for_it_is_left_out_at_once():
    post = star()
    post.keep = lambda src, dst, letter: src != 3
    ask(post, 1, 0, 50)
    post.wait(0.2)
    assert post.to(1) == []
    post.fail(0, 3)
    (reply,) = post.to(1, Reply)
    assert {one.node for one in reply.told} == {0, 2}


def test_a_reset_ends_errands():
    post = star()
    ask(post, 1, 0, 50, gather=77)
    post.reset(0)
    post.wait(2.0)
    assert [one for one in post.to(1, Reply) if one.gather == 77] == []


def test_after_a_reply_was_lost_all_is_told_anew():
    post = row(3, wl.streams())
    keep, post.keep = post.keep, lambda src, dst, letter: dst != 0
    post.change(2, leaves=False)
    post.change(0)
    post.wait(3.0)
    post.keep = keep
    post.letters.clear()
    post.taken.clear()
    post.change(0)
    post.wait(1.0)
    assert {one.flags & ANEW for one in post.to(0, Reply)} == {ANEW}
    (taken,) = [one for one in post.taken if one.node == 0]
    assert taken.members[2].local[2] == 1
    post.letters.clear()
    post.change(0)
    post.wait(1.0)
    assert {one.told for one in post.to(0, Reply)} == {()}


def test_one_whose_checkpoint_is_none_harms_no_other():
    post = row(3, wl.streams())

    def spoils(src: int, dst: int, letter: SnapshotLetter) -> bool:
        if (src, dst) != (1, 0) or not isinstance(letter, Reply):
            return True
        own = post.snapshots.record_now(post.lives[1])
        body = packed(post.snapshots._setting.bytes.pack(own, 1))
        told = (
            ToldCheckpoint(1, 0, False, body),
            ToldCheckpoint(2, 0, False, b"nonsense"),
        )
        bad = write(Reply(letter.gather, ANEW, told))
        post.companion.heard(post.lives[0], post.system.ids[1], bad)
        return False

    post.keep = spoils
    post.change(0)
    post.wait(1.0)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0, 1}
    assert post.snapshots.counts[post.system.ids[0]].malformed == 1


def ask(post: Post, src: int, dst: int, number: int, gather: int = 1) -> None:
    """Let a node hear a request of another, which that has not made."""
    request = Request(gather, number, b"", BESIDE | BUT)
    post.companion.heard(post.lives[dst], post.system.ids[src], write(request))


def test_one_that_says_its_checkpoint_is_the_first_of_all_is_asked_again_soon():
    post = star(replace(QUIET, interval=10.0))
    post.snapshots._keepers[post.system.ids[0]].answered(
        3, 50, FoundCheckpoint(1 << 40, KnownCheckpoint.of(b"old"))
    )
    ask(post, 1, 0, 60)
    assert [dst for src, dst, _ in post.letters if src == 0] == [2]
    post.now += 10.1
    ask(post, 1, 0, 70, gather=2)
    assert [dst for src, dst, _ in post.letters if src == 0] == [2, 2, 3]


def test_a_report_does_not_grow_without_end():
    """Each reply may add to it: so one that lies could let others remember very much."""
    base = NO_ACCOUNT
    for first in range(0, 60, 20):
        base = added(base, first, 20, BODY)
    assert len(base.known) == 61
    with pytest.raises(Malformed, match="about too many nodes"):
        added(base, 80, 20, BODY)
    base = NO_ACCOUNT
    for n in range(3):
        base = added(base, n, 1, bytes(LARGEST))
    with pytest.raises(Malformed, match="too many bytes"):
        added(base, 3, 1, bytes(LARGEST))


def added(base: Account, first: int, count: int, body: bytes) -> Account:
    """Let node 99 tell of some more, as others remember it."""
    own, others = (
        ToldCheckpoint(99, 0, False, packed(BODY)),
        range(first, first + count),
    )
    told = [ToldCheckpoint(n, 0, False, packed(body, BODY)) for n in others]
    said = said_by(Reply(1, 0, (own, *told)), 99, 0, base, None)
    return Account((), {n: found.known for n, found in said.found.items()})
