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


@dataclass(frozen=True, slots=True)
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
        What it is, in a few words.
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

    @property
    def command(self) -> str:
        """What asks the paper's question; it lacks the leading ``worldline``."""
        return _asking(self.name, self.eot, self.eff, self.crashes)


def _asking(name: str, eot: int, eff: int, crashes: int) -> str:
    return f"faults zoo:{name} --eot {eot} --eff {eff} --crashes {crashes}"


_THREE = ("a", "b", "c")
_COMMIT = ("C", "a", "b", "d")
_KAFKA = ("a", "b", "c", "C", "Z")
_PAIRS = ("p1", "p2", "c1", "c2")

_TABLE = (
    ("simple-deliv", _THREE, 4, 2, 0, False, 4, "broadcast, once"),
    ("retry-deliv", _THREE, 4, 2, 1, False, 5, "broadcast, repeated by its sender"),
    ("classic-deliv", _THREE, 5, 3, 0, False, 5, "broadcast, passed on when received"),
    ("2pc", _COMMIT, 5, 0, 1, False, 16, "two-phase commit"),
    ("2pc-ctp", _COMMIT, 8, 0, 1, False, 25, "2pc with cooperative termination"),
    ("3pc", _COMMIT, 9, 7, 1, False, 24, "three-phase commit"),
    ("kafka", _KAFKA, 6, 4, 1, False, 18, "replication to the replicas in sync"),
    ("redun-deliv", _THREE, 11, 10, 1, True, 7, "broadcast, repeated by everybody"),
    ("ack-deliv", _THREE, 8, 7, 1, True, 5, "broadcast, until acknowledged"),
    ("paxos-synod", _THREE, 7, 6, 1, True, 33, "consensus on one value"),
    ("bully-le", _THREE, 10, 9, 1, True, 11, "election of the highest candidate"),
    ("flux", _PAIRS, 22, 21, 1, True, 41, "process pairs for dataflow"),
)

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {row[0]: Program(*row) for row in _TABLE}
)
"""By name, in the order of figures 12 and 13."""

_FOUND = ("simple", "retry", "classic", "2pc", "2pc-ctp", "3pc", "kafka")
_CERTIFIED = ("redun", "ack", "paxos-synod", "bully", "flux")
_FULL = {
    **{
        name: f"{name}-deliv" for name in ("simple", "retry", "classic", "redun", "ack")
    },
    "bully": "bully-le",
}
"""The programs whose cases have shorter names."""


def _commands(prefix: str, names: tuple[str, ...]) -> dict[str, str]:
    full = {name: _FULL.get(name, name) for name in names}
    return {f"{prefix}-{name}": PROGRAMS[full[name]].command for name in names}


BUGS = {"molly": _commands("molly", _FOUND)}
"""By paper and name of each bug, the command that finds it: figure 12."""

CONTROLS = {
    "molly": {
        **_commands("ctl", _CERTIFIED),
        "ctl-classic-failstop": _asking("classic-deliv", 5, 0, 2),
        # What a mute coordinator decides after its crash would count.
        "ctl-3pc-failstop": f"{_asking('3pc', 9, 0, 2)} --crash-semantics halt",
    }
}
"""The same where nothing may be found: figure 13, and crashes alone for two of 12."""
