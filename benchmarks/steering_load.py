"""What stands beside two nodes that play ball, measured on the processor of their host.

Hosts of one process take turns, a stretch of messages each: one with nothing beside it, and
others with what is compared. Sockets are real, and on loopback. The predictor's process is
this file, too (``python -m benchmarks.steering_load SOCKET``): of each snapshot it predicts
what may follow, as long as it is asked, which here is without end.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.spread import Row, by_turns, load

import worldline as wl
from worldline.loading.loader import load as load_system
from worldline.search.predicting.options import PredictOptions
from worldline.search.predicting.predictor import Predictor
from worldline.steer.process.child import serve
from worldline.steer.process.predictor import PredictorProcess
from worldline.steer.process.questions import PredictorQuestion, QuestionCodec
from worldline.steer.process.works import AnswersQuestions
from worldline.steer.snapshots.assembling import begun_from
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.options import GatherOptions

A, B = wl.ids("a", "b")
BALLS = 16
STRETCH = 6_000
"""Messages in a stretch."""

MODES = ("predict", "check", "steer", "check-quiet", "predict-apart", "check-apart")
CASES = ("nothing", "hooks", "snapshots", "predictor", *MODES)
STATES = 3_000


@wl.message
class Ball:
    """Goes on so many times."""

    left: int


@wl.node
class Player:
    """Plays with another."""

    other: wl.NodeId
    hits: int = 0
    dropped: int = 0
    served: int = 0

    @wl.call
    def serve(self, ctx: wl.Context, left: int) -> None:
        self.served += BALLS
        for _ in range(BALLS):
            ctx.send(self.other, Ball(left))

    @wl.on(Ball)
    def hit(self, ctx: wl.Context, src: wl.NodeId, msg: Ball) -> None:
        self.hits += 1
        if msg.left:
            ctx.send(src, Ball(msg.left - 1))
        else:
            self.dropped += 1


@wl.safety
def hits_are_counted(view: wl.View) -> bool:
    """Hold always, and read a field that each message writes."""
    return view.for_each_node(lambda view, node: view[node].hits >= view[node].dropped)


@wl.safety
def few_are_dropped(view: wl.View) -> bool:
    """Hold always, and read a field that the last message of a stretch writes alone."""
    return view.for_each_node(lambda view, node: view[node].dropped >= 0)


@wl.safety
def none_is_taken_back(view: wl.View) -> bool:
    """Hold always, and read a field that no message writes, as is plain from the code."""
    return view.for_each_node(lambda view, node: view[node].served >= 0)


PROPERTIES = {
    "": hits_are_counted,
    "quiet": few_are_dropped,
    "apart": none_is_taken_back,
}
"""What is to stay true, by what follows the name of a mode in that of a case."""


def system(network: str = "datagrams", reads: str = "") -> wl.System:
    """Return the system; datagrams, since nothing of these is lost here in fact.

    Parameters
    ----------
    reads
        Which property it has, by its name in `PROPERTIES`.
    """
    made = wl.datagrams(loss=False) if network == "datagrams" else wl.streams()
    nodes = {A: Player(B), B: Player(A)}
    prop = PROPERTIES[reads]
    return wl.System(nodes, network=made, properties=[prop], name="players")


def predicting(made: wl.System, options: bytes) -> AnswersQuestions:
    """Return what predicts from snapshots."""
    codec = QuestionCodec(made)
    predictor = Predictor(made, PredictOptions(max_states=STATES, traces=False))

    def answers(question: bytes) -> Iterator[bytes]:
        snapshot = codec.decode(question).snapshot
        assert snapshot is not None
        report = predictor.predict(begun_from(made, snapshot))
        yield str(report.states).encode()

    return answers


def _say(line: str) -> None:
    print(line, file=sys.stderr)


class Beside:
    """A host with something beside it."""

    def __init__(self, host: wl.Host, predictor: PredictorProcess | None) -> None:
        self.host, self.predictor = host, predictor
        self.is_playing = False
        self._dropped = 0

    async def stretch(self) -> tuple[float, float]:
        """Let a stretch of messages be sent; return CPU and wall seconds for each."""
        self.is_playing = True
        self._dropped = dropped = self._dropped + BALLS
        cpu, wall = time.process_time(), time.perf_counter()
        await self.host.call(A, Player.serve, STRETCH // BALLS - 1)
        last = B if (STRETCH // BALLS) % 2 else A
        await self.host.until(last, lambda node: node.dropped == dropped, 60)
        took = time.process_time() - cpu, time.perf_counter() - wall
        self.is_playing = False
        if (one := self.predictor) is not None:
            while one.counts.asked > one.counts.answered + one.counts.failed:
                await asyncio.sleep(0.01)
        return took[0] / STRETCH, took[1] / STRETCH

    async def keep_busy(self, made: wl.System, snapshots: Snapshots) -> None:
        """Ask the predictor again whenever it has answered, while there is play."""
        codec, one = QuestionCodec(made), self.predictor
        assert one is not None
        for number in itertools.count(1):
            while not self.is_playing or (latest := snapshots.latest(A)) is None:
                await asyncio.sleep(0.005)
            question = codec.encode(PredictorQuestion(latest.node, latest))
            one.ask(A, question, lambda part: None)
            while one.counts.answered < number:
                await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def beside(made: wl.System, case: str) -> AsyncIterator[Beside]:
    """Have a host with what a case says beside it."""
    snapshots = Snapshots(made, GatherOptions(bandwidth=1e6))
    async with contextlib.AsyncExitStack() as stack:
        companions: Sequence[wl.Companion] = ()
        predictor = None
        if case in MODES:
            steered = wl.steered(made, mode=case.partition("-")[0], say=_say)
            companions = await stack.enter_async_context(steered)
        elif case == "hooks":
            companions = [wl.Companion()]
        elif case != "nothing":
            companions = [snapshots]
        host = await stack.enter_async_context(wl.Host(made, companions=companions))
        if case == "predictor":
            module = "benchmarks.steering_load"
            predictor = PredictorProcess(made, "predict", say=_say, module=module)
            await stack.enter_async_context(predictor)
        one = Beside(host, predictor)
        if predictor is not None:
            busy = asyncio.ensure_future(one.keep_busy(made, snapshots))
            stack.callback(busy.cancel)
        yield one


def measure(case: str, network: str, pairs: int) -> Row:
    """Let a bare host and one of a case take turns; return what each pair took.

    Beside the bare one there is nothing, but for the predictor, which needs snapshots.
    """
    return asyncio.run(_measure(case, network, pairs))


async def _measure(case: str, network: str, pairs: int) -> Row:
    given = {"network": network, "reads": case.partition("-")[2]}
    made = load_system(f"{Path(__file__).resolve()}:system", given)
    base = "snapshots" if case == "predictor" else "nothing"
    async with beside(made, base) as bare, beside(made, case) as other:
        took = await by_turns(pairs, bare.stretch, other.stretch)
        asked = None if other.predictor is None else other.predictor.counts.to_json()
    return {
        "bare_us": [1e6 * bare[0] for bare, _ in took],
        "us": [1e6 * other[0] for _, other in took],
        "cpu": [other[0] / bare[0] for bare, other in took],
        "wall": [other[1] / bare[1] for bare, other in took],
        "predictor": asked,
        "load": load(),
    }


if __name__ == "__main__":
    serve(int(sys.argv[1]), {"predict": predicting})
