"""Control as an ASGI application: paths below the token, and the answer to each.

::

    GET   /TOKEN/nodes                   the counts of each node, and whether it is up
    GET   /TOKEN/nodes/N/state           its fields
    GET   /TOKEN/nodes/N/snapshot        a trace of where it and those around it are
    GET   /TOKEN/metrics                 the counts, for Prometheus
    POST  /TOKEN/nodes/N/call/NAME       [arguments]; ?timeout=SECONDS
    POST  /TOKEN/nodes/N/crash           as kill -9 would, without the process
    POST  /TOKEN/nodes/N/stop            cleanly

Each answer but the trace and that for Prometheus is a JSON object; that of an error has
`error` and maybe `remedy`. A name is percent-encoded where it has to be.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Protocol, final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from worldline.deploy.control.access import Access
from worldline.deploy.control.metrics import CONTENT_TYPE, metrics
from worldline.deploy.control.refusal import Refusal
from worldline.deploy.control.requests import (
    LONGEST_S,
    body_of,
    named,
    no_body,
    parameters,
    seconds,
)
from worldline.deploy.control.values import Arguments, spell, spell_state
from worldline.deploy.counts import NodeCounts
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError, name_of, one_line
from worldline.model.system import System
from worldline.trace.format import packed
from worldline.trace.json_text import Json, shorten
from worldline.trace.records import Trace

_HEADERS = {
    "connection": "close",  # so that a client holds one only as long as it asks
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}


class Controlled(Protocol):
    """What is controlled: a `Host`."""

    @property
    def nodes(self) -> tuple[NodeId, ...]: ...
    async def call(
        self, node: NodeId, handler: str, *arguments: Any, timeout: float | None = None
    ) -> Any: ...
    def state(self, node: NodeId) -> Any: ...
    async def snapshot(self, node: NodeId) -> Trace: ...
    def is_up(self, node: NodeId) -> bool: ...
    def crash(self, node: NodeId) -> None: ...
    async def stop_node(self, node: NodeId) -> None: ...
    def counts(self, node: NodeId) -> NodeCounts: ...


@final
class Application:
    """Answers requests about the nodes of a host.

    Parameters
    ----------
    host
        Whose nodes they are.
    system
        What they are nodes of.
    access
        Who may ask.
    named
        Takes a line for whoever watches the host.
    """

    def __init__(
        self,
        host: Controlled,
        system: System,
        access: Access,
        named: Callable[[str], None],
    ) -> None:
        self._host, self._system = host, system
        self._access, self._named = access, named
        self._arguments = Arguments(system)
        node = "/nodes/{node}"
        self._router = Router(
            [
                Route("/nodes", self._list, methods=["GET"]),
                Route("/metrics", self._metrics, methods=["GET"]),
                Route(f"{node}/state", self._state, methods=["GET"]),
                Route(f"{node}/snapshot", self._snapshot, methods=["GET"]),
                Route(f"{node}/call/{{name}}", self._call, methods=["POST"]),
                Route(f"{node}/crash", self._crash, methods=["POST"]),
                Route(f"{node}/stop", self._stop, methods=["POST"]),
            ],
            redirect_slashes=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever it is."""
        try:
            await self._router(self._admitted(scope), receive, send)
            return
        except ClientDisconnect:
            return
        except Refusal as error:
            response = _failed(error.status, error.what, error.remedy)
        except HTTPException as error:  # of the router
            response = _failed(error.status_code, error.detail.lower())
            response.headers.update(error.headers or {})
        except Exception as error:
            said = one_line(f"{name_of(error)}: {error}")
            self._named(f"a request to control could not be answered: {said}")
            response = _failed(500, said)
        await response(scope, receive, send)

    def _admitted(self, scope: Scope) -> Scope:
        """Return a request as it is routed: without the token, its names still encoded.

        A slash in a name is none of the path.
        """
        path: bytes = scope["raw_path"]
        _, token, *rest = path.split(b"/", 2) if path[:1] == b"/" else (b"", b"")
        self._access.check(scope["headers"], token)
        below = b"/" + b"".join(rest)
        # With an app, the router says by an exception that there is no such path.
        return {**scope, "path": below.decode("latin-1"), "app": self}

    # ------------------------------------------------------------------------ asking

    async def _list(self, request: Request) -> Response:
        parameters(request)
        host = self._host
        return _json(
            {
                "system": self._system.name,
                "nodes": [
                    {**host.counts(node).to_json(), "up": host.is_up(node)}
                    for node in host.nodes
                ],
            }
        )

    async def _metrics(self, request: Request) -> Response:
        parameters(request)
        host = self._host
        text = metrics((host.counts(node), host.is_up(node)) for node in host.nodes)
        return Response(text, 200, _HEADERS, CONTENT_TYPE)

    async def _state(self, request: Request) -> Response:
        parameters(request)
        node = self._node(request)
        kind = self._system.types[self._system.index[node]]
        fields, opaque = spell_state(kind, self._host.state(node))
        said: dict[str, Json] = {"node": node.name, "class": kind.cls.__qualname__}
        return _json({**said, "fields": fields, "opaque": opaque})

    async def _snapshot(self, request: Request) -> Response:
        parameters(request)
        node = self._node(request)
        try:
            content = packed(await self._host.snapshot(node))
        except UsageError as error:
            raise Refusal(409, error.what, remedy=error.remedy) from None
        return Response(content, 200, _HEADERS, "application/octet-stream")

    # ------------------------------------------------------------------------- doing

    async def _call(self, request: Request) -> Response:
        timeout = seconds(parameters(request, "timeout").get("timeout"))
        node = self._node(request)
        name = named(request, "name")
        calls = self._system.types[self._system.index[node]].calls
        if name not in calls:
            raise Refusal(
                404,
                f"{node} has no call {shorten(name, 100)!r}",
                remedy=f"it has {', '.join(calls) or 'none'}",
            )
        arguments = self._arguments.read(await body_of(request))
        try:
            answer = await self._host.call(node, name, *arguments, timeout=timeout)
        except UsageError as error:
            raise Refusal(400, error.what, remedy=error.remedy) from None
        except TimeoutError:
            raise Refusal(
                504,
                f"{node} has not answered within {timeout:g} s",
                remedy="the call may still be made: its guard may be waiting",
            ) from None
        return _json({"node": node.name, "call": name, "answer": spell(answer)})

    async def _crash(self, request: Request) -> Response:
        parameters(request)
        node = self._node(request)
        await no_body(request)
        self._host.crash(node)
        return self._done(node)

    async def _stop(self, request: Request) -> Response:
        parameters(request)
        node = self._node(request)
        await no_body(request)
        try:
            async with asyncio.timeout(LONGEST_S):
                await self._host.stop_node(node)
        except TimeoutError:
            raise Refusal(504, f"{node} does not come to its end") from None
        return self._done(node)

    def _done(self, node: NodeId) -> Response:
        return _json({"node": node.name, "up": self._host.is_up(node)})

    def _node(self, request: Request) -> NodeId:
        """Return the node of a path, which has to be up."""
        name = named(request, "node")
        for node in self._host.nodes:
            if node.name == name:
                if not self._host.is_up(node):
                    raise Refusal(409, f"{node} is down")
                return node
        raise Refusal(
            404,
            f"no node {shorten(name, 100)!r} is here",
            remedy=f"here are {shorten(', '.join(map(str, self._host.nodes)), 200)}",
        )


def _json(value: Json, status: int = 200) -> Response:
    content = json.dumps(value, allow_nan=False).encode()
    return Response(content, status, _HEADERS, "application/json")


def _failed(status: int, what: str, remedy: str = "") -> Response:
    said = {"error": what, "remedy": remedy} if remedy else {"error": what}
    return _json(said, status)
