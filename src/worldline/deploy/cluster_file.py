"""A cluster as a file, in TOML: read strictly, and written for other processes.

::

    run = "monday"  # optional: without it, a name made of the addresses
    secret_file = "cluster.secret"  # or secret = "...", for what others reach
    [nodes]
    a = "10.0.0.1:7000"
    b = "[fd00::2]:7000"
    [tls]  # optional, for streams
    cert = "a.pem"
    key = "a.key"
    ca = "ca.pem"
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from worldline.deploy.cluster import (
    LEAST_SECRET,
    LOOPBACK,
    Address,
    Cluster,
    address_text,
)
from worldline.deploy.tls import TlsFiles
from worldline.model.data.identity import NodeId
from worldline.model.errors import InputError, UsageError
from worldline.model.system import System

_MOST_BYTES = 16 << 20
_MODE = 0o600

_KEYS = ("nodes", "secret", "secret_file", "tls", "run")
_TLS = ("cert", "key", "ca")

_LIKE = 'write, under [nodes], a line for each node: a = "127.0.0.1:7000"'


def cluster_of(
    given: Cluster | Path | str | None, system: System, *, insecure: bool = False
) -> Cluster:
    """Return the cluster that is given: itself, a file, or one on this machine.

    Raises
    ------
    UsageError
        If it is not of this system, or open to others without protection.
    InputError
        If the file is none.
    """
    if given is None:
        return Cluster.on_loopback(system)
    if isinstance(given, Cluster):
        cluster = given
        cluster.refuse_others(system)
    elif isinstance(given, str | os.PathLike):
        cluster = read_cluster(Path(given), system, insecure=insecure)
    else:
        raise UsageError(
            f"cluster is {given!r}, which is no cluster",
            remedy="give a Cluster, or the path of a TOML file",
        )
    cluster.refuse_open(system.network)
    return cluster


def read_cluster(path: Path, system: System, *, insecure: bool = False) -> Cluster:
    """Return the cluster of a system that a file describes.

    Files that it names are looked for from its own folder.

    Raises
    ------
    InputError
        If it cannot be read, or is no cluster of this system; it names the key.
    """
    table = _table(path)
    for key in table:
        if key not in _KEYS:
            raise InputError(
                f"{path}: there is no key {key!r}",
                remedy=f"there are {', '.join(_KEYS)}",
            )
    return Cluster(
        addresses=_addresses(path, table.get("nodes"), system),
        secret=_secret(path, table),
        tls=_tls(path, table.get("tls")),
        run=_run(path, table.get("run")),
        insecure=insecure,
    )


def write_cluster(cluster: Cluster, path: Path) -> None:
    """Write a cluster to a file that nobody else can read.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    lines = [] if cluster.run is None else [f"run = {_quoted(cluster.run)}"]
    if cluster.secret is not None:
        secret = path.with_name(f"{path.name}.secret")
        _write(secret, cluster.secret)
        lines.append(f"secret_file = {_quoted(secret.name)}")
    lines.append("[nodes]")
    lines += [
        f"{_quoted(node.name)} = {_quoted(address_text(address))}"
        for node, address in cluster.addresses.items()
    ]
    if cluster.tls is not None:
        lines.append("[tls]")
        lines += [
            f"{name} = {_quoted(str(getattr(cluster.tls, name).absolute()))}"
            for name in _TLS
        ]
    _write(path, "".join(f"{line}\n" for line in lines).encode())


def _write(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    made = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _MODE)
    with os.fdopen(made, "wb") as file:
        file.write(content)


def _quoted(text: str) -> str:
    """Return a text as TOML spells it; it has JSON's escapes, but for one more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# ------------------------------------------------------------------------ reading


def _table(path: Path) -> dict[str, Any]:
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no file", remedy="name a TOML file")
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise InputError(
                f"{path} has more than {_MOST_BYTES >> 20} MiB",
                remedy="give a shorter file",
            )
        return tomllib.loads(content.decode())
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}", remedy="name a file that describes a cluster"
        ) from None
    except RecursionError:
        raise InputError(f"{path} is nested too deep", remedy=_LIKE) from None
    except ValueError as error:  # no TOML, no UTF-8, or a number without end
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: {error}", remedy=_LIKE) from None


def _addresses(path: Path, given: Any, system: System) -> dict[NodeId, Address]:
    if not isinstance(given, dict):
        raise InputError(f"{path} has no [nodes]", remedy=_LIKE)
    known = {node.name: node for node in system.ids}
    for name in given:
        if name not in known:
            raise InputError(
                f"{path}: {system.name} has no node {name!r}",
                remedy=f"it has {', '.join([*known][:10])}",
            )
    if missing := [name for name in known if name not in given]:
        raise InputError(
            f"{path} has no address of {', '.join(missing[:10])}", remedy=_LIKE
        )
    addresses: dict[NodeId, Address] = {}
    taken: dict[Address, NodeId] = {}
    for name, node in known.items():
        address = addresses[node] = _address(path, name, given[name])
        if other := taken.get(address):
            raise InputError(
                f"{path}: {other} and {name} have one address, {address_text(address)}",
                remedy="give each node its own",
            )
        taken[address] = node
    return addresses


def _address(path: Path, name: str, given: Any) -> Address:
    host, colon, port = given.rpartition(":") if isinstance(given, str) else ("",) * 3
    bracketed = host.startswith("[") and host.endswith("]")
    if bracketed:
        host = host[1:-1]
    is_port = port.isascii() and port.isdecimal() and len(port) < 6
    if not (colon and host and is_port and host.isprintable()) or " " in host:
        raise InputError(
            f"{path}: the address of {name} is {given!r}",
            remedy='write "host:port", and an IPv6 address in brackets: "[::1]:7000"',
        )
    if bracketed is not (":" in host):
        raise InputError(
            f"{path}: the address of {name} is {given!r}",
            remedy='write an IPv6 address in brackets, and no other: "[::1]:7000"',
        )
    if not 1 <= int(port) <= 65_535:
        raise InputError(
            f"{path}: the port of {name} is {port}",
            remedy="give one from 1 to 65535",
        )
    return host, int(port)


def _secret(path: Path, table: dict[str, Any]) -> bytes | None:
    if "secret" in table and "secret_file" in table:
        raise InputError(
            f"{path} has both secret and secret_file", remedy="give one of them"
        )
    if "secret" in table:
        given = table["secret"]
        if not isinstance(given, str):
            raise InputError(
                f"{path}: the secret is no text", remedy='write secret = "..."'
            )
        secret = given.encode()
    elif "secret_file" in table:
        place = _file(path, "secret_file", table["secret_file"])
        try:
            with place.open("rb") as file:
                secret = file.read(_MOST_BYTES).rstrip(b"\r\n")
        except OSError as error:
            raise InputError(
                f"{path}: secret_file {place}: {error.strerror}",
                remedy="name a file that can be read",
            ) from None
    else:
        return None
    if len(secret) < LEAST_SECRET:
        raise InputError(
            f"{path}: the secret has {len(secret)} bytes, and at least {LEAST_SECRET} "
            "are needed",
            remedy="make one: python -c 'import secrets; print(secrets.token_hex(32))'",
        )
    return secret


def cluster_for(
    system: System, nodes: Sequence[NodeId], cluster: Cluster | Path | str | None
) -> Cluster:
    """Return where nodes are of which some run here: on ports of their own, if all do.

    Raises
    ------
    UsageError
        If others run elsewhere, and nobody says where; or as `cluster_of` does.
    """
    if cluster is not None:
        return cluster_of(cluster, system)
    if set(nodes) != set(system.ids):
        raise UsageError(
            f"some nodes of {system.name} run elsewhere, and nobody says where",
            remedy="give Host(cluster=...) as well: a file, or a wl.Cluster",
        )
    return Cluster(addresses=dict.fromkeys(system.ids, (LOOPBACK, 0)))


def _tls(path: Path, given: Any) -> TlsFiles | None:
    if given is None:
        return None
    like = f"write, under [tls], the files {', '.join(_TLS)}"
    if not isinstance(given, dict):
        raise InputError(f"{path}: tls is no table", remedy=like)
    if given.keys() != set(_TLS):
        odd = [name for name in given if name not in _TLS]
        lacking = [name for name in _TLS if name not in given]
        what = (
            f"there is no key {odd[0]!r} in [tls]"
            if odd
            else f"[tls] has no {', '.join(lacking)}"
        )
        raise InputError(f"{path}: {what}", remedy=like)
    files = {name: _file(path, f"tls.{name}", given[name]) for name in _TLS}
    return TlsFiles(**files)


def _file(path: Path, key: str, given: Any) -> Path:
    place = path.parent / given if isinstance(given, str) and given else None
    if place is None or "\0" in str(place) or not place.is_file():
        raise InputError(
            f"{path}: {key} is {given!r}, which is no file",
            remedy=f"name a file, from {path.parent.absolute()} on",
        )
    return place


def _run(path: Path, given: Any) -> str | None:
    if given is not None and (not isinstance(given, str) or not given):
        raise InputError(f"{path}: run is {given!r}", remedy='write run = "a name"')
    return given
