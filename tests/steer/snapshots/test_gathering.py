"""How snapshots are asked for and answered, one letter after the other."""

from __future__ import annotations

from typing import Any

import pytest
from tests.steer.snapshots import chatter
from tests.steer.snapshots.posting import Post
from tests.steer.snapshots.rows import QUIET, row, settled

import worldline as wl
from worldline.steer.snapshots.channels import MOST_UNTOLD
from worldline.steer.snapshots.letter_bytes import write
from worldline.steer.snapshots.letters import (
    Busy,
    Gone,
    Received,
    Reply,
    Request,
    ToldCheckpoint,
)
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.record_bytes import RecordBytes
from worldline.steer.snapshots.tails import MOST_TAIL
from worldline.trace.journal.codec import Codec
from worldline.worlds.access_links import size_of

WORD = chatter.Word(1)


def streams(options: GatherOptions | None = None, *, size: int = 3) -> Post:
    return Post(chatter.system(wl.streams(), size), options)


def datagrams(options: GatherOptions | None = None, *, size: int = 3) -> Post:
    return Post(chatter.system(wl.datagrams(), size), options, connect=False)


def test_a_snapshot_has_the_node_and_those_it_is_connected_with():
    post = settled(streams(QUIET))
    post.snapshots.gather(post.system.ids[0])
    post.wait(1.0)
    (first, *_) = [one for one in post.taken if one.node == 0]
    assert set(first.members) == {0, 1, 2}
    assert {record.number for record in first.members.values()} == {first.number}
    assert post.snapshots.latest(post.system.ids[0]) is not None


def test_what_has_not_changed_is_not_sent_again():
    post = settled(streams(QUIET))
    for _ in range(2):
        post.letters.clear()
        post.change(0)
        post.wait(1.0)
    answers = post.sent(Reply)
    assert len([one for one in answers if not one.told]) == 4
    (one,), (other,) = [one.told for one in answers if one.told]
    assert one.is_difference
    assert one.body == other.body


def test_a_message_with_a_greater_number_comes_after_a_checkpoint_of_that_number():
    post = settled(streams(QUIET))
    numbers = post.send(0, 1, WORD)
    keeper = post.snapshots._keepers[post.system.ids[1]]
    post.lives[1].node.seen = 77
    post.take(0, 1, {**numbers, 1: 50})
    kept = keeper._log.first_from(50)
    assert kept is not None
    assert kept.record.channels[0].received == 1
    assert post.snapshots.record_now(post.lives[1]).channels[0].received == 2
    assert keeper.counts.forced > 0


def test_who_does_not_answer_is_absent_after_two_seconds():
    post = settled(streams(QUIET))
    post.keep = lambda src, dst, letter: src != 2
    post.change(0)
    post.wait(1.9)
    assert [one for one in post.taken if one.node == 0] == []
    post.wait(0.2)
    assert set(post.taken[-1].members) == {0, 1} or set(post.taken[0].members) == {0, 1}


def test_who_is_lost_while_it_is_asked_is_absent_at_once():
    post = settled(streams(QUIET))
    post.keep = lambda src, dst, letter: src != 2
    post.change(0)
    post.wait(0.2)
    assert [one for one in post.taken if one.node == 0] == []
    post.fail(0, 2)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0, 1}


def test_answers_that_come_too_late_are_counted_and_used_for_nothing():
    post = settled(streams(QUIET))
    post.delay = lambda src, dst, letter: 3.0 if src == 2 else 0.05
    post.change(0)
    post.wait(4.0)
    assert all(2 not in one.members for one in post.taken if one.node == 0)
    assert post.snapshots.counts[post.system.ids[0]].late == 1


def test_whose_checkpoint_is_gone_is_asked_again_with_a_greater_number():
    post = settled(streams(GatherOptions(interval=1000.0, kept=1)))
    post.delay = lambda src, dst, letter: 0.4 if isinstance(letter, Request) else 0.05
    post.change(0)
    for number in range(100, 110):  # which forces more than one node keeps
        post.take(0, 1, {1: number})
    post.wait(2.0)
    assert post.sent(Gone)
    taken = [one for one in post.taken if one.node == 0]
    assert any(set(one.members) == {0, 1, 2} and one.number >= 100 for one in taken)


def test_who_is_above_its_bandwidth_says_so_and_is_left_out():
    post = settled(streams(QUIET))
    keeper = post.snapshots._keepers[post.system.ids[1]]
    keeper._allowance.spend(2_600, post.now)
    post.change(0)
    post.wait(0.3)
    assert post.sent(Busy)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0, 2}
    assert keeper.counts.busy == 1


@pytest.mark.parametrize("bandwidth", [60.0, 300.0, 1_000.0])
def test_a_limit_of_bandwidth_is_kept(bandwidth: float):
    post = streams(GatherOptions(bandwidth=bandwidth))
    for _ in range(600):
        post.change(0)
        post.change(1)
        post.wait(0.5)
    for node in post.system.ids:
        sent = 8 * post.snapshots.counts[node].sent
        assert sent <= 1.05 * bandwidth * post.now
        assert sent >= 0.5 * bandwidth * post.now
    assert post.taken


def test_a_share_of_what_is_sent_is_kept():
    post = streams(GatherOptions(share=0.5))
    for _ in range(100):
        post.change(0)
        post.wait(1.0)
    before = len(post.letters)
    assert before < 20
    said = sum(size_of(WORD) for _ in range(100) if post.send(0, 1, WORD))
    for _ in range(100):
        post.change(0)
        post.wait(1.0)
    sent = post.snapshots.counts[post.system.ids[0]].sent
    assert 0.4 * said < sent < 0.5 * said + 500


def test_what_is_no_letter_is_counted():
    post = settled(streams(QUIET))
    post.snapshots.heard(post.lives[0], post.system.ids[1], b"\xc1")
    post.snapshots.heard(post.lives[0], post.system.ids[1], b"\x03\x07\x63")
    assert post.snapshots.counts[post.system.ids[0]].malformed == 2


def test_a_checkpoint_that_is_none_makes_its_node_absent():
    post = settled(streams(QUIET))
    post.keep = lambda src, dst, letter: src != 1
    post.change(0)
    (request,) = [one for s, d, one in post.letters if (s, d) == (0, 1)]
    assert isinstance(request, Request)
    post.wait(0.2)
    bad = Reply(request.gather, 0, (ToldCheckpoint(1, 0, False, b"nonsense"),))
    post.snapshots.heard(post.lives[0], post.system.ids[1], write(bad))
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0, 2}
    assert post.snapshots.counts[post.system.ids[0]].malformed == 1


def test_a_number_that_is_far_ahead_is_caught_up_with_in_steps():
    """Else one letter would use up all numbers, and nobody could gather any more; or of two
    nodes that were told other lies, one could ask the other nothing for good.
    """
    post = row(2, wl.datagrams())
    me, peer = post.system.ids
    before = post.snapshots.number(me)
    for letter in (Received((1 << 48) - 1, 0, 0), Received(before + 5, 0, 0)):
        post.snapshots.heard(post.lives[0], peer, write(letter))
    assert post.snapshots.number(me) == before + (1 << 32)
    post.snapshots.noticed(post.lives[0], peer, 1, {1: (1 << 48) - 1, 3: 1})
    assert post.snapshots.number(me) == before + (2 << 32)


@pytest.mark.parametrize("number", [(1 << 47) + 1, (1 << 48) - 1, (1 << 53) - 1])
@pytest.mark.parametrize("which", [2, 3, 4, 5])
@pytest.mark.parametrize("make", [streams, datagrams])
def test_what_a_liar_says_of_its_messages_leaves_checkpoints_of_others_readable(
    make: Any, which: int, number: int
):
    post = settled(make(QUIET))
    beside, liar = post.lives[0], post.system.ids[1]
    for sent in (1, 2):
        lie = {1: 0, 3: sent, which: number}
        post.snapshots.noticed(beside, liar, 1, lie)
    record = post.snapshots.record_now(beside)
    spelling = RecordBytes(post.system, Codec(post.system))
    read = spelling.unpack(spelling.pack(record, 0), 0, record.number)
    assert read.channels.keys() == record.channels.keys()


def test_a_snapshot_in_which_somebody_received_what_nobody_sent_is_refused():
    post = settled(streams(QUIET))
    numbers = post.send(0, 1, WORD)
    post.take(0, 1, {**numbers, 3: 99})
    post.change(2)
    post.wait(0.3)
    assert [one for one in post.taken if one.node == 2] == []
    assert post.snapshots.counts[post.system.ids[2]].orphans == 1


def test_each_interval_brings_a_snapshot_and_one_number_for_all():
    post = streams(GatherOptions(interval=10.0))
    post.wait(100.0)
    first = post.snapshots._keepers[post.system.ids[0]]._log.number
    post.taken.clear()
    post.wait(200.0)
    last = post.snapshots._keepers[post.system.ids[0]]._log.number
    assert 55 <= len(post.taken) <= 65  # of three nodes
    assert 18 <= last - first <= 42  # and not sixty


def test_changes_bring_one_each_half_second_at_most():
    post = settled(streams(QUIET))
    for _ in range(100):
        post.change(0)
        post.wait(0.05)
    assert 8 <= len([one for one in post.taken if one.node == 0]) <= 11


def test_a_change_at_a_neighbour_brings_one_as_well():
    post = settled(streams(QUIET))
    post.change(0)
    post.wait(1.0)
    assert {one.node for one in post.taken} == {0, 1, 2}
    assert len({one.number for one in post.taken}) == 1


def test_only_fields_that_are_named_call_for_one():
    post = settled(streams(GatherOptions(interval=1000.0, fields=frozenset({"said"}))))
    post.change(0)
    post.wait(1.0)
    assert post.taken == []
    post.lives[0].node.said += 1
    post.happen(0)
    post.wait(1.0)
    assert post.taken


def test_a_snapshot_is_stale_after_two_intervals():
    post = settled(streams(GatherOptions(interval=4.0)))
    post.keep = lambda src, dst, letter: False
    post.lives[0].is_up = False  # its clock stands still
    me = post.system.ids[0]
    assert post.snapshots.latest(me) is not None
    post.now += 8.1
    assert post.snapshots.latest(me) is None


def test_nodes_that_gather_none_answer():
    system = chatter.system(wl.streams(), 3)
    post = Post(system, GatherOptions(interval=4.0), nodes=[system.ids[0]])
    post.wait(30.0)
    assert {one.node for one in post.taken} == {0}
    assert set(post.taken[-1].members) == {0, 1, 2}


def test_a_reset_ends_a_gather_and_its_snapshots():
    post = settled(streams(QUIET))
    post.change(0)
    post.reset(0)
    assert post.snapshots.latest(post.system.ids[0]) is None
    post.wait(3.0)
    (taken, *_) = [one for one in post.taken if one.node == 0]
    assert taken.members[0].life == 2


# ---------------------------------------------------------------------------- channels


def test_numbers_say_what_was_received_and_on_which_connection():
    post = settled(streams(QUIET))
    assert post.send(0, 1, WORD)[3] == 2
    post.take(0, 1, post.send(0, 1, WORD))
    assert post.send(1, 0, WORD)[2] == 3
    post.fail(0, 1)
    assert post.send(0, 1, WORD)[4] == 1
    post.reset(0)
    assert post.send(0, 1, WORD) | {1: 0} == {1: 0, 3: 1}


def test_what_was_sent_is_kept_until_it_is_acknowledged():
    post = settled(streams(QUIET))
    for _ in range(3):
        post.take(0, 1, post.send(0, 1, WORD))
    tail = post.snapshots.record_now(post.lives[0]).channels[1].tail
    assert [one.number for one in tail] == [2, 3, 4]
    post.take(1, 0, post.send(1, 0, WORD))
    assert post.snapshots.record_now(post.lives[0]).channels[1].tail == ()


def test_who_only_receives_says_so_now_and_then():
    post = settled(streams(QUIET))
    for _ in range(MOST_UNTOLD + 1):
        post.take(0, 1, post.send(0, 1, WORD))
    post.wait(0.1)
    assert len(post.sent(Received)) == 1
    assert post.snapshots.record_now(post.lives[0]).channels[1].tail == ()


def test_what_nobody_acknowledges_is_bounded():
    post = settled(streams(QUIET))
    for _ in range(MOST_TAIL + 5):
        post.send(0, 1, WORD)
    tail = post.snapshots.record_now(post.lives[0]).channels[1].tail
    assert len(tail) == MOST_TAIL


def test_a_datagram_is_under_way_for_half_a_minute_at_most():
    post = settled(datagrams(QUIET))
    post.send(0, 1, WORD)
    post.wait(29.0)
    assert post.snapshots.record_now(post.lives[0]).channels[1].tail
    post.wait(2.0)
    assert post.snapshots.record_now(post.lives[0]).channels[1].tail == ()


def test_datagrams_may_overtake_each_other_and_be_lost():
    post = settled(datagrams(QUIET))
    first, second, third = (post.send(0, 1, WORD) for _ in range(3))
    post.take(0, 1, third)
    post.take(0, 1, first)
    post.take(0, 1, first)  # a copy
    channel = post.snapshots.record_now(post.lives[1]).channels[0]
    assert (channel.received, channel.others) == (1, (3,))
    post.wait(31.0)
    channel = post.snapshots.record_now(post.lives[1]).channels[0]
    assert (channel.received, channel.others) == (3, ())
    post.take(0, 1, second)
    assert post.snapshots.record_now(post.lives[1]).channels[0].received == 3


def test_numbers_that_were_received_early_are_bounded():
    post = settled(datagrams(QUIET))
    for _ in range(1000):
        post.send(0, 1, WORD)
        post.take(0, 1, post.send(0, 1, WORD))
    assert len(post.snapshots.record_now(post.lives[1]).channels[0].others) <= 64


def test_peers_of_datagrams_are_neighbours_for_half_a_minute():
    post = settled(datagrams(QUIET))
    post.send(0, 1, WORD)
    post.change(0)
    post.wait(0.5)
    (taken,) = [one for one in post.taken if one.node == 0]
    assert set(taken.members) == {0, 1}
    post.wait(40.0)
    post.taken.clear()
    post.change(0)
    assert set(post.taken[0].members) == {0}
