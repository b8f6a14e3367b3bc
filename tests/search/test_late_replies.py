"""Clients that give operations up: what of them is reported to `wl.histories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import worldline as wl
from worldline.model.histories.histories import Read, linearizable, register

CLIENT, SERVER = wl.ids("client", "server")


@wl.message
class Get:
    attempt: int


@wl.message
class Got:
    attempt: int
    value: int


@wl.node
class Impatient:
    """Reads, gives up after a second, and takes no reply to what it gave up."""

    attempt: int = 0

    @wl.start
    def ask(self, ctx: wl.Context) -> None:
        self.attempt += 1
        ctx.send(SERVER, Get(self.attempt))
        ctx.set_timer(self.give_up, after=1)

    @wl.timer
    def give_up(self, ctx: wl.Context) -> None:
        if self.attempt < 3:
            self.ask(ctx)

    @wl.on(Got, when=lambda self, src, msg: msg.attempt == self.attempt)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Got) -> None:
        ctx.cancel_timer(self.give_up)


@wl.node
class Server:
    @wl.on(Get)
    def answer(self, ctx: wl.Context, src: wl.NodeId, msg: Get) -> None:
        ctx.send(src, Got(msg.attempt, 0))


def system(client: Callable[[wl.NodeId | None, int], Any]) -> wl.System:
    """Return a system whose operations belong to what `client` gives."""

    def invoke(step: wl.Step) -> list[Any]:
        gets = [sent for sent in step.sends if isinstance(sent.message, Get)]
        return [(client(sent.src, sent.message.attempt), Read()) for sent in gets]

    def respond(step: wl.Step) -> list[Any] | None:
        got = step.event.payload
        if not step.handled or not isinstance(got, Got):
            return None
        return [(client(step.node, got.attempt), got.value)]

    reads = linearizable(register(0), invoke=invoke, respond=respond, name="reads")

    @wl.safety
    def one_register(view: wl.View) -> bool:
        return reads.holds(view)

    return wl.System(
        {CLIENT: Impatient(), SERVER: Server()},
        observers=[reads],
        properties=[one_register],
    )


def test_a_client_that_goes_on_while_it_waits_is_told_what_to_report():
    with pytest.raises(wl.ModelError) as caught:
        wl.check(system(lambda node, attempt: node), traces=False)
    assert caught.value.what == (
        "observer 'reads': client client invoked Read() with its Read() in flight"
    )
    assert caught.value.remedy == (
        "a retry is the same operation: report it once. A client that gives up and goes "
        "on leaves an operation that may yet take effect: report what it does next as "
        "another client's, such as (client, 2). In one step responses precede invocations"
    )


def test_a_client_of_its_own_for_each_attempt_leaves_those_given_up_open():
    report = wl.check(system(lambda node, attempt: (node, attempt)), traces=False)
    assert report.verdict is wl.Verdict.HOLDS
