"""A request that is not granted."""

from __future__ import annotations

from typing import final


@final
class Refusal(Exception):
    """Why a request is answered with an error.

    Parameters
    ----------
    status
        Of HTTP.
    what, remedy
        As in `WorldlineError`.
    """

    def __init__(self, status: int, what: str, *, remedy: str = "") -> None:
        super().__init__(what)
        self.status = status
        self.what = what
        self.remedy = remedy
