"""Tests of what follows from a handler: all of it, or nothing and its node ends."""

import asyncio
from pathlib import Path

import pytest

import worldline as wl
from worldline.runs.recording.replay import replay_recording

A, B = wl.ids("a", "b")
SMALL, LARGE = b"x", b"x" * 70_000


@wl.message
class Parcel:
    content: bytes


@wl.message
class Wish:
    pass


@wl.node
class Post:
    after: int = 1_000
    sent: int = wl.durable(default=0)
    starts: int = wl.durable(default=0)
    got: int = 0

    @wl.start
    def begin(self, ctx):
        self.starts += 1
        if self.starts > self.after:
            self.post(ctx)

    @wl.call
    def post(self, ctx, last: bytes = LARGE):
        self.sent += 2
        ctx.send(B, Parcel(SMALL))
        ctx.send(B, Parcel(last))

    @wl.call
    def plan(self, ctx):
        ctx.set_timer(Post.late, after=0.01)

    @wl.timer
    def late(self, ctx):
        self.post(ctx)

    @wl.call
    def wish(self, ctx):
        ctx.send(A, Wish())

    @wl.on(Wish)
    def wished(self, ctx, src, msg):
        self.post(ctx)

    @wl.on(Parcel)
    def take(self, ctx, src, msg):
        self.got += 1


@wl.safety
def what_arrives_was_sent(view):
    return view[B].got <= view[A].sent


def posts(after: int = 1_000) -> wl.System:
    nodes = {A: Post(after), B: Post()}
    return wl.System(
        nodes, name="posts", properties=[what_arrives_was_sent], open_workload=True
    )


def run(folder: Path, event: str, after: int) -> None:
    """Run a system until a message cannot be carried."""

    async def main() -> None:
        async with asyncio.timeout(20), wl.Host(posts(after), record=folder) as host:
            await host.call(A, Post.post, SMALL)
            await host.until(B, lambda b: b.got == 2)
            if event == "restart":
                host.crash(A)
                await host.restart(A)
            else:
                await host.call(B if event == "wish" else A, getattr(Post, event))
            await host.wait()

    with pytest.raises(wl.WorldlineError) as failed:
        asyncio.run(main())
    error: BaseException | None = failed.value
    if event == "post":  # who called is told no more than that
        assert "a has stopped" in str(error)
        error = failed.value.__cause__
    assert isinstance(error, wl.ModelError)
    assert "a datagram holds 65,000" in str(error)


@pytest.mark.parametrize("event", ["post", "plan", "wish", "restart"])
def test_nothing_follows_from_an_event_of_which_a_message_cannot_be_carried(
    tmp_path: Path, event: str
):
    after = 1 if event == "restart" else 1_000
    run(tmp_path / "run", event, after)
    found = replay_recording(tmp_path / "run", posts(after), out=tmp_path / "run.wl")
    assert found.divergence is None
    assert found.network.as_declared
    assert not found.failures
    rows = {row.name: row.verdict for row in found.properties}
    assert rows == {"what_arrives_was_sent": wl.Verdict.UNKNOWN}
    assert found.trace is not None
    again = wl.replay(found.trace, posts(after))
    assert again.exit_code == 0


@pytest.mark.parametrize(
    ("order", "said"),
    [((B, A), "(no step but starts)"), ((A, B), "no trace: no step was kept")],
)
def test_a_start_of_which_a_message_cannot_be_carried_ends_all_nodes(
    tmp_path: Path, order: tuple[wl.NodeId, ...], said: str
):
    made = posts(0)
    made = made.replace(nodes={node: Post(0 if node == A else 9) for node in order})

    async def main() -> None:
        async with wl.Host(made, record=tmp_path / "run") as host:
            await host.wait()

    with pytest.raises(wl.ModelError, match="a datagram holds 65,000"):
        asyncio.run(main())
    found = replay_recording(tmp_path / "run", made, out=tmp_path / "run.wl")
    assert found.divergence is None
    assert said in str(found)
