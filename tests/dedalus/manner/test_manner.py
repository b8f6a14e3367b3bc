"""Programs as people write them, against all that can happen to them.

Each row is a program of this folder in a scope, with the verdict that its author had in
mind and the number of its least fault sets, by hand or by brute force (`force.py`). What
judges the rows shares nothing with the package, not even the reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.dedalus.manner.force import Space, judged, tries_all
from tests.dedalus.manner.reading import Reader

import worldline as wl
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.targets.opening import open_target
from worldline.trace.format import read

HERE = Path(__file__).parent
HOLDS, VIOLATED, UNKNOWN = "HOLDS", "VIOLATED", "UNKNOWN"


@dataclass(frozen=True)
class Row:
    """A program in a scope; `least` is how many least fault sets break it."""

    name: str
    nodes: str
    eot: int
    eff: int
    crashes: int
    least: int
    halt: bool = False
    verdict: str = ""

    def __str__(self) -> str:
        scope = f"{self.eot}-{self.eff}-{self.crashes}"
        return f"{self.name}-{scope}" + "-halt" * self.halt

    @property
    def path(self) -> Path:
        return HERE / f"{self.name}.ded"

    @property
    def space(self) -> Space:
        nodes = tuple(self.nodes.split())
        return Space(nodes, self.eot, self.eff, self.crashes, self.halt)

    @property
    def expected(self) -> str:
        return self.verdict or (VIOLATED if self.least else HOLDS)


ROWS = [
    # The paper's listings, as printed: the match of section 3.1.
    Row("simple-as-printed", "A B C", 4, 2, 1, least=2),
    Row("retry-as-printed", "A B C", 4, 2, 1, least=2),
    Row("redundant-as-printed", "A B C", 4, 2, 1, least=0),
    Row("redundant-as-printed", "A B C", 4, 3, 1, least=2),
    Row("redundant-as-printed", "A B C", 4, 2, 1, least=11, halt=True),
    Row("ack-as-printed", "A B C", 5, 2, 1, least=0),
    # What is kept is promised.
    Row("simple-outcomes", "A B C", 4, 2, 1, least=3),
    Row("simple-outcomes", "A B C", 4, 2, 1, least=14, halt=True),
    Row("gossip", "a b c", 5, 3, 0, least=0),
    Row("gossip", "a b c", 5, 3, 1, least=6),
    Row("rumour", "a b c", 5, 3, 1, least=5),
    # Labels, timers that nobody cancels, timers that somebody does.
    Row("poll", "t u v", 7, 3, 1, least=3),
    Row("poll", "t u v", 7, 0, 1, least=3),
    Row("poll", "t u v", 7, 0, 1, least=3, halt=True),
    Row("poll-optimist", "t u v", 7, 0, 2, least=0),
    Row("kitchen", "w1 w2 k", 6, 3, 1, least=2),
    Row("kitchen", "w1 w2 k", 6, 1, 2, least=0),
    Row("ring", "a b c d", 6, 2, 1, least=9),
    Row("ring", "a b c d", 8, 2, 0, least=0),
    # What is promised if somebody crashes.
    Row("completeness", "a b c", 6, 1, 1, least=0),
    Row("completeness", "a b c", 6, 3, 1, least=0, halt=True),
    Row("completeness", "a b c", 5, 2, 1, least=3),
    Row("completeness", "a b c", 6, 3, 0, least=0, verdict=UNKNOWN),
    Row("completeness-at-once", "a b c", 5, 1, 1, least=12),
    Row("accuracy", "a b c", 5, 4, 0, least=3),
    Row("accuracy", "a b c", 6, 2, 1, least=0),
    Row("accuracy", "a b c", 6, 2, 0, least=0, verdict=UNKNOWN),
    Row("shunned", "a b c", 5, 2, 1, least=2),
    Row("shunned", "a b c", 5, 3, 2, least=23),
    Row("shunned", "a b c", 5, 2, 1, least=0, halt=True),
    # Rules that look at several nodes.
    Row("repair", "a b c", 5, 3, 1, least=5),
    Row("repair", "a b c", 5, 3, 1, least=2, halt=True),
    Row("repair", "a b c", 6, 3, 0, least=0),
    Row("twins", "l a b c", 5, 3, 1, least=0),
    Row("twins", "l a b c", 5, 2, 2, least=105),
    Row("summons", "p q j", 5, 3, 1, least=6),
    Row("summons", "p q j", 5, 4, 0, least=0),
    # Numbers for names, and numbers of them.
    Row("ranks", "a b c", 5, 2, 0, least=0),
    Row("locks", "p q s", 7, 4, 0, least=0),
    Row("locks", "p q s", 7, 5, 1, least=2),
    Row("census", "x y z town", 5, 3, 0, least=0),
    Row("census", "x y z town", 5, 3, 1, least=9),
    Row("impatient", "w a b c", 5, 2, 2, least=9),
    Row("quorum", "w a b c", 5, 2, 1, least=0),
    # Races, chains, and receivers that are left open.
    Row("parcels", "depot porter clerk", 5, 4, 1, least=2),
    Row("chain", "c h m t", 6, 3, 1, least=0),
    Row("answered", "c h m t", 7, 3, 1, least=0),
    Row("answered", "c h m t", 6, 3, 0, least=1),
    Row("eviction", "s n1 n2", 5, 3, 1, least=4),
    Row("eviction", "s n1 n2", 5, 2, 0, least=0),
    Row("flood", "h n o", 6, 4, 1, least=0),
    Row("flood", "h n o", 5, 2, 0, least=1),
]
LARGE = [
    Row("quorum", "w a b c", 5, 2, 2, least=0),
    Row("ack-as-printed", "A B C", 5, 3, 1, least=0),
    Row("ack-as-printed", "A B C", 5, 3, 1, least=14, halt=True),
    Row("ranks", "a b c", 4, 4, 0, least=3),
    Row("census", "x y z town", 5, 4, 2, least=12),
    Row("kitchen", "w1 w2 k", 8, 4, 2, least=6),
]
NAMES = sorted({row.name for row in ROWS})


def answered(row: Row, directory: Path, engine: str) -> FaultsReport:
    return wl.find_faults(
        row.path,
        nodes=row.space.nodes,
        eot=row.eot,
        eff=row.eff,
        crashes=row.crashes,
        crash_semantics="halt" if row.halt else "mute",
        engine=engine,
        all=True,
        out=directory / "run.wl",
    )


def agrees(row: Row, directory: Path, engine: str) -> None:
    judgement = judged(Reader(row.path), row.space)
    assert (judgement.verdict, len(judgement.falsifiers)) == (row.expected, row.least)
    report = answered(row, directory, engine)
    least = {frozenset(map(str, faults)) for faults in report.falsifiers}
    assert report.verdict.name == row.expected
    assert least == judgement.falsifiers
    assert report.scope.nodes == row.space.nodes


def test_all_programs_of_the_folder_have_a_row():
    assert sorted(path.stem for path in HERE.glob("*.ded")) == NAMES


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_solver_finds_what_brute_force_finds(row: Row, tmp_path: Path):
    agrees(row, tmp_path, "symbolic")


@pytest.mark.nightly
@pytest.mark.parametrize("row", LARGE, ids=str)
def test_the_solver_finds_what_brute_force_finds_in_larger_scopes(
    row: Row, tmp_path: Path
):
    agrees(row, tmp_path, "symbolic")


@pytest.mark.nightly
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_lineage_finds_what_brute_force_finds(row: Row, tmp_path: Path):
    agrees(row, tmp_path, "ldfi")


@pytest.mark.parametrize("name", NAMES)
def test_only_places_are_nodes_where_none_are_given(name: str):
    row = next(row for row in ROWS if row.name == name)
    late = {"o"} if name == "flood" else set()  # named by the promise alone
    nodes = open_target(str(row.path), {}, None).nodes
    assert set(nodes) == set(row.space.nodes) - late


@pytest.mark.parametrize("name", ["parcels", "poll", "simple-outcomes", "twins"])
def test_a_run_that_breaks_what_is_at_no_place_is_run_again(name: str, tmp_path: Path):
    row = next(row for row in ROWS if row.name == name and row.least)
    file = tmp_path / "run.wl"
    answered(row, tmp_path, "symbolic")
    assert read(file).header.names == row.space.nodes
    assert wl.replay(file, str(row.path)).reproduced


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        Row("retry-as-printed", "A B C", 4, 2, 1, least=11, halt=True),
        Row("parcels", "depot porter clerk", 5, 2, 1, least=2),
        Row("shunned", "a b c", 4, 2, 1, least=2),
    ],
    ids=str,
)
def test_brute_force_misses_nothing_where_it_follows_rows(row: Row):
    program = Reader(row.path)
    assert judged(program, row.space) == tries_all(program, row.space)
