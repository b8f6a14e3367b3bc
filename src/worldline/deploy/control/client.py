"""A client of control: it asks for a snapshot, and believes nothing that is answered."""

from __future__ import annotations

import http.client
import json
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from worldline.model.errors import InputError, UsageError
from worldline.model.printable import one_line
from worldline.trace.format import read
from worldline.trace.journal.segments import folder_of, has_journals, nodes_in
from worldline.trace.json_text import shorten
from worldline.trace.records import STATE, Trace

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_PATIENCE_S = 90.0
_LARGEST = 64 << 20
_LONGEST_URL = 1_000
_HOW = (
    "give the folder of a recording that is being made with --control, or the file with "
    "the address there, such as control.url"
)


def snapshot_of(url: str, node: str) -> Trace:
    """Return a snapshot of a node that runs, as a trace without steps.

    Parameters
    ----------
    url
        The address of control, with its token; or the file that has it, or the folder of
        a recording with that of the node.

    Raises
    ------
    UsageError
        If this is no address of this machine, nobody answers there, or it is refused.
    InputError
        If what is answered is no snapshot.
    """
    over = "is the run over? Its address holds as long as it runs"
    is_written = "://" not in url
    if is_written:
        file, url = _written(Path(url), node)
        over += f"; {file} may be of one that was killed"
    host, port, path = _address(url)
    name = quote(node, safe="", errors="replace")  # half a character names no node
    status, content = _get(host, port, f"{path}/nodes/{name}/snapshot", over)
    if status == http.client.FORBIDDEN and is_written:
        # Another run has the port by now, and another token.
        raise UsageError(f"control at {host}:{port} is of another run", remedy=over)
    if status != http.client.OK:
        raise _refusal(status, content, over)
    trace = _read(content)
    if trace.header.begins != STATE or trace.steps:
        raise InputError("what was answered is a trace, and no snapshot")
    return trace


def _address(url: str) -> tuple[str, int, str]:
    """Return the host, the port, and the path that all paths begin with."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    # What the address says is not repeated: the token is in it.
    if parts.scheme != "http" or host is None or port is None:
        raise UsageError("this is no address of control", remedy=_HOW)
    if host not in _LOOPBACK:
        raise UsageError(
            f"{shorten(host, 100)} is another machine, and control is on this one alone",
            remedy="ask on the machine of the node",
        )
    path = parts.path.rstrip("/")
    if path.count("/") != 1 or parts.query or parts.fragment or parts.username:
        raise UsageError("this address has no token, or more than that", remedy=_HOW)
    if not (path.isascii() and path.isprintable()) or " " in path:
        raise UsageError("the token of this address is none", remedy=_HOW)
    return host, port, path


def _file(given: Path, node: str) -> Path:
    """Return the file with the address for a node, where the folder of a run is given."""
    if not given.is_dir():
        return given
    for_all = given / "control.url"
    for_one = given / f"control-{folder_of(given, node).name}.url"
    return for_one if for_one.exists() else for_all


def _written(given: Path, node: str) -> tuple[Path, str]:
    """Return the file with the address for a node, and what stands there."""
    file = given
    try:
        file = _file(given, node)
        if file.is_fifo():  # to open it is to wait for who writes into it
            raise UsageError(f"{file} is a pipe", remedy=_HOW)
        with file.open() as lines:
            return file, lines.readline(_LONGEST_URL).strip()
    except UsageError:
        raise
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no text"
        if isinstance(error, FileNotFoundError) and has_journals(given):
            raise _without_address(given, node) from None
        raise UsageError(
            f"the address of control cannot be read from {file}: {said}", remedy=_HOW
        ) from None


def _without_address(run: Path, node: str) -> UsageError:
    """Return why a node has no address in the folder of a run."""
    names = nodes_in(run)
    if node not in names:
        return UsageError(
            f"{run} has no node {shorten(one_line(node), 100)!r}",
            remedy=f"it has {', '.join(map(one_line, names[:10]))}",
        )
    if any(run.glob("control*.url")):
        return UsageError(
            f"{one_line(node)} has no address of control in {run}: it is down",
            remedy="ask when it is up again, or another node",
        )
    return UsageError(
        f"no node has an address of control in {run}: the run is over, or was begun "
        "without --control",
        remedy="ask while a run with --control goes on",
    )


def _get(host: str, port: int, path: str, over: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE_S)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        content = response.read(_LARGEST + 1)
    except (OSError, http.client.HTTPException) as error:
        said = getattr(error, "strerror", None) or str(error) or "it said nothing"
        said = shorten(one_line(said.lower()), 100)
        raise UsageError(
            f"control does not answer at {host}:{port}: {said}", remedy=over
        ) from None
    finally:
        connection.close()
    if len(content) > _LARGEST:
        raise InputError(f"what is answered has more than {_LARGEST >> 20} MiB")
    return response.status, content


def _refusal(status: int, content: bytes, over: str) -> UsageError:
    """Return the error that was answered."""
    try:
        said: Any = json.loads(content)
        what, remedy = said["error"], said.get("remedy", "")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        what = remedy = None
    if type(what) is not str or type(remedy) is not str:
        return UsageError(f"control answered {status}", remedy=over)
    return UsageError(shorten(what, 500), remedy=shorten(remedy, 500))


def _read(content: bytes) -> Trace:
    """Return the trace of a file's bytes, checked as any file is."""
    with tempfile.TemporaryDirectory(prefix="worldline-") as folder:
        file = Path(folder) / "answer.wl"
        file.write_bytes(content)
        try:
            return read(file)
        except InputError as error:
            said = error.what.replace(str(file), "what was answered")
            raise InputError(said, remedy="ask again; nothing was written") from None
