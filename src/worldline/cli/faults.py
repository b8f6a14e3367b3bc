"""``worldline faults``: which faults break a system, or that none of a scope do."""

from __future__ import annotations

import argparse

from worldline import _command
from worldline.cli.options import (
    add_json,
    add_machine_bounds,
    add_seed,
    assignments,
    count,
    file_place,
    names,
    place,
    positive,
    positive_seconds,
    print_json,
)
from worldline.cli.terminal import reclaim

SUMMARY = "find the faults that break a system, or certify that none do"

DESCRIPTION = """\
The question: which losses and crashes undo what a system promises?

Run a system in synchronous rounds, lose messages and crash nodes, and say whether any
such faults keep it from its promise: HOLDS if no faults of the scope do, VIOLATED with
the fewest faults that do, UNKNOWN if a bound was hit, or if the promise was never put to
the test: nothing was owed in any run, no call was made, or what must happen sometimes
did not. A scope is when a run ends (EOT),
from which round on no message is lost (EFF), and how many nodes may crash. Each answer
of VIOLATED is a run that was made; it is written to a file.
"""

EPILOG = """\
TARGET is
  FILE.ded ...              a Dedalus program: files that are read as one text
  zoo:NAME                  a built-in program or system, such as zoo:kafka
  FILE.py[:function]        a Python system, as for 'worldline check'
  package.module:function   the same, importable

engines:
  symbolic    all faults at once, for programs; the default, complete
  states      every state that faults lead to, for Python nodes; the default, complete
  ldfi        from the lineage of good runs backwards to the faults to try next; says
              HOLDS with '--negation conservative', never with 'ignore'
  random      random faults, until they break it
  exhaustive  every fault set; for very small scopes

examples:
  worldline faults zoo:retry-deliv                     two faults break it
  worldline faults zoo:redun-deliv --eot 6 --eff 5     certified
  worldline faults deliver.ded spec.ded --nodes a,b,c --eot 6 --eff 4 --crashes 1
  worldline faults zoo:kafka --engine ldfi --all       the paper's loop, to its end
  worldline faults zoo:classic-deliv --sweep 10        the smallest scope that breaks it
  worldline faults zoo:simple-deliv --harden           rules that make it hold
  worldline faults zoo:2pc --report out                a page with drawings

Messages that are sent in round t may be lost if t < EFF. Exit codes: 0 HOLDS,
1 VIOLATED, 2 bad usage, 3 UNKNOWN.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "targets", metavar="TARGET", nargs="+", help="what to break; see below"
    )
    parser.add_argument(
        "-p",
        dest="parameters",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a parameter of a system's function; may be repeated",
    )
    parser.add_argument(
        "--property",
        dest="properties",
        metavar="NAME",
        action="append",
        help="judge this property only; may be repeated",
    )
    _configure_scope(parser)
    _configure_search(parser)
    _configure_more(parser)
    add_json(parser)


def _configure_scope(parser: argparse.ArgumentParser) -> None:
    scope = parser.add_argument_group("scope")
    scope.add_argument(
        "--nodes",
        type=names,
        metavar="A,B,...",
        help="the nodes of a program, in order (default: those that it names)",
    )
    scope.add_argument(
        "--eot", type=positive, metavar="N", help="the last round (default: 6)"
    )
    scope.add_argument(
        "--eff",
        type=count,
        metavar="N",
        help="messages may be lost in rounds 1 to N - 1 (default: 4)",
    )
    scope.add_argument(
        "--crashes",
        type=count,
        metavar="N",
        help="how many nodes may crash (default: 1); the programs of the zoo have "
        "defaults of their own",
    )
    scope.add_argument(
        "--crash-nodes",
        type=names,
        metavar="A,B,...",
        help="the nodes that may crash (default: those that Faults(nodes=...) of the "
        "system names, or all)",
    )
    scope.add_argument(
        "--crash-semantics",
        choices=["mute", "halt", "partial"],
        help="a crashed node sends nothing any more but goes on by itself; or its "
        "state is gone; or the last round is sent in part (default: mute for programs, "
        "halt for Python nodes)",
    )
    scope.add_argument(
        "--recovery",
        action="store_true",
        help="crashed Python nodes may start again, with their durable fields",
    )
    scope.add_argument(
        "--delay",
        type=count,
        default=0,
        metavar="D",
        help="messages of programs may be up to D rounds late (default: %(default)s)",
    )


def _configure_search(parser: argparse.ArgumentParser) -> None:
    search = parser.add_argument_group("search")
    search.add_argument(
        "--engine",
        choices=["symbolic", "states", "ldfi", "random", "exhaustive"],
        help="see below (default: symbolic for programs, states for Python nodes)",
    )
    search.add_argument(
        "--negation",
        choices=["conservative", "ignore"],
        default="conservative",
        help="what ldfi takes for the lineage of what did not happen: all that may "
        "bring it about, or nothing (default: %(default)s)",
    )
    search.add_argument(
        "--goals",
        choices=["all", "failure-free"],
        default="all",
        help="what must not break: all that is owed in any run, or only what the run "
        "without faults keeps (default: %(default)s)",
    )
    search.add_argument(
        "--all",
        dest="every",
        action="store_true",
        help="find all falsifiers that have no other one in them",
    )
    search.add_argument(
        "--max-executions", type=positive, metavar="N", help="runs to make at most"
    )
    add_machine_bounds(search)
    add_seed(search)


def _configure_more(parser: argparse.ArgumentParser) -> None:
    more = parser.add_argument_group("more questions, and answers")
    more.add_argument(
        "--sweep",
        type=positive_seconds,
        metavar="SECONDS",
        help="try scope after scope for so long, beginning with the smallest; --eot "
        "and --eff are not used",
    )
    more.add_argument(
        "--frontier",
        action="store_true",
        help="for each number of crashes, find the fewest losses that break it",
    )
    more.add_argument(
        "--harden",
        action="store_true",
        help="suggest rules that make a broken program hold; each was certified",
    )
    more.add_argument(
        "--out",
        type=file_place,
        metavar="PATH",
        help="where the trace goes (default: worldline-out/NAME-faults.wl)",
    )
    more.add_argument(
        "--report",
        type=place,
        metavar="DIR",
        help="write a page with drawings, and the runs as JSON, into a folder",
    )


def run(arguments: argparse.Namespace) -> int:
    """Search for faults; return the exit code of the verdict."""
    from worldline.cli.progress import shown_faults
    from worldline.lineage.answering import answer
    from worldline.lineage.deciding import question_of
    from worldline.lineage.targets.opening import open_target
    from worldline.model.usercode.divergence import watched
    from worldline.model.usercode.interrupts import held

    question = question_of(
        nodes=arguments.nodes,
        properties=arguments.properties,
        crash_nodes=arguments.crash_nodes,
        eot=arguments.eot,
        eff=arguments.eff,
        crashes=arguments.crashes,
        crash_semantics=arguments.crash_semantics,
        delay=arguments.delay,
        recovery=arguments.recovery,
        engine=arguments.engine,
        negation=arguments.negation,
        goals=arguments.goals,
        every=arguments.every,
        max_executions=arguments.max_executions,
        max_seconds=arguments.max_seconds,
        max_memory_mb=arguments.max_memory,
        seed=arguments.seed,
        sweep=arguments.sweep,
        frontier=arguments.frontier,
        harden=arguments.harden,
    )
    given = assignments(arguments.parameters)
    target = open_target(arguments.targets, given, question.nodes, question.properties)
    _command.begin()
    with held(), watched(), shown_faults(target.name) as progress:
        report = answer(
            target,
            question,
            out=arguments.out,
            folder=arguments.report,
            progress=progress,
        )
        if arguments.json:
            print_json(report.to_json())
        else:
            reclaim()
            print(report)
        return report.verdict.exit_code
