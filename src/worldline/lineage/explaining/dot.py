"""Graphs as DOT, the language of Graphviz; the names of their nodes are Molly's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from worldline.injection.scope import Crash, Scope
from worldline.injection.subject import Run
from worldline.lineage.explaining.fates import MessageEnd, down, fate
from worldline.lineage.explaining.provenance import ProvenanceGraph

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = {"node", "edge", "graph", "digraph", "subgraph", "strict"}

_STYLES = {
    MessageEnd.ARRIVES: {"style": "dashed", "color": "black"},
    MessageEnd.LATE: {"style": "dashed", "color": "orange"},
    MessageEnd.LOST: {"style": "dotted", "color": "red"},
    MessageEnd.UNSENT: {"style": "dotted", "color": "gray"},
    MessageEnd.UNHEARD: {"style": "dashed", "color": "gray"},
}


def quoted(text: str) -> str:
    r"""Return any text as an ID; control characters are left out.

    Examples
    --------
    >>> print(quoted("node_a_1"), quoted('post("x")'))
    node_a_1 "post(\"x\")"
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    shown = "".join(c if c.isprintable() else "\ufffd" for c in text)
    escaped = shown.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def spacetime_dot(run: Run, scope: Scope) -> str:
    """Return the space-time diagram of a run: ``node_NAME_ROUND`` are its nodes."""
    crashes = [fault for fault in run.faults if isinstance(fault, Crash)]
    lines = ["rankdir=LR;"]
    for name in scope.nodes:
        lines.append(_point(f"proc_{name}", label=f"Process {name}", group=name))
        for time in range(1, scope.eot + 1):
            label = {"label": str(time), "group": name}
            if any(down(crash, name, time) for crash in crashes):
                label |= {"label": "CRASHED", "color": "red"}
            lines.append(_point(f"node_{name}_{time}", **label))
        chain = [f"proc_{name}"]
        chain += [f"node_{name}_{time}" for time in range(1, scope.eot + 1)]
        lines.append(f"{' -> '.join(map(quoted, chain))} [weight=2];")
    for sent in run.sent:
        if sent.time >= scope.eot:
            continue
        end = fate(sent, run.faults)
        arrives = min(sent.arrived or sent.time + 1, scope.eot)
        said = "" if end is MessageEnd.ARRIVES else f" ({str(end).upper()})"
        how = {"label": f"{sent.label}{said}", **_STYLES[end], "constraint": "false"}
        ends = f"node_{sent.src}_{sent.time}", f"node_{sent.dst}_{arrives}"
        lines.append(_edge(*ends, how))
    return _digraph("spacetime", lines)


def provenance_dot(provenance: ProvenanceGraph) -> str:
    """Return provenance: goals are ovals, rules boxes, and what was absent is black."""
    lines = []
    for number, goal in enumerate(provenance.goals):
        how = {"label": goal.label}
        if goal.is_absent:
            how |= {"style": "filled", "fontcolor": "white", "fillcolor": "black"}
        lines.append(_point(f"goal{number}", **how))
    for number, rule in enumerate(provenance.rules):
        how = {"label": rule.table, "shape": "box"}
        if rule.kind == "async":
            how["style"] = "dashed"
        lines.append(_point(f"rule{number}", **how))
    lines += [_edge(one, other, {}) for one, other in provenance.edges()]
    return _digraph("dataflow", lines)


def _digraph(name: str, lines: Iterable[str]) -> str:
    return "\n".join([f"digraph {name} {{", *(f"  {line}" for line in lines), "}\n"])


def _point(name: str, **how: str) -> str:
    return f"{quoted(name)}{_attributes(how)};"


def _edge(one: str, other: str, how: Mapping[str, str]) -> str:
    return f"{quoted(one)} -> {quoted(other)}{_attributes(how)};"


def _attributes(how: Mapping[str, str]) -> str:
    if not how:
        return ""
    return f" [{', '.join(f'{name}={quoted(value)}' for name, value in how.items())}]"
