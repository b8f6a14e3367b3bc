"""The symbolic engine against its goals: how long it takes to decide a scope.

Run ``python benchmarks/symbolic.py [--repeat N]``; it prints a table in Markdown. Times
are of the search (checked program to answer: encoding, grounding, solving, runs that
confirm), the least of N (default 3), after the solver was used once.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from worldline.dedalus.check import CheckedProgram, check, load
from worldline.dedalus.parse import parse_text
from worldline.dedalus.symbolic.search import Solution, search
from worldline.injection.scope import Scope
from worldline.zoo.programs import PROGRAMS

INCLUDE = re.compile(r'include "(.*)";')
LINK = re.compile(r'node\(".*", ".*"\)@1;')


@dataclass(frozen=True)
class Case:
    """A program in a scope, and within how many seconds it should be decided."""

    name: str
    scope: Scope
    goal: float

    @property
    def is_wide(self) -> bool:
        """Whether it has other nodes than the program's file."""
        return self.scope.nodes != PROGRAMS[self.name].nodes

    def program(self) -> CheckedProgram:
        """Return the program, for the nodes of the scope."""
        known, nodes = PROGRAMS[self.name], self.scope.nodes
        if not self.is_wide:
            return load([known.path], nodes)
        lines = [line for line in lines_of(known.path) if not LINK.match(line)]
        lines += [f'node("{one}", "{two}")@1;' for one, two in permutations(nodes, 2)]
        return check(parse_text("\n".join(lines)), nodes)


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a program and of what it includes."""
    for line in path.read_text("utf-8").splitlines():
        included = INCLUDE.match(line)
        if included is None:
            yield line
        else:
            yield from lines_of(path.parent / included[1])


def cases() -> Iterator[Case]:
    """Yield what is measured."""
    for name, known in PROGRAMS.items():
        # Flux is the largest: figure 13 has it, and it has a goal of its own.
        goal = 0.5 if name == "flux" else 0.1
        scope = Scope(known.nodes, known.eot, known.eff, known.crashes)
        yield Case(name, scope, goal)
    # The file broadcasts from a.
    ten = tuple("abcdefghij")
    for name in ("redun-deliv", "ack-deliv"):
        three = PROGRAMS[name].nodes
        yield Case(name, Scope(three, 50, 49, 1), 0.5)
        yield Case(name, Scope(three, 200, 199, 1), 10.0)
        yield Case(name, Scope(ten, 40, 39, 3), 4.0)
        yield Case(name, Scope(three, 20, 19, 1, delay=2), 1.0)
        yield Case(name, Scope(three, 2400, 2399, 1), 60.0)
    flux = PROGRAMS["flux"]
    yield Case("flux", Scope(flux.nodes, 400, 399, flux.crashes), 60.0)


def timed(case: Case, repeat: int) -> tuple[Solution, float, float]:
    """Return an answer, and the least wall and CPU seconds that it took."""
    checked = case.program()
    answers, walls, processors = [], [], []
    for _ in range(repeat):
        wall, processor = time.perf_counter(), time.process_time()
        answers.append(search(checked, case.scope))
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return answers[0], min(walls), min(processors)


def row(case: Case, repeat: int) -> str:
    """Measure a case, and return its line of the table."""
    answer, wall, processor = timed(case, repeat)
    scope = case.scope
    late = f", delay {scope.delay}" if scope.delay else ""
    cells = [
        case.name,
        str(len(scope.nodes)),
        f"⟨{scope.eot},{scope.eff},{scope.crashes}⟩{late}",
        answer.verdict.value.upper(),
        f"{processor:.3f}",
        f"{wall:.3f}",
        f"{case.goal:g}",
        "yes" if processor < case.goal else "no",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    first = next(cases())
    search(first.program(), first.scope)
    heads = "program | nodes | scope | verdict | CPU s | wall s | goal s | CPU in goal"
    print(f"| {heads} |")
    print("|" + "---|" * 8)
    for case in cases():
        print(row(case, repeat), flush=True)


if __name__ == "__main__":
    main()
