"""A reader of DOT, as far as graphs of ours go: it refuses what Graphviz would."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

_TOKEN = re.compile(
    r'\s+|(?P<id>[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+|"(?:[^"\\\n]|\\.)*")'
    r"|(?P<mark>->|[{}\[\];=,])"
)
_KEYWORDS = {"node", "edge", "graph", "digraph", "subgraph", "strict"}


@dataclass
class Graph:
    name: str
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


def read(text: str) -> Graph:
    return _Reader(text).graph()


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            assert match is not None, text[at : at + 40]
            at = match.end()
            if match.lastgroup is not None:
                self._tokens.append((match.lastgroup, match[0]))
        self._at = 0

    def graph(self) -> Graph:
        assert self._take() == "digraph"
        made = Graph(self._name())
        self._expect("{")
        while self._peek() != "}":
            self._statement(made)
        self._expect("}")
        assert self._at == len(self._tokens)
        return made

    def _statement(self, made: Graph) -> None:
        names = [self._name()]
        if self._peek() == "=":
            self._take()
            self._name()
            self._expect(";")
            return
        while self._peek() == "->":
            self._take()
            names.append(self._name())
        how = self._attributes() if self._peek() == "[" else {}
        self._expect(";")
        if len(names) == 1:
            assert names[0] not in made.nodes
            made.nodes[names[0]] = how
        made.edges += [(a, b, how) for a, b in pairwise(names)]

    def _attributes(self) -> dict[str, str]:
        how: dict[str, str] = {}
        self._expect("[")
        while True:
            name = self._name()
            self._expect("=")
            how[name] = self._name()
            if self._peek() == "]":
                self._take()
                return how
            self._expect(",")

    def _name(self) -> str:
        kind, text = self._tokens[self._at]
        self._at += 1
        assert kind == "id"
        if not text.startswith('"'):
            assert text.lower() not in _KEYWORDS
            return text
        return re.sub(r"\\(.)", r"\1", text[1:-1])

    def _peek(self) -> str:
        return self._tokens[self._at][1]

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _expect(self, text: str) -> None:
        assert self._take() == text
