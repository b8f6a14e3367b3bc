"""Words between two nodes, of which a third bad one is one too many; loaded as a target."""

import worldline as wl

A, B = wl.ids("a", "b")


@wl.message
class Word:
    is_bad: bool


@wl.node
class Talker:
    other: wl.NodeId
    good: int = 0
    bad: int = 0

    @wl.call
    def say(self, ctx: wl.Context, is_bad: bool) -> None:
        ctx.send(self.other, Word(is_bad))

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        if msg.is_bad:
            self.bad += 1
        else:
            self.good += 1


@wl.safety
def few_words_are_bad(view: wl.View) -> bool:
    return view.for_each_node(hears_few)


def hears_few(view: wl.View, node: wl.NodeId) -> bool:
    bad: int = view[node].bad
    return bad < 3


@wl.safety
def nobody_is_late(view: wl.View) -> bool:
    return view.time < 60


@wl.safety
def few_words_are_heard(view: wl.View) -> bool:
    return view.for_each_node(hears_little)


def hears_little(view: wl.View, node: wl.NodeId) -> bool:
    return bool(view[node].bad + view[node].good < 3)


def counted() -> wl.System:
    made = system()
    return made.replace(properties=[few_words_are_heard, *made.properties])


def timed() -> wl.System:
    made = system()
    return made.replace(properties=[nobody_is_late, *made.properties])


def system() -> wl.System:
    return wl.System(
        {A: Talker(B), B: Talker(A)},
        network=wl.datagrams(),
        workload=[
            wl.whenever(Talker.say, nodes=[B], is_bad=wl.one_of(True, False)),
        ],
        properties=[few_words_are_bad],
        name="words",
    )
