"""The replicated log on real sockets, under load: what its hosts do, in one process or three.

What is measured begins when the load has run for a while. In three processes this one
has the primary and whoever puts; the two others have a backup each, and are told when to
look at their clocks.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import worldline as wl
from worldline.deploy.disk_sync import DiskSync

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.spread import Row, load, quantile

from benchmarks import replicated_log

PRIMARY, *BACKUPS = wl.ids("r1", "r2", "r3")

WARM_S = 0.5
"""Seconds before what is measured."""

SYNCS = 60
"""How often the disk is measured before a load."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A load, and where it runs.

    Attributes
    ----------
    network
        ``streams`` or ``datagrams``.
    apart
        Whether each node has a process of its own.
    loop
        ``asyncio`` or ``uvloop``.
    sync
        Of the journals; None for no journals.
    durable
        Whether the nodes have durable fields.
    clients
        How many put, each as soon as its last put is answered.
    rate
        Puts a second instead, whether answered or not; what waits for the commits is asked
        after each event of the primary.
    window
        Entries that may wait for a majority, before puts wait themselves.
    seconds
        That are measured.
    """

    network: str
    apart: bool = False
    loop: str = "asyncio"
    sync: str | None = None
    durable: bool = False
    clients: int = 50
    rate: int = 0
    window: int = 64
    seconds: float = 1.5

    def system(self) -> wl.System:
        """Return the system."""
        return replicated_log.system(
            network=self.network, durable=self.durable, window=self.window
        )

    def host(self, nodes: Sequence[wl.NodeId], where: Row) -> wl.Host:
        """Return the host of some nodes."""
        system = self.system()
        addresses = {wl.NodeId(name): tuple(at) for name, at in where["nodes"].items()}
        return wl.Host(
            system,
            nodes=nodes,
            cluster=wl.Cluster(addresses=addresses, run="benchmark"),
            record=None if self.sync is None else where["folder"],
            sync=self.sync or "never",
        )

    def run(self, work: Any) -> Any:
        """Run a coroutine in the loop that is wanted."""
        if self.loop == "asyncio":
            return asyncio.run(work)
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(work)


def measure(**given: Any) -> Row:
    """Run a load, and say what each process did in the time that is measured."""
    wanted = Load(**given)
    with tempfile.TemporaryDirectory(prefix="worldline-deploy-") as folder:
        addresses = wl.Cluster.on_loopback(wanted.system()).addresses
        nodes = {node.name: at for node, at in addresses.items()}
        where = {"folder": folder, "nodes": nodes}
        with ExitStack() as stack:
            syncs = Syncs(Path(folder)) if wanted.sync == "durable" else None
            others = [
                stack.enter_context(Backup.process(wanted, node, where))
                for node in (BACKUPS if wanted.apart else ())
            ]
            if syncs is not None:
                stack.enter_context(syncs.watched())
            row: Row = wanted.run(_load(wanted, where, others))
            if syncs is not None:
                row |= syncs.measured()
        return row | {"load": load()}


async def _load(wanted: Load, where: Row, others: Sequence[Backup]) -> Row:
    nodes = (PRIMARY,) if wanted.apart else (PRIMARY, *BACKUPS)
    async with wanted.host(nodes, where) as host:
        for other in others:
            other.ready()
        puts = Puts(host, wanted)
        puts.begin()
        await asyncio.sleep(WARM_S)
        before = [_used(host), *[other.used() for other in others]]
        puts.begin_counting()
        await asyncio.sleep(wanted.seconds)
        told = puts.told()
        after = [_used(host), *[other.used() for other in others]]
        await puts.end()
    return told | {
        "processes": [_spent(*pair) for pair in zip(before, after, strict=True)]
    }


def _used(host: wl.Host) -> Row:
    counts = [host.counts(node) for node in host.nodes]
    return {
        "events": sum(one.events for one in counts),
        "bytes": sum(one.journal_bytes for one in counts),
        "cpu": time.process_time(),
        "wall": time.perf_counter(),
        "wanted": _wanted_s(),
    }


def _wanted_s() -> float:
    """Return for how many seconds this thread had a processor, or waited for one."""
    try:
        ran, queued, _ = Path("/proc/thread-self/schedstat").read_text().split()
    except OSError:  # not on Linux
        return time.thread_time()
    return (int(ran) + int(queued)) / 1e9


def _spent(before: Row, after: Row) -> Row:
    spent = {name: after[name] - before[name] for name in before}
    return {
        "events": spent["events"],
        "rate": spent["events"] / spent["wall"],
        "each_us": 1e6 * spent["cpu"] / max(spent["events"], 1),
        "bytes": spent["bytes"] / max(spent["events"], 1),
        "idle": max(0.0, 1 - spent["wanted"] / spent["wall"]),
    }


@final
class Puts:
    """Whoever puts, and what they see."""

    def __init__(self, host: wl.Host, wanted: Load) -> None:
        self._host, self._wanted = host, wanted
        self._values = _endless(replicated_log.VALUES)
        self._tasks: list[asyncio.Task[Any]] = []
        self._under_way: set[asyncio.Task[Any]] = set()
        self._done = self._first = 0
        self._put_at: dict[int, float] = {}
        self._took: list[float] = []
        self._seen: int | None = None
        self._is_over = False

    def begin(self) -> None:
        """Begin to put."""
        many = (
            [self._pace(), self._watch()]
            if self._wanted.rate
            else [self._client() for _ in range(self._wanted.clients)]
        )
        self._tasks = [asyncio.ensure_future(one) for one in many]

    def begin_counting(self) -> None:
        """Forget what came before."""
        self._began, self._done = time.perf_counter(), 0
        self._took.clear()

    def told(self) -> Row:
        """Return what was seen since."""
        said: Row = {"puts": self._done / (time.perf_counter() - self._began)}
        if self._took:
            took = [1e3 * seconds for seconds in self._took]
            shares = {"p50_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99}
            said |= {name: quantile(took, share) for name, share in shares.items()}
            said |= {"commits": len(took)}
        return said

    async def end(self) -> None:
        """End, and raise what went wrong."""
        self._is_over = True
        tasks = [*self._tasks, *self._under_way]
        for task in tasks:
            task.cancel()
        for error in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(error, asyncio.CancelledError | None):
                raise error

    async def _put(self) -> int:
        put = replicated_log.Replica.put
        index: int = await self._host.call(PRIMARY, put, next(self._values))
        self._done += 1
        return index

    async def _client(self) -> None:
        while not self._is_over:
            await self._put()

    async def _timed(self) -> None:
        """Put, and note when: before the answer, which the commit may overtake."""
        began = time.perf_counter()
        index = await self._put()
        committed_at = self._put_at.pop(-index, None)
        if committed_at is None:
            self._put_at[index] = began
        else:
            self._took.append(committed_at - began)

    async def _pace(self) -> None:
        clock, under_way = asyncio.get_running_loop().time, self._under_way
        began, number = clock(), 0
        while not self._is_over:
            # Awake as rarely as can be: each time takes as long as half an event.
            early = began + number / self._wanted.rate - clock()
            if early > 0:
                await asyncio.sleep(early)
                continue
            number += 1
            under_way.add(task := asyncio.ensure_future(self._timed()))
            task.add_done_callback(under_way.discard)

    async def _watch(self) -> None:
        await self._host.until(PRIMARY, self._see)

    def _see(self, state: Any) -> bool:
        """Note the time of each commit since the last event; always false."""
        committed = state.committed
        if self._seen is not None and committed > self._seen:
            now = time.perf_counter()
            for index in range(self._seen + 1, committed + 1):
                began = self._put_at.pop(index, None)
                if began is None:
                    self._put_at[-index] = now
                else:
                    self._took.append(now - began)
        self._seen = committed
        return False


def _endless(values: Sequence[bytes]) -> Iterator[bytes]:
    while True:
        yield from values


# ---------------------------------------------------------------------- other processes


@final
class Backup:
    """A process that has one backup."""

    def __init__(self, process: Any) -> None:
        self._process = process

    @classmethod
    @contextmanager
    def process(cls, wanted: Load, node: wl.NodeId, where: Row) -> Iterator[Backup]:
        """Begin one, and end it."""
        asked = json.dumps({"load": asdict(wanted), "node": node.name, "where": where})
        command = [sys.executable, __file__, asked]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            yield cls(process)
            assert process.stdin is not None
            process.stdin.close()

    def ready(self) -> None:
        """Wait until it listens."""
        self._process.stdout.readline()

    def used(self) -> Row:
        """Return what it has used so far."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        row: Row = json.loads(self._process.stdout.readline())
        return row


async def _serve(wanted: Load, node: wl.NodeId, where: Row) -> None:
    """Have a backup until the other end has had enough."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()

    async with wanted.host([node], where) as host:

        def asked() -> None:
            for _ in range(len(came := os.read(0, 1024))):
                print(json.dumps(_used(host)), flush=True)
            if not came:
                loop.remove_reader(0)
                over.set()

        loop.add_reader(0, asked)
        print(flush=True)
        await over.wait()


# ----------------------------------------------------------------------------- the disk


@final
class Syncs:
    """How long `fdatasync` takes: of a small file when nothing else runs, and in a run."""

    def __init__(self, folder: Path) -> None:
        self._took: list[float] = []
        with (folder / "alone").open("wb", buffering=0) as file:
            for _ in range(SYNCS):
                file.write(bytes(300))
                self._timed(file.fileno())
        self._alone, self._took = self._took, []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch those that journals wait for here."""
        begin, end = DiskSync._begin, DiskSync._end
        began: dict[DiskSync, float] = {}

        def begins(journal: DiskSync) -> None:
            began[journal] = time.perf_counter()
            begin(journal)

        def ends(journal: DiskSync, number: int, error: int) -> None:
            self._took.append(1e3 * (time.perf_counter() - began[journal]))
            end(journal, number, error)

        DiskSync._begin, DiskSync._end = begins, ends  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            DiskSync._begin, DiskSync._end = begin, end  # type: ignore[method-assign]

    def measured(self) -> Row:
        """Return the means: some take as long as the disk does, others nearly nothing."""
        alone, took = statistics.fmean(self._alone), statistics.fmean(self._took)
        return {"alone_ms": alone, "sync_ms": took}

    def _timed(self, fd: Any) -> None:
        began = time.perf_counter()
        os.fdatasync(fd)
        self._took.append(1e3 * (time.perf_counter() - began))


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    given = Load(**told["load"])
    given.run(_serve(given, wl.NodeId(told["node"]), told["where"]))
