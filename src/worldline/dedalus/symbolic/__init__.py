"""A program over all rounds becomes one question to a solver: which faults break it.

Faults are free choices within the scope, the rules of the program an answer-set program,
and an answer set in which `pre` has a row that `post` lacks is a counterexample. Nothing
is sampled: no answer set means that the program holds in the scope.

`encoding` writes the answer-set program, with `words`, `aggregates` and `faults`;
`solver` asks clingo, which is imported there and nowhere else; `search` and `frontier`
are the questions.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: section 4.1
(the program over all rounds), 2.1 (the faults). The paper solves for one derivation
after the other; here the program itself is solved.
Gebser, Kaminski, Kaufmann, Schaub, "Multi-shot ASP solving with clingo", TPLP 2019.
"""
