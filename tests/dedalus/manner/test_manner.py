"""Programs as people write them, against all that can happen to them.

Each case is a program of this folder in a scope, with the verdict that its author had in
mind and the number of its least fault sets, by hand or by brute force (`force.py`). What
judges them shares nothing with the package, not even the reader.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from tests.dedalus.manner.force import Space, judged, tries_all
from tests.dedalus.manner.mutants import mutant
from tests.dedalus.manner.reading import Reader
from tests.shares import share

import worldline as wl
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.targets.opening import open_target
from worldline.model.errors import UsageError
from worldline.trace.format import read

HERE = Path(__file__).parent
HOLDS, VIOLATED, UNKNOWN = "HOLDS", "VIOLATED", "UNKNOWN"


@dataclass(frozen=True)
class Case:
    """A program in a scope; `least` is how many least fault sets break it."""

    name: str
    nodes: str
    eot: int
    eff: int
    crashes: int
    least: int
    halt: bool = False
    verdict: str = ""
    file: Path | None = None

    def __str__(self) -> str:
        scope = f"{self.eot}-{self.eff}-{self.crashes}"
        return f"{self.name}-{scope}" + "-halt" * self.halt

    @property
    def path(self) -> Path:
        return self.file or HERE / f"{self.name}.ded"

    @property
    def space(self) -> Space:
        nodes = tuple(self.nodes.split())
        return Space(nodes, self.eot, self.eff, self.crashes, self.halt)

    @property
    def expected(self) -> str:
        return self.verdict or (VIOLATED if self.least else HOLDS)


CASES = [
    # The paper's listings, as printed: the match of section 3.1.
    Case("simple-as-printed", "A B C", 4, 2, 1, least=2),
    Case("retry-as-printed", "A B C", 4, 2, 1, least=2),
    Case("redundant-as-printed", "A B C", 4, 2, 1, least=0),
    Case("redundant-as-printed", "A B C", 4, 3, 1, least=2),
    Case("redundant-as-printed", "A B C", 4, 2, 1, least=11, halt=True),
    Case("ack-as-printed", "A B C", 5, 2, 1, least=0),
    # What is kept is promised.
    Case("simple-outcomes", "A B C", 4, 2, 1, least=3),
    Case("simple-outcomes", "A B C", 4, 2, 1, least=14, halt=True),
    Case("gossip", "a b c", 5, 3, 0, least=0),
    Case("gossip", "a b c", 5, 3, 1, least=6),
    Case("rumour", "a b c", 5, 3, 1, least=5),
    # Labels, timers that nobody cancels, timers that somebody does.
    Case("poll", "t u v", 7, 3, 1, least=3),
    Case("poll", "t u v", 7, 0, 1, least=3),
    Case("poll", "t u v", 7, 0, 1, least=3, halt=True),
    Case("poll-optimist", "t u v", 7, 0, 2, least=0),
    Case("kitchen", "w1 w2 k", 6, 3, 1, least=2),
    Case("kitchen", "w1 w2 k", 6, 1, 2, least=0),
    Case("ring", "a b c d", 6, 2, 1, least=9),
    Case("ring", "a b c d", 8, 2, 0, least=0),
    # What is promised if somebody crashes.
    Case("completeness", "a b c", 6, 1, 1, least=0),
    Case("completeness", "a b c", 6, 3, 1, least=0, halt=True),
    Case("completeness", "a b c", 5, 2, 1, least=3),
    Case("completeness", "a b c", 6, 3, 0, least=0, verdict=UNKNOWN),
    Case("completeness-at-once", "a b c", 5, 1, 1, least=12),
    Case("accuracy", "a b c", 5, 4, 0, least=3),
    Case("accuracy", "a b c", 6, 2, 1, least=0),
    Case("accuracy", "a b c", 6, 2, 0, least=0, verdict=UNKNOWN),
    Case("shunned", "a b c", 5, 2, 1, least=2),
    Case("shunned", "a b c", 5, 3, 2, least=23),
    Case("shunned", "a b c", 5, 2, 1, least=0, halt=True),
    # Rules that look at several nodes.
    Case("repair", "a b c", 5, 3, 1, least=5),
    Case("repair", "a b c", 5, 3, 1, least=2, halt=True),
    Case("repair", "a b c", 6, 3, 0, least=0),
    Case("twins", "l a b c", 5, 3, 1, least=0),
    Case("twins", "l a b c", 5, 2, 2, least=105),
    Case("summons", "p q j", 5, 3, 1, least=6),
    Case("summons", "p q j", 5, 4, 0, least=0),
    # Numbers for names, and numbers of them.
    Case("ranks", "a b c", 5, 2, 0, least=0),
    Case("locks", "p q s", 7, 4, 0, least=0),
    Case("locks", "p q s", 7, 5, 1, least=2),
    Case("census", "x y z town", 5, 3, 0, least=0),
    Case("census", "x y z town", 5, 3, 1, least=9),
    Case("impatient", "w a b c", 5, 2, 2, least=9),
    Case("quorum", "w a b c", 5, 2, 1, least=0),
    # Races, chains, and receivers that are left open.
    Case("parcels", "depot porter clerk", 5, 4, 1, least=2),
    Case("chain", "c h m t", 6, 3, 1, least=0),
    Case("answered", "c h m t", 7, 3, 1, least=0),
    Case("answered", "c h m t", 6, 3, 0, least=1),
    Case("eviction", "s n1 n2", 5, 3, 1, least=4),
    Case("eviction", "s n1 n2", 5, 2, 0, least=0),
    Case("flood", "h n o", 6, 4, 1, least=0),
    Case("flood", "h n o", 5, 2, 0, least=1),
]
LARGE = [
    Case("quorum", "w a b c", 5, 2, 2, least=0),
    Case("ack-as-printed", "A B C", 5, 3, 1, least=0),
    Case("ack-as-printed", "A B C", 5, 3, 1, least=14, halt=True),
    Case("ranks", "a b c", 4, 4, 0, least=3),
    Case("census", "x y z town", 5, 4, 2, least=12),
    Case("kitchen", "w1 w2 k", 8, 4, 2, least=6),
]
SLOWER = {
    "redundant-as-printed-4-2-1-halt",
    "simple-outcomes-4-2-1-halt",
    "gossip-5-3-1",
    "poll-7-0-1-halt",
    "poll-7-3-1",
    "kitchen-6-3-1",
    "ring-6-2-1",
    "completeness-6-3-1-halt",
    "shunned-5-3-2",
    "repair-5-3-1-halt",
    "repair-5-3-1",
    "twins-5-2-2",
    "locks-7-5-1",
    "census-5-3-1",
    "flood-6-4-1",
    "impatient-5-2-2",
}
"""Nightly: most programs have another case."""
NAMES = sorted({case.name for case in CASES})


def answered(case: Case, directory: Path, engine: str) -> FaultsReport:
    return wl.find_faults(
        case.path,
        nodes=case.space.nodes,
        eot=case.eot,
        eff=case.eff,
        crashes=case.crashes,
        crash_semantics="halt" if case.halt else "mute",
        engine=engine,
        all=True,
        out=directory / "run.wl",
    )


def agrees(case: Case, directory: Path, engine: str) -> None:
    judgement = judged(Reader(case.path), case.space)
    assert (judgement.verdict, len(judgement.falsifiers)) == (case.expected, case.least)
    report = answered(case, directory, engine)
    least = {frozenset(map(str, faults)) for faults in report.falsifiers}
    assert report.verdict.name == case.expected
    assert least == judgement.falsifiers
    assert report.scope.nodes == case.space.nodes


def test_all_programs_of_the_folder_have_a_row():
    assert sorted(path.stem for path in HERE.glob("*.ded")) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", share(CASES, but=[c for c in CASES if str(c) in SLOWER]), ids=str
)
def test_the_solver_finds_what_brute_force_finds(case: Case, tmp_path: Path):
    agrees(case, tmp_path, "symbolic")


@pytest.mark.nightly
@pytest.mark.parametrize("case", LARGE, ids=str)
def test_the_solver_finds_what_brute_force_finds_in_larger_scopes(
    case: Case, tmp_path: Path
):
    agrees(case, tmp_path, "symbolic")


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=str)
def test_lineage_finds_what_brute_force_finds(case: Case, tmp_path: Path):
    agrees(case, tmp_path, "ldfi")


@pytest.mark.parametrize("name", NAMES)
def test_only_places_are_nodes_where_none_are_given(name: str):
    case = next(case for case in CASES if case.name == name)
    late = {"o"} if name == "flood" else set()  # named by the promise alone
    nodes = open_target(str(case.path), {}, None).nodes
    assert set(nodes) == set(case.space.nodes) - late


@pytest.mark.parametrize("name", ["parcels", "poll", "simple-outcomes", "twins"])
def test_a_run_that_breaks_what_is_at_no_place_is_run_again(name: str, tmp_path: Path):
    case = next(case for case in CASES if case.name == name and case.least)
    file = tmp_path / "run.wl"
    answered(case, tmp_path, "symbolic")
    assert read(file).header.names == case.space.nodes
    assert wl.replay(file, str(case.path)).reproduced


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            Case("retry-as-printed", "A B C", 4, 2, 1, least=11, halt=True),
            marks=pytest.mark.nightly,
        ),
        Case("parcels", "depot porter clerk", 5, 2, 1, least=2),
        pytest.param(
            Case("shunned", "a b c", 4, 2, 1, least=2), marks=pytest.mark.nightly
        ),
    ],
    ids=str,
)
def test_brute_force_misses_nothing_where_it_follows_rows(case: Case):
    program = Reader(case.path)
    assert judged(program, case.space) == tries_all(program, case.space)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(8))
def test_what_is_let_in_is_judged_right(seed: int, tmp_path: Path):
    """Programs with rules that nobody meant are refused, or mean what they say."""
    random, compared = Random(seed), 0
    file = tmp_path / "mutant.ded"
    for _ in range(100):
        case = random.choice(CASES)
        file.write_text(mutant(Reader(case.path), random))
        few = min(case.eff, 2), min(case.crashes, 1)
        nearly = replace(case, eot=5, eff=few[0], crashes=few[1], file=file)
        nearly = replace(nearly, halt=random.random() < 0.5)
        try:
            report = answered(nearly, tmp_path, "symbolic")
        except UsageError:
            continue
        compared += 1
        judgement = judged(Reader(file), nearly.space)
        least = {frozenset(map(str, faults)) for faults in report.falsifiers}
        assert report.verdict.name == judgement.verdict, file.read_text()
        assert least == judgement.falsifiers, file.read_text()
    assert compared > 20
