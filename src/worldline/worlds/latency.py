"""Latencies of messages: models of a network's delay."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, TypeAlias

from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError, UsageError
from worldline.model.usercode.running import refuse, run_pure
from worldline.model.usercode.user_errors import shorten, spelt
from worldline.model.usercode.user_functions import check_function, defined_at

Latency: TypeAlias = Callable[[float], float]
"""From a number in [0, 1) to seconds: the quantile function of a distribution."""

LatencyBetween: TypeAlias = Callable[[NodeId, NodeId, float], float]
"""The same for a message from one node to another."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)(us|ms|s|m|h)|0", re.ASCII)
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}

_REMEDY = (
    "write 'constant 10ms', 'uniform 10ms 50ms' or 'lognormal 20ms 0.5': median, and the "
    "standard deviation of the logarithm; or FILE.py:function"
)

_LEAST = 2.0**-54
"""Half of the least number but 0 that is drawn: of 0 a normal distribution has no
quantile."""


def seconds_of(text: str) -> float:
    """Read a duration: a number with ``us``, ``ms``, ``s``, ``m`` or ``h``; or 0.

    Raises
    ------
    UsageError
        If it is none.

    Examples
    --------
    >>> seconds_of("20ms")
    0.02
    """
    match = _DURATION.fullmatch(text)
    seconds = math.inf
    if match is not None:
        seconds = float(match[1]) * _UNITS[match[2]] if match[2] else 0.0
    if math.isinf(seconds):
        raise UsageError(
            f"{shorten(repr(text))} is no duration",
            remedy="write it with its unit, as in 20ms, 1.5s or 10m",
        )
    return seconds


def latency_of(text: str) -> Latency:
    """Read a model: ``constant``, ``uniform`` or ``lognormal``, and its parameters.

    Raises
    ------
    UsageError
        If it is none.

    Examples
    --------
    >>> latency_of("uniform 10ms 50ms")(0.5)
    0.03
    """
    name, *given = text.split() or [""]
    if name == "constant" and len(given) == 1:
        return _constant(seconds_of(given[0]))
    if name == "uniform" and len(given) == 2:
        return _uniform(*map(seconds_of, given))
    if name == "lognormal" and len(given) == 2:
        return _lognormal(seconds_of(given[0]), _spread(given[1]))
    raise UsageError(f"{text!r} is no latency", remedy=_REMEDY)


def between(function: LatencyBetween) -> LatencyBetween:
    """Return a user's function, ``(src, dst, drawn)``, held to giving latencies.

    Raises
    ------
    ModelError
        If it is none. So does what is returned, if the function fails or gives no
        number of seconds from 0 on.
    """
    check_function(function, _WHAT, arguments=3, like=_LIKE)

    def latency(src: NodeId, dst: NodeId, drawn: float) -> float:
        try:
            seconds = run_pure(lambda: function(src, dst, drawn), _MARK)
        except BaseException as error:
            refuse(_WHAT, function, error, _LIKE_SO)
        # It is the user's, and may give anything.
        given: Any = seconds
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        if not is_number or not 0 <= given <= sys.float_info.max:
            raise ModelError(
                f"{_WHAT}{defined_at(function)} gives {spelt(seconds)} from {src} to "
                f"{dst}",
                remedy=_LIKE_SO,
            )
        return float(given)

    return latency


_WHAT = "the latency"
_LIKE = "def latency(src, dst, drawn): return 0.02 + 0.03 * drawn"
_LIKE_SO = "let it return seconds, a number from 0 on"
_MARK = 7
"""Tells this user code from other."""


def _constant(seconds: float) -> Latency:
    return lambda drawn: seconds


def _uniform(least: float, most: float) -> Latency:
    if least > most:
        raise UsageError(f"a latency from {least:g} to {most:g} s", remedy=_REMEDY)
    width = most - least
    return lambda drawn: least + width * drawn


def _lognormal(median: float, spread: float) -> Latency:
    if not spread:
        return _constant(median)
    quantile = NormalDist(0.0, spread).inv_cdf
    return lambda drawn: median * math.exp(quantile(drawn or _LEAST))


def _spread(text: str) -> float:
    try:
        spread = float(text)
    except ValueError:
        spread = -1.0
    if not 0 <= spread <= 10:
        raise UsageError(f"{text!r} is no spread from 0 to 10", remedy=_REMEDY)
    return spread
