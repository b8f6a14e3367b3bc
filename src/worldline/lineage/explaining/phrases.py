"""Fault sets as one phrase, in which faults that are alike are said together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from worldline.injection.scope import Crash, Delay, FaultSet, Loss, Scope, in_order
from worldline.model.counts import counted

_MOST_LINKS = 3
"""How many links are named one by one."""

TimedClause = tuple[int, str]
"""A clause with the round in which what it tells begins."""


def faults_phrase(faults: FaultSet, scope: Scope) -> str:
    """Return all faults of a set as one phrase, in the order of time.

    Examples
    --------
    >>> abc = Scope(("a", "b", "c"), 4)
    >>> faults_phrase(frozenset({Loss(1, "a", "c"), Crash(2, "a")}), abc)
    'a→c is lost in 1, and a has crashed from 2 on'
    >>> faults_phrase(frozenset({Loss(t, "a", to) for t in (1, 2) for to in "bc"}), abc)
    'all that a sends is lost in 1 and 2'
    >>> some = {Loss(t, "a", to) for t in (1, 2) for to in "bc"} | {Loss(3, "a", "b")}
    >>> faults_phrase(frozenset(some), abc)
    'all that a sends is lost in 1 and 2, and a→b is lost in 3'
    >>> faults_phrase(frozenset(), abc)
    'no fault is needed'
    """
    clauses = [*_losses(faults, scope), *_delays(faults), *_crashes(faults)]
    return joined([said for _, said in sorted(clauses)]) or "no fault is needed"


def joined(clauses: Sequence[str]) -> str:
    """Return clauses as one sentence."""
    *others, last = clauses or [""]
    return f"{', '.join(others)}, and {last}" if others else last


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *others, last = words or [""]
    return f"{', '.join(others)} and {last}" if others else last


def rounds_words(rounds: Iterable[int]) -> str:
    """Return rounds as a list, with those that follow each other as a range.

    Examples
    --------
    >>> rounds_words([4, 1, 2, 3, 7, 8])
    '1 to 4, 7 and 8'
    """
    spans: list[list[int]] = []
    for number in sorted(set(rounds)):
        if spans and spans[-1][-1] == number - 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    said: list[str] = []
    for span in spans:
        said += [f"{span[0]} to {span[-1]}"] if len(span) > 2 else map(str, span)
    return listed(said)


def culprits(faults: FaultSet) -> list[str]:
    """Return the nodes that faults name: who crashes, who is not heard, who not hears."""
    ordered = in_order(faults)
    links = [fault for fault in ordered if not isinstance(fault, Crash)]
    named = [fault.node for fault in ordered if isinstance(fault, Crash)]
    named += [fault.src for fault in links]
    return list(dict.fromkeys([*named, *(fault.dst for fault in links)]))


def _losses(faults: FaultSet, scope: Scope) -> list[TimedClause]:
    """Return what is lost: links of one sender, or of one receiver, together."""
    rounds: dict[tuple[str, str], set[int]] = {}
    for fault in faults:
        if isinstance(fault, Loss):
            rounds.setdefault((fault.src, fault.dst), set()).add(fault.time)
    clauses = list(_wholly_lost(rounds, scope))
    alike: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for (src, dst), left in sorted(rounds.items()):
        if left:
            alike.setdefault((src, tuple(sorted(left))), []).append(dst)
    same: dict[tuple[tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for (src, times), dsts in alike.items():
        same.setdefault((tuple(dsts), times), []).append(src)
    for (to, times), srcs in same.items():
        said = f"{_links(srcs, to, scope)} lost in {rounds_words(times)}"
        clauses.append((times[0], said))
    return clauses


def _wholly_lost(
    rounds: dict[tuple[str, str], set[int]], scope: Scope
) -> Iterator[TimedClause]:
    """Yield in which rounds all is lost that a node sends; take them from the rounds."""
    if len(scope.nodes) < 3:
        return
    for src in scope.nodes:
        links = [(src, dst) for dst in scope.nodes if dst != src]
        times = set.intersection(*(rounds.get(link, set()) for link in links))
        if times:
            yield min(times), f"all that {src} sends is lost in {rounds_words(times)}"
        for link in links:
            if link in rounds:
                rounds[link] -= times


def _links(srcs: Sequence[str], dsts: Sequence[str], scope: Scope) -> str:
    others = len(scope.nodes) - 1
    if len(dsts) == 1 and len(srcs) == others > 1:
        return f"all that is sent to {dsts[0]} is"
    if len(srcs) * len(dsts) <= _MOST_LINKS:
        links = [f"{src}→{dst}" for src in srcs for dst in dsts]
        return f"{listed(links)} {'is' if len(links) == 1 else 'are'}"
    to = listed(dsts)
    spared = [name for name in scope.nodes if name not in (*srcs, *dsts)]
    if len(srcs) == 1 and 0 < len(spared) < len(dsts):
        to = f"all but {listed(spared)}"
    return f"what {listed(srcs)} send{'s' * (len(srcs) == 1)} to {to} is"


def _delays(faults: FaultSet) -> list[TimedClause]:
    return [
        (fault.time, delay_words(fault)) for fault in faults if isinstance(fault, Delay)
    ]


def delay_words(delay: Delay) -> str:
    """Return what a delay is, as a clause.

    Examples
    --------
    >>> delay_words(Delay(3, "a", "b", 2))
    'a→b of 3 is 2 rounds late'
    """
    late = f"{counted(delay.by, 'round')} late"
    return f"{delay.src}→{delay.dst} of {delay.time} is {late}"


def _crashes(faults: FaultSet) -> list[TimedClause]:
    return [
        (fault.time, crash_words(fault)) for fault in faults if isinstance(fault, Crash)
    ]


def crash_words(crash: Crash) -> str:
    """Return what a crash is, as a clause.

    Examples
    --------
    >>> crash_words(Crash(2, "a", until=4, reaches=("b",)))
    'a is down from 2 until 4 (in 2 it still reaches b)'
    """
    said = f"{crash.node} has crashed from {crash.time} on"
    if crash.until is not None:
        said = f"{crash.node} is down from {crash.time} until {crash.until}"
    if crash.reaches:
        said += f" (in {crash.time} it still reaches {listed(crash.reaches)})"
    return said
