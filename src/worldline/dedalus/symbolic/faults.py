"""Faults as free choices of an answer-set program, and answers as faults.

Which messages arrive follows from them: ``arrives(N, M, T, B)`` says that what N sends to
M in round T arrives in round T + 1 + B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from worldline.dedalus.symbolic.words import value
from worldline.model.injection.scope import (
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

SHOWN = ("lost/3", "late/4", "crash/2", "reaches/3")


def choices(scope: Scope) -> Iterator[str]:
    """Yield what may be chosen, and by what it can be counted."""
    yield from (f"node({value(node)})." for node in scope.nodes)
    yield from (f"#show {shown}." for shown in SHOWN)
    yield from (f"#defined {shown}." for shown in SHOWN)
    if scope.eff > 1:
        late = f";late(N,M,T,B):B=1..{scope.delay}" if scope.delay else ""
        links = f"node(N),node(M),N!=M,T=1..{scope.eff - 1}"
        yield f"{{lost(N,M,T){late}}}1:-{links}."
    if scope.crashes:
        rounds = f"1..{scope.eot}"
        yield f"{{crash(N,T):node(N),T={rounds}}}{scope.crashes}."
        if scope.crashes > 1:
            yield f":-node(N),2{{crash(N,T):T={rounds}}}."
    if scope.semantics is CrashSemantics.PARTIAL:
        yield "{reaches(N,M,T):node(M),N!=M}:-crash(N,T)."
    yield "disturbed(N,M,T):-lost(N,M,T)."
    yield "disturbed(N,M,T):-late(N,M,T,_)."


def arrivals(scope: Scope) -> Iterator[str]:
    """Yield which messages of round t arrive, and when."""
    yield "down(N,t):-crash(N,t)."
    yield "down(N,t):-down(N,t-1)."
    yield "sends(N,M,t):-node(N),node(M),N!=M,not down(N,t)."
    if scope.semantics is CrashSemantics.PARTIAL:
        yield "sends(N,M,t):-crash(N,t),reaches(N,M,t)."
    halts = scope.semantics is not CrashSemantics.MUTE
    yield f"arrives(N,N,t,0):-node(N){',not down(N,t)' if halts else ''}."
    yield "arrives(N,M,t,0):-sends(N,M,t),not disturbed(N,M,t)."
    yield f"arrives(N,M,t,B):-sends(N,M,t),late(N,M,t,B),t+1+B<={scope.eot}."


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
:-quiet(k),disturbed(_,_,T),T>=k.
"""
"""Limits that can be switched on: how many faults, and from when on no message is lost."""


def literal_terms(faults: FaultSet, scope: Scope) -> Iterator[tuple[str, bool]]:
    """Yield the choices that make up faults: the atom, and whether it is chosen."""
    for fault in in_order(faults):
        if isinstance(fault, Crash):
            node = value(fault.node)
            yield f"crash({node},{fault.time})", True
            if scope.semantics is CrashSemantics.PARTIAL:
                for other in scope.nodes:
                    if other != fault.node:
                        reached = other in fault.reaches
                        yield f"reaches({node},{value(other)},{fault.time})", reached
        else:
            link = f"{value(fault.src)},{value(fault.dst)},{fault.time}"
            if isinstance(fault, Delay):
                yield f"late({link},{fault.by})", True
            else:
                yield f"lost({link})", True


def fault_set(symbols: Sequence[clingo.Symbol]) -> FaultSet:
    """Return the faults that an answer chose."""
    reached: dict[tuple[int, str], list[str]] = {}
    for symbol in symbols:
        if symbol.name == "reaches":
            src, dst, time = symbol.arguments
            reached.setdefault((time.number, src.string), []).append(dst.string)
    return frozenset(
        _fault(symbol, reached) for symbol in symbols if symbol.name != "reaches"
    )


def _fault(symbol: clingo.Symbol, reached: dict[tuple[int, str], list[str]]) -> Fault:
    if symbol.name == "crash":
        node, time = symbol.arguments[0].string, symbol.arguments[1].number
        return Crash(time, node, None, tuple(sorted(reached.get((time, node), ()))))
    src, dst = symbol.arguments[0].string, symbol.arguments[1].string
    time = symbol.arguments[2].number
    if symbol.name == "lost":
        return Loss(time, src, dst)
    return Delay(time, src, dst, symbol.arguments[3].number)
