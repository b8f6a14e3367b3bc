"""Two systems of one process, whose nodes have equal names in another order."""

from __future__ import annotations

import worldline as wl

(HUB,) = wl.ids("hub")
"""Made once, for every system; its workers are made anew."""


@wl.message
class Hello:
    """I am here."""


@wl.node
class Hub:
    """Knows who is here, itself first; the greatest leads."""

    here: tuple[wl.NodeId, ...] = (HUB,)
    leader: wl.NodeId | None = None

    @wl.on(Hello)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        self.here = (HUB, *sorted({*self.here[1:], src}, key=str))
        self.leader = max(self.here)


@wl.node
class Worker:
    """Says that it is here."""

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.send(HUB, Hello())


def made(names: str) -> wl.System:
    workers = wl.ids(*names)

    @wl.safety
    def the_last_leads(view: wl.View) -> bool:
        here = [workers.index(one) for one in view[HUB].here[1:]]
        return not here or view[HUB].leader is workers[max(here)]

    return wl.System(
        {HUB: Hub(), **{worker: Worker() for worker in workers}},
        network=wl.datagrams(loss=False, duplication=False),
        properties=[the_last_leads],
    )


def test_a_system_has_its_own_ids_whatever_ran_before() -> None:
    for names in ("abc", "cba", "bca"):
        report = wl.check(made(names), traces=False)
        assert report.verdict is wl.Verdict.HOLDS, report
