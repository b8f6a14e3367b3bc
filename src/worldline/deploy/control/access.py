"""Access to control: by the token, from this machine, and by no page of another site.

The socket is on loopback, but a browser on this machine asks on behalf of any page. A
page that sends a request itself gives its `Origin`; one whose name was made to point to
loopback gives that name as `Host`. Both are refused, token or not.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from typing import final

from worldline.deploy.control.refusal import Refusal

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def new_token() -> str:
    """Return a token that nobody guesses, fit for an address."""
    return secrets.token_urlsafe(32)


@final
class Access:
    """What a request needs.

    Parameters
    ----------
    token
        The first segment of each path.
    port
        Where the server listens.
    """

    def __init__(self, token: str, port: int) -> None:
        self._token = token.encode()
        self._hosts = frozenset(f"{name}:{port}".encode() for name in _LOOPBACK)
        self._origins = frozenset(b"http://" + host for host in self._hosts)

    def check(self, headers: Iterable[tuple[bytes, bytes]], token: bytes) -> None:
        """Let a request pass.

        Parameters
        ----------
        headers
            With their names in lower case.
        token
            What it has in that place.

        Raises
        ------
        Refusal
            If it may not.
        """
        given = list(headers)
        hosts = [value for name, value in given if name == b"host"]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Refusal(403, "this is no name of the host", remedy="ask 127.0.0.1")
        origins = [value for name, value in given if name == b"origin"]
        if not self._origins.issuperset(origins):
            raise Refusal(403, "pages of other sites may not ask")
        if not hmac.compare_digest(token, self._token):
            raise Refusal(
                403, "the token is wrong", remedy="ask below the address that was given"
            )
