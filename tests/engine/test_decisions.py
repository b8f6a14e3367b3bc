"""Decision trees: a verdict is remembered for what it depends on, and no more."""

from __future__ import annotations

import random

from worldline.engine.decisions import ColumnQuestion, Decision


class Asker:
    """Evaluates a predicate that reads columns one at a time, and counts."""

    def __init__(self) -> None:
        self.calls = 0
        self.tables: dict[int, dict[int, int]] = {}

    def __call__(self, decision: Decision, row: list[int]) -> bool:
        self.calls += 1
        path: list[tuple[ColumnQuestion, int]] = []

        def read(column: int) -> int:
            answers = self.tables.setdefault(column, {})
            answers[row[column]] = row[column] % 3
            path.append((ColumnQuestion(column, column, answers), row[column] % 3))
            return row[column] % 3

        verdict = read(0) == 0 or read(1 if read(2) else 3) == 1
        decision.learn(path, verdict)
        return verdict


def expected(row: list[int]) -> bool:
    first, *rest = (value % 3 for value in row)
    return first == 0 or (rest[0] if rest[1] else rest[2]) == 1


def test_a_decision_agrees_with_its_predicate_on_random_rows() -> None:
    generator = random.Random(7)
    decision = Decision(Asker())
    for _ in range(3000):
        row = [generator.randrange(9) for _ in range(4)]
        assert decision(row) is expected(row)


def test_a_predicate_is_not_evaluated_again_for_answers_it_has_seen() -> None:
    asker = Asker()
    decision = Decision(asker)
    rows = [
        [a, b, c, d]
        for a in range(9)
        for b in range(3)
        for c in range(3)
        for d in range(3)
    ]
    for row in rows:
        decision(row)
    calls = asker.calls
    assert calls < len(rows) / 3
    for row in rows:
        decision(row)
    assert asker.calls == calls


def test_a_decision_that_reads_nothing_is_constant() -> None:
    calls = []

    def evaluate(decision: Decision, row: list[int]) -> bool:
        calls.append(row)
        decision.learn([], True)
        return True

    decision = Decision(evaluate)
    assert decision([1])
    assert decision([2])
    assert len(calls) == 1


def test_another_decision_can_be_the_answer() -> None:
    inner = Decision(Asker())

    def evaluate(decision: Decision, row: list[int]) -> bool:
        verdict = inner(row)
        decision.learn([(ColumnQuestion("inner", -1, {}, inner), verdict)], not verdict)
        return not verdict

    outer = Decision(evaluate)
    generator = random.Random(3)
    for _ in range(500):
        row = [generator.randrange(9) for _ in range(4)]
        assert outer(row) is not expected(row)
