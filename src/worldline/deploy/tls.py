"""TLS between hosts: both ends show a certificate that one authority has signed.

A certificate names nodes, not machines: a node's name stands in it as the common name
of its subject, or as a DNS name among the alternative ones, letter for letter (no
wildcards). So the name of the machine is not looked at, and addresses may change; but
who connects as a node, or answers as one, has to have a certificate with its name, which
`peer_names` reads once the connection stands. A certificate for several nodes has
several names. All hosts need the same authority, which should sign nothing else.

TLS 1.2 is the oldest that is spoken. Revoked certificates are not known: give new ones
under another authority.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, final

from worldline.model.errors import UsageError


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """The TLS files of a host, in PEM.

    Attributes
    ----------
    cert
        Its certificate, and those between it and the authority's, if there are any.
    key
        The private key of the certificate, without a passphrase.
    ca
        The certificate of the authority that has signed those of all hosts.
    """

    cert: Path
    key: Path
    ca: Path


def server_context(files: TlsFiles) -> ssl.SSLContext:
    """Return how a host is connected to.

    Raises
    ------
    UsageError
        If a file cannot be read, or is not what it should be.
    """
    return _filled(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), files)


def client_context(files: TlsFiles) -> ssl.SSLContext:
    """Return how a host connects to another.

    Raises
    ------
    UsageError
        If a file cannot be read, or is not what it should be.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    return _filled(context, files)


def peer_names(connection: ssl.SSLObject | ssl.SSLSocket) -> frozenset[str]:
    """Return the names of the nodes that the other end of a connection may be."""
    certificate: Any = connection.getpeercert() or {}
    subject: Iterable[Any] = certificate.get("subject", ())
    names = [pair for part in subject for pair in part if pair[0] == "commonName"]
    names += [p for p in certificate.get("subjectAltName", ()) if p[0] == "DNS"]
    return frozenset(name for _, name in names)


def _filled(context: ssl.SSLContext, files: TlsFiles) -> ssl.SSLContext:
    for path in (files.cert, files.key, files.ca):
        try:
            with path.open("rb"):
                pass
        except OSError as error:
            raise UsageError(
                f"cannot read {path}, which TLS needs: {error.strerror}",
                remedy="give readable files as cert, key and ca",
            ) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_REQUIRED
    try:
        context.load_verify_locations(cafile=files.ca)
    except ssl.SSLError as error:
        raise UsageError(
            f"{files.ca} is no certificate of an authority ({_reason(error)})",
            remedy="give the authority's certificate in PEM as ca",
        ) from None
    _load_own(context, files)
    return context


def _load_own(context: ssl.SSLContext, files: TlsFiles) -> None:
    def passphrase() -> (
        NoReturn
    ):  # else the terminal would be asked, and all would wait
        raise UsageError(
            f"the key {files.key} has a passphrase",
            remedy="give it without one, readable by nobody else: openssl pkey -in "
            "KEY -out NEW",
        )

    try:
        context.load_cert_chain(files.cert, files.key, passphrase)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise UsageError(
                f"{files.key} is not the key of the certificate {files.cert}",
                remedy="give the two that were made together",
            ) from None
        raise UsageError(
            f"{files.cert} and {files.key} are no certificate and its key "
            f"({_reason(error)})",
            remedy="give both in PEM, as cert and key",
        ) from None


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or "not PEM").replace("_", " ").lower()
