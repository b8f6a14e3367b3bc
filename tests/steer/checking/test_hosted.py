"""The check on hosts: messages that write the same fields again and again are all judged."""

from __future__ import annotations

import asyncio
from functools import partial

import worldline as wl
from worldline.steer.steering.companion import Steering

A, B = wl.ids("a", "b")
MOST = 20


@wl.message
class Word:
    pass


@wl.node
class Talker:
    other: wl.NodeId
    heard: int = 0
    said: int = 0

    @wl.call
    def say(self, ctx: wl.Context, count: int) -> None:
        self.said += count
        for _ in range(count):
            ctx.send(self.other, Word())

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard += 1


def has_heard(count: int, node: Talker) -> bool:
    return node.heard == count


@wl.safety
def few_words_are_heard(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].heard <= MOST)


def test_the_first_message_too_many_is_undone_after_many_that_were_kept():
    system = wl.System({A: Talker(B), B: Talker(A)}, properties=[few_words_are_heard])

    async def main() -> None:
        async with (
            asyncio.timeout(20),
            wl.steered(system, mode="check") as companions,
            wl.Host(system, companions=companions) as host,
        ):
            steering = next(one for one in companions if isinstance(one, Steering))
            for heard in range(1, MOST + 1):
                await host.call(B, "say", 1)
                await host.until(A, partial(has_heard, heard), 5)
            before = steering.counts(A)
            assert before.refused == 0
            assert before.checked >= MOST
            for _ in range(3):  # each of which breaks the connection
                await host.call(B, "say", 1)
                await asyncio.sleep(0.05)
            after = steering.counts(A)
            assert after.refused >= 1
            assert after.checked >= before.checked + after.refused
            assert host.state(A).heard == MOST

    asyncio.run(main())
