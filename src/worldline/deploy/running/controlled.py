"""Control from outside over a run, where it is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from worldline.deploy.host import Host
from worldline.deploy.running.plan import RunPlan
from worldline.model.data.identity import NodeId
from worldline.trace.journal.segments import folder_of


@contextlib.asynccontextmanager
async def controlled(
    plan: RunPlan, host: Host, say: Callable[[str], None]
) -> AsyncIterator[Callable[[], None]]:
    """Answer HTTP about the nodes of a host while the block runs, if a port is given.

    The block has what tells where, once the nodes are up.

    Raises
    ------
    UsageError
        If the port is taken, or what HTTP needs is not installed.
    """
    port = plan.options.control
    if port is None:
        yield lambda: None
        return
    from worldline.deploy.control.server import ControlServer

    file = control_file(plan, plan.nodes)
    server = await ControlServer.open(host, plan.system, port, named=say)

    def tell() -> None:
        if file is not None:
            server.write(file)
        # Whoever has the address controls the nodes, and what is said may be kept.
        said = f"its address is in {file}" if file is not None else server.url
        say(f"control of {', '.join(map(str, plan.nodes))}: {said}")

    try:
        yield tell
    finally:
        await server.close()


def control_file(plan: RunPlan, nodes: tuple[NodeId, ...]) -> Path | None:
    """Return where the address of control is written of some nodes; None if nowhere."""
    if plan.record is None or plan.options.control is None:
        return None
    if nodes == plan.system.ids:
        return plan.record / "control.url"
    names = "-".join(folder_of(plan.record, node.name).name for node in nodes)
    return plan.record / f"control-{names}.url"
