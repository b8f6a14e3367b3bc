"""The Dedalus programs of the LDFI paper: their files, nodes, scopes and verdicts.

They are read as text from this package; nothing is imported, and nothing is parsed here.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: figures 12 and
13 for the scopes and verdicts, sections 3 and 5.1 for the programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

_FOLDER = Path(__file__).parent
_REPLICAS = ("a", "b", "c")
_COMMIT = ("C", "a", "b", "d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program and the question that the paper asks of it.

    Attributes
    ----------
    nodes
        In the order of the paper's figures.
    eot, eff, crashes
        The scope of figure 12 or 13.
    holds
        The paper's verdict in that scope.
    lines
        How many lines of code the paper counts.
    about
        One line on what it is.
    """

    name: str
    nodes: tuple[str, ...]
    eot: int
    eff: int
    crashes: int
    holds: bool
    lines: int
    about: str

    @property
    def path(self) -> Path:
        """The file of the program."""
        return _FOLDER / f"{self.name}.ded"


def _program(
    name: str,
    nodes: tuple[str, ...],
    scope: tuple[int, int, int],
    *,
    holds: bool,
    lines: int,
    about: str,
) -> Program:
    eot, eff, crashes = scope
    return Program(
        name=name,
        nodes=nodes,
        eot=eot,
        eff=eff,
        crashes=crashes,
        holds=holds,
        lines=lines,
        about=about,
    )


PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        program.name: program
        for program in (
            _program(
                "simple-deliv",
                _REPLICAS,
                (4, 2, 0),
                holds=False,
                lines=4,
                about="best-effort broadcast",
            ),
            _program(
                "retry-deliv",
                _REPLICAS,
                (4, 2, 1),
                holds=False,
                lines=5,
                about="broadcast repeated by its sender",
            ),
            _program(
                "classic-deliv",
                _REPLICAS,
                (5, 3, 0),
                holds=False,
                lines=5,
                about="broadcast passed on once by each receiver",
            ),
            _program(
                "2pc",
                _COMMIT,
                (5, 0, 1),
                holds=False,
                lines=16,
                about="two-phase commit",
            ),
            _program(
                "2pc-ctp",
                _COMMIT,
                (8, 0, 1),
                holds=False,
                lines=25,
                about="two-phase commit with cooperative termination",
            ),
            _program(
                "3pc",
                _COMMIT,
                (9, 7, 1),
                holds=False,
                lines=24,
                about="three-phase commit",
            ),
            _program(
                "kafka",
                (*_REPLICAS, "C", "Z"),
                (6, 4, 1),
                holds=False,
                lines=18,
                about="replication with in-sync replicas",
            ),
            _program(
                "redun-deliv",
                _REPLICAS,
                (11, 10, 1),
                holds=True,
                lines=7,
                about="broadcast repeated by everybody",
            ),
            _program(
                "ack-deliv",
                _REPLICAS,
                (8, 7, 1),
                holds=True,
                lines=5,
                about="broadcast repeated until acknowledged",
            ),
            _program(
                "paxos-synod",
                _REPLICAS,
                (7, 6, 1),
                holds=True,
                lines=33,
                about="consensus on one value",
            ),
            _program(
                "bully-le",
                _REPLICAS,
                (10, 9, 1),
                holds=True,
                lines=11,
                about="leader election by the highest id",
            ),
            _program(
                "flux",
                ("p1", "p2", "c1", "c2"),
                (22, 21, 1),
                holds=True,
                lines=41,
                about="process pairs for dataflow",
            ),
        )
    }
)
"""By name, in the order of figures 12 and 13."""
