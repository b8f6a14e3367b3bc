"""The host: some nodes of a system on real sockets, in the event loop of its caller.

async with wl.Host(system, record="run") as host:
await host.call(PRIMARY, Replica.add, 5)
await host.until(BACKUP, lambda backup: backup.total == 5)
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, final

from worldline.deploy.asked import counted_beside, gathered
from worldline.deploy.clock import HostClock, anchored
from worldline.deploy.cluster import Cluster
from worldline.deploy.cluster_file import cluster_for
from worldline.deploy.counts import NodeCounts
from worldline.deploy.deployable import refuse_undeployable
from worldline.deploy.going_on import run_of
from worldline.deploy.host_options import nodes_of, refuse_options, refuse_others
from worldline.deploy.journal_options import JournalOptions, Sync
from worldline.deploy.keeping import NodeFailed, checked_call, stopped, within
from worldline.deploy.names import numbered
from worldline.deploy.outlets import LinkLimits, protection
from worldline.deploy.runner import NodeRunner, Setup
from worldline.deploy.state import StateCopy
from worldline.deploy.stuck import StuckWatch
from worldline.deploy.weather import LinkWeather
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.system import System
from worldline.model.usercode.user_errors import spelt
from worldline.trace.journal.codec import Codec
from worldline.trace.records import Trace
from worldline.worlds.companions import Companion, fitting


@final
class Host:
    """The host of some nodes.

    Everything of it belongs to the event loop in which it was started.

    Parameters
    ----------
    nodes
        Which run here; None for all.
    cluster
        Where all nodes are, or the file that says so; None for ports of its own on this
        machine, if all run here.
    record
        The folder for the journals; None writes none, and durable fields last as long as
        this object.
    seed
        Makes what handlers choose.
    sync, keep, on_log_failure
        Turns that are synced (``durable``, ``always``, ``never``); bytes of a journal that
        are kept, None for all; whether a node goes on whose journal cannot be written.
    on_failure
        What becomes of a node whose handler fails: ``stop``, or ``restart`` after a
        second, then after two, and so on.
    events, contents
        Whether journals have all events, or only what outlives a life; and whether they
        have what large messages say, or their names, with ``ids``.
    every
        Seconds after which a checkpoint of a node is written, from which a replay can
        begin; besides, each file of a journal begins with one.
    weather
        What befalls what the nodes send.
    run
        A name for the run, the same in all hosts of a recording; made if it is None.
    companions
        Stand beside each node.
    limits
        Of connections.
    clock
        Shows the time to handlers; None for that of this machine.
    say
        Takes a line for the watching user; by default they go to standard error.

    Raises
    ------
    UsageError
        If the system cannot be deployed, or not like this; or a companion is for another.
    """

    def __init__(
        self,
        system: System,
        *,
        nodes: Iterable[NodeId] | None = None,
        cluster: Cluster | Path | str | None = None,
        record: Path | str | None = None,
        seed: int = 0,
        sync: Sync = "durable",
        keep: int | None = None,
        on_log_failure: Literal["go-on", "stop"] = "go-on",
        on_failure: Literal["stop", "restart"] = "stop",
        events: bool = True,
        contents: Literal["all", "ids"] = "all",
        every: float | None = None,
        weather: LinkWeather | None = None,
        run: str | None = None,
        companions: Sequence[Companion] = (),
        limits: LinkLimits | None = None,
        clock: HostClock | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        refuse_others(system)
        refuse_options(weather, every=every, on_failure=on_failure)
        refuse_undeployable(system)
        self._system, self._nodes = system, nodes_of(system, nodes)
        self._cluster = cluster_for(system, self._nodes, cluster)
        self._record = None if record is None else Path(record)
        kept: dict[str, Any] = {
            "seed": seed,
            "sync": sync,
            "keep": keep,
            "on_log_failure": on_log_failure,
            "events": events,
            "contents": contents,
        }
        refuse_options(None, **kept)
        self._journal = JournalOptions(run=run or "", **kept)
        self._returns, self._every = on_failure == "restart", every
        self._weather, self._companions = weather, fitting(companions, system)
        self._limits, self._clock = limits or LinkLimits(), clock
        self._say = say or told_to_stderr
        self._runners: dict[NodeId, NodeRunner] = {}
        self._error: BaseException | None = None
        self._all_stopped = asyncio.Event()
        self._is_over = False
        self._watch: StuckWatch | None = None
        self._cpu = 0.0
        self._positions: Callable[[NodeId], Sequence[int]] = lambda node: ()

    # ------------------------------------------------------------------ begin and end

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
        await self.stop()
        if error is None:
            self._raise()
        elif error.__cause__ is None:
            error.__cause__ = self._error  # "has stopped" does not say why

    async def bind(self) -> None:
        """Open journals and sockets; nodes take nothing before `start`.

        Raises
        ------
        UsageError
            If an address or a journal is in use, or nobody knows a host.
        """
        setup = self._setup()
        setup.addresses[:] = await numbered(setup.addresses)
        self._cpu = time.process_time()
        try:
            for node in self._nodes:
                runner = self._runners[node] = NodeRunner(setup, node)
                await runner.bind()
        except BaseException:
            for runner in self._runners.values():
                runner.crash()
            raise

    def driven(self, positions: Callable[[NodeId], Sequence[int]]) -> None:
        """Let companions know how many calls of each script of a node have been made."""
        self._positions = positions

    async def start(self) -> None:
        """Begin the lives of all nodes, in order of declaration."""
        if self._is_over:
            raise UsageError("this host has been stopped", remedy="make another one")
        if not self._runners:
            await self.bind()
        self._watch = StuckWatch(self._say)
        for node in sorted(self._nodes, key=self._system.index.__getitem__):
            self._runners[node].begin()

    async def stop(self, reason: str = "stopped") -> None:
        """End all lives: what happened leaves first, and peers are told."""
        self._is_over = True
        if self._watch is not None:
            self._watch.stop()
        await asyncio.gather(*(one.stop(reason) for one in self._runners.values()))
        self._all_stopped.set()

    def hush(self) -> None:
        """Let nothing happen to any node from now on; its life ends when it is stopped."""
        for one in self._runners.values():
            one.hush()

    async def stop_node(self, node: NodeId, reason: str = "stopped") -> None:
        """End the life of a node in the same way."""
        await self._runner(node).stop(reason)
        self._stopped(node, None)

    def crash(self, node: NodeId) -> None:
        """End the life of a node as kill -9 would end its process."""
        self._runner(node).crash()

    async def restart(self, node: NodeId) -> None:
        """Begin the next life of a node that is down."""
        runner = self._runner(node)
        if runner.is_up:
            raise UsageError(f"{node} is up", remedy="crash or stop it first")
        await runner.bind()
        runner.begin()

    async def wait(self) -> None:
        """Wait until every node has stopped.

        Raises
        ------
        NodeFailed
            If the handler of one failed.
        """
        await self._all_stopped.wait()
        self._raise()

    # -------------------------------------------------------------- what it is asked

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        """The nodes that run here."""
        return self._nodes

    def address(self, node: NodeId) -> tuple[str, int]:
        """Return the host and the port at which a node listens."""
        return self._addresses[self._system.index[node]]

    def is_up(self, node: NodeId) -> bool:
        """Say whether a node takes events."""
        return self._runner(node).is_up

    async def call(
        self,
        node: NodeId,
        handler: Callable[..., Any] | str,
        *arguments: Any,
        timeout: float | None = None,
        made: Callable[[], None] | None = None,
    ) -> Any:
        """Make a call at a node, once its guard is true; return what its handler returns.

        What the call has changed is on the disk by then, as far as it has to be.

        Parameters
        ----------
        handler
            ``Node.method``, or its name.
        timeout
            Seconds.
        made
            Is called once the handler has returned, before anything else happens there.

        Raises
        ------
        UsageError
            If there is no such call, or it does not take the arguments; if the node has
            stopped.
        TimeoutError
            If it takes longer.
        """
        life = self._life(node)
        name, given = checked_call(life.kind, handler, arguments)
        what = f"{life.kind.cls.__name__}.{name} at {node}"
        return await within(life.kept.call(name, given, made), timeout, what)

    async def until(
        self,
        node: NodeId,
        predicate: Callable[[Any], bool],
        timeout: float | None = None,
    ) -> None:
        """Wait until a predicate is true of a node's state; it is asked after each event.

        Raises
        ------
        UsageError
            If the node stops first.
        TimeoutError
            If it takes longer.
        """
        done = self._life(node).kept.until(predicate)
        await within(done, timeout, f"what {node} is waited for")

    def state(self, node: NodeId) -> Any:
        """Return the present fields of a node: copies, to be looked at."""
        life = self._life(node)
        return StateCopy(life.kind, life.node)

    async def snapshot(self, node: NodeId, timeout: float | None = 10.0) -> Trace:
        """Gather the state of a node and of those around it, as a trace without steps.

        A search can begin there; write it with `worldline.trace.format.write`. Who has not
        answered after `timeout` seconds is absent, as the state of the trace says.

        Raises
        ------
        UsageError
            If no companion gathers; if the node stops.
        """
        never = partial(self._life(node).kept.until, lambda state: False)
        return await gathered(self._companions, node, timeout, never)

    def counts(self, node: NodeId) -> NodeCounts:
        """Return what has been counted of a node so far."""
        runner = self._runner(node)
        return replace(
            runner.counts,
            journal_bytes=runner.journal_bytes,
            unrecorded=runner.unrecorded,
            cpu_seconds=time.process_time() - self._cpu,
            steering=counted_beside(self._companions, node),
        )

    # ------------------------------------------------------------------------ inside

    def _setup(self) -> Setup:
        system, cluster = self._system.under_recording(), self._cluster
        codec = Codec(system)
        self._addresses = [cluster.addresses[node] for node in system.ids]
        run = self._journal.run or cluster.run or ""
        drawn = cluster.name_of_run(self._nodes)
        run = run_of(self._record, system, codec.digest, run, drawn, self._say)
        seal, tls = protection(cluster, system, codec.digest.raw)
        return Setup(
            system=system,
            codec=codec,
            addresses=self._addresses,
            record=self._record,
            journal=replace(self._journal, run=run),
            now=self._clock or anchored(),
            weather=self._weather,
            seal=seal,
            tls=tls,
            limits=self._limits,
            companions=self._companions,
            positions=lambda node: self._positions(node),  # noqa: PLW0108 -- set later
            every=self._every,
            returns=self._returns,
            say=self._say,
            stopped=self._stopped,
        )

    def _runner(self, node: Any) -> NodeRunner:
        runner = self._runners.get(node)
        if runner is None:
            where = "has not been started" if node in self._nodes else "runs elsewhere"
            if type(node) is not NodeId:
                where = "is no wl.NodeId"
            here = ", ".join(map(str, self._nodes))
            raise UsageError(f"{spelt(node)} {where}", remedy=f"this host has {here}")
        return runner

    def _life(self, node: NodeId) -> Any:
        life = self._runner(node).life
        if life is None or not life.is_up:
            raise stopped(node, has_begun=self._watch is not None)
        return life

    def _stopped(self, node: NodeId, error: BaseException | None) -> None:
        """Take note that a node has stopped for good."""
        self._error = self._error or error
        if error is not None:  # of the system as a whole
            for runner in self._runners.values():
                runner.crash()
        if not any(one.is_up or one.is_coming for one in self._runners.values()):
            self._all_stopped.set()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error
        for node, runner in self._runners.items():
            if not self._returns and runner.counts.failure is not None:
                raise NodeFailed(
                    f"a handler of {node} failed: {runner.counts.failure}",
                    remedy='mend it, or give Host(on_failure="restart")',
                )
            if runner.counts.journal_failure is not None:
                raise NodeFailed(runner.counts.journal_failure)


def told_to_stderr(line: str) -> None:
    """Print a line for whoever watches, in the usual way."""
    print(f"worldline: {line}", file=sys.stderr, flush=True)  # noqa: T201
