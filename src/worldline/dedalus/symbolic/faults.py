"""Faults as free choices of an answer-set program, and answers as faults.

What they do follows in the same program: ``down(N, T)`` says that N has crashed,
``arrives(N, M, T, B)`` that what N sends to M in round T arrives in round T + 1 + B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from worldline.dedalus.symbolic.words import value
from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    FaultSet,
    Loss,
    Scope,
    in_order,
)

if TYPE_CHECKING:
    import clingo

SHOWN = ("lost/3", "late/4", "crash/2")


def choices(scope: Scope, last: int) -> Iterator[str]:
    """Yield what may be chosen, and what follows for nodes and messages.

    Parameters
    ----------
    last
        The last round that matters: the end of time, or one that the program names.
    """
    yield from (f"node({value(node)})." for node in scope.nodes)
    yield from (f"#show {shown}." for shown in SHOWN)
    yield from (f"#defined {shown}." for shown in SHOWN)
    if scope.eff > 1:
        late = f";late(N,M,T,B):B=1..{scope.delay}" if scope.delay else ""
        links = f"node(N),node(M),N!=M,T=1..{scope.eff - 1}"
        yield f"{{lost(N,M,T){late}}}1:-{links}."
    if scope.crashes:
        rounds = f"1..{scope.eot}"
        who = "node(N)"
        if scope.crash_nodes is not None:
            who = "may_crash(N)"
            yield from (f"may_crash({value(node)})." for node in scope.may_crash)
        yield f"{{crash(N,T):{who},T={rounds}}}{scope.crashes}."
        if scope.crashes > 1:
            yield f":-node(N),2{{crash(N,T):T={rounds}}}."
    yield "down(N,T):-crash(N,T)."
    yield f"down(N,T+1):-down(N,T),T<{last}."
    yield "disturbed(N,M,T):-lost(N,M,T)."
    yield "disturbed(N,M,T):-late(N,M,T,B)."
    yield from _arrivals(scope)


def _arrivals(scope: Scope) -> Iterator[str]:
    """Yield which messages arrive; a node that halts receives nothing, not its own."""
    sends = f"node(N),node(M),N!=M,T=1..{scope.eot - 1},not down(N,T)"
    own, up, then = "", "", ""
    if scope.semantics is CrashSemantics.HALT:
        own, up, then = ",not down(N,T+1)", ",not down(M,T+1)", ",not down(M,T+1+B)"
    yield f"arrives(N,N,T,0):-node(N),T=1..{scope.eot - 1}{own}."
    yield f"arrives(N,M,T,0):-{sends},not disturbed(N,M,T){up}."
    yield (f"arrives(N,M,T,B):-{sends},late(N,M,T,B),T+1+B<={scope.eot}{then}.")


LIMITS = """
#program faults(k).
#external faults(k).
:-faults(k),#count{N,M,T:disturbed(N,M,T);N,T:crash(N,T)}>k.
#program disturbed(k).
#external disturbed(k).
:-disturbed(k),#count{N,M,T:disturbed(N,M,T)}>k.
#program crashes(k).
#external crashes(k).
:-crashes(k),#count{N,T:crash(N,T)}>k.
#program quiet(k).
#external quiet(k).
:-quiet(k),disturbed(N,M,T),T>=k.
"""
"""Limits that can be switched on: how many faults, and from when on no message is lost."""

UP = """
#program up(k).
#external up(k).
:-up(k),crash(N,T),T>=k.
"""
"""One more limit: from when on no node crashes."""


def chosen(faults: FaultSet) -> Iterator[str]:
    """Yield the choices that make up faults."""
    for fault in in_order(faults):
        if isinstance(fault, Crash):
            yield f"crash({value(fault.node)},{fault.time})"
            continue
        link = f"{value(fault.src)},{value(fault.dst)},{fault.time}"
        if isinstance(fault, Delay):
            yield f"late({link},{fault.by})"
        else:
            yield f"lost({link})"


def fault_set(symbols: Sequence[clingo.Symbol]) -> FaultSet:
    """Return the faults that an answer chose."""
    return frozenset(map(_fault, symbols))


def _fault(symbol: clingo.Symbol) -> Fault:
    if symbol.name == "crash":
        node, time = symbol.arguments
        return Crash(time.number, node.string)
    src, dst, time = (argument for argument in symbol.arguments[:3])
    if symbol.name == "lost":
        return Loss(time.number, src.string, dst.string)
    return Delay(time.number, src.string, dst.string, symbol.arguments[3].number)
