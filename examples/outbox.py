"""A saga over datagrams: an order is paid for and packed, or neither.

A shop writes an order down and, in the same step, the messages that follow from it: its
outbox. A relay sends the oldest one until it is answered, so each arrives at least once. The
services remember what they have done, so that a message that arrives again does nothing
anew. If the stock has run out, the saga goes back: the money is returned.
"""

from typing import Literal, TypeAlias

import worldline as wl

Bug: TypeAlias = Literal[
    "none",
    "outbox-in-memory",  # a shop that starts again has forgotten what it has to send
    "no-inbox",  # services do anew what arrives again
    "inbox-in-memory",  # services that start again have forgotten what they have done
    "any-answer",  # any answer ends the oldest message, whichever it is of
    "no-refund",  # an order that cannot be packed is cancelled, the money is kept
]
Action: TypeAlias = Literal["charge", "pack", "refund"]
Key: TypeAlias = tuple[str, Action]
"""What is done for which order: it is done once."""

SHOP, BANK, STOCK = wl.ids("shop", "bank", "stock")


@wl.message
class Do:
    key: Key


@wl.message
class Done:
    key: Key
    ok: bool


@wl.node
class Shop:
    bug: Bug
    orders: dict[str, str] = wl.durable(default_factory=dict)
    outbox: list[Key] = wl.durable(default_factory=list)

    @wl.start
    def recover(self, ctx: wl.Context) -> None:
        if self.bug == "outbox-in-memory":
            self.outbox = []
        self.relay(ctx)

    @wl.call
    def place(self, ctx: wl.Context, order: str) -> None:
        self.orders[order] = "placed"
        self.put(ctx, (order, "charge"))

    @wl.on(Done)
    def done(self, ctx: wl.Context, src: wl.NodeId, msg: Done) -> None:
        order, action = msg.key
        if self.bug == "any-answer" and self.outbox:
            self.outbox.pop(0)
        elif msg.key in self.outbox:
            self.outbox.remove(msg.key)
        else:
            return  # it is the answer to a message that was sent twice
        if action == "charge":
            self.put(ctx, (order, "pack"))
        elif action == "refund":
            self.orders[order] = "cancelled"
        elif msg.ok:
            self.orders[order] = "sent"
        elif self.bug == "no-refund":
            self.orders[order] = "cancelled"
        else:
            self.put(ctx, (order, "refund"))

    def put(self, ctx: wl.Context, key: Key) -> None:
        self.outbox.append(key)
        self.relay(ctx)

    @wl.timer
    def relay(self, ctx: wl.Context) -> None:
        if self.outbox:
            key = self.outbox[0]
            ctx.send(STOCK if key[1] == "pack" else BANK, Do(key))
            ctx.set_timer(Shop.relay, after=1.0)


@wl.node
class Service:
    bug: Bug
    inbox: dict[Key, bool] = wl.durable(default_factory=dict)

    @wl.start
    def recover(self, ctx: wl.Context) -> None:
        if self.bug == "inbox-in-memory":
            self.inbox = {}

    @wl.on(Do)
    def do(self, ctx: wl.Context, src: wl.NodeId, msg: Do) -> None:
        ok = self.inbox.get(msg.key)
        if ok is None or self.bug == "no-inbox":
            ok = self.inbox[msg.key] = self.perform(msg.key)
        ctx.send(src, Done(msg.key, ok))

    def perform(self, key: Key) -> bool:
        raise NotImplementedError


@wl.node
class Bank(Service):
    balance: int = wl.durable(default=0)

    def perform(self, key: Key) -> bool:
        self.balance += 1 if key[1] == "charge" else -1
        return True


@wl.node
class Stock(Service):
    left: int = wl.durable(default=1)
    packed: int = wl.durable(default=0)

    def perform(self, key: Key) -> bool:
        if not self.left:
            return False
        self.left, self.packed = self.left - 1, self.packed + 1
        return True


@wl.safety
def nothing_is_done_twice(view: wl.View) -> None:
    """No more is paid than there are orders, and no more is packed than there was."""
    orders, balance = view[SHOP].orders, view[BANK].balance
    assert 0 <= balance <= len(orders), f"{balance} paid of {len(orders)}"
    assert view[STOCK].packed <= len(orders), "an order is packed twice"


@wl.safety
def the_books_balance_in_the_end(view: wl.View) -> None:
    """When there is nothing left to do, what is paid is packed, and orders know it."""
    if view.messages() or view.timers(SHOP):
        return
    orders = view[SHOP].orders
    assert set(orders.values()) <= {"sent", "cancelled"}, f"orders are left: {orders}"
    sent = list(orders.values()).count("sent")
    paid, packed = view[BANK].balance, view[STOCK].packed
    assert paid == packed == sent, f"{paid} paid, {packed} packed, {sent} sent"


@wl.sometimes
def an_order_is_sent_and_another_cancelled(view: wl.View) -> bool:
    return {"sent", "cancelled"} <= set(view[SHOP].orders.values())


def system(bug: Bug = "none", orders: int = 2, under_way: int = 3) -> wl.System:
    """Return a shop with more orders than it has goods; datagrams are lost and doubled.

    The relay sends again and again, so there is no end to messages; looked at are the runs
    in which no more than some are under way.
    """
    for name, number in (("orders", orders), ("under_way", under_way)):
        if number < 0:
            raise ValueError(f"{name}={number}: say at least 0")
    return wl.System(
        {SHOP: Shop(bug), BANK: Bank(bug), STOCK: Stock(bug)},
        name="outbox",
        workload=[
            wl.script(
                SHOP, [wl.invoke(Shop.place, f"order{n}") for n in range(1, orders + 1)]
            )
        ],
        faults=wl.Faults(drops=1, duplicates=1, resets=1),
        properties=[
            nothing_is_done_twice,
            the_books_balance_in_the_end,
            an_order_is_sent_and_another_cancelled,
        ],
        assume=lambda view: len(view.messages()) <= under_way,
    )
