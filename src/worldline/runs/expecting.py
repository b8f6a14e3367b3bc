"""What a test expects of a report, and what it is told where that is not so."""

from __future__ import annotations

from collections.abc import Iterator

from worldline.model.printable import one_line, printable
from worldline.model.verdicts import Verdict
from worldline.runs.loading import command
from worldline.runs.report import (
    PropertyFailed,
    PropertyReport,
    first_violated,
    refuse_unknown,
)
from worldline.show.steps import run_lines

_FIRST, _LAST = 10, 29
"""How many lines of a long run are shown, of its beginning and of its end."""


class Expecting:
    """What the reports of all searches have in common: verdicts on properties."""

    __slots__ = ()

    properties: tuple[PropertyReport, ...]

    @property
    def violated(self) -> PropertyReport | None:
        """The first property that is violated, if any is."""
        return first_violated(self.properties)

    def expect_no_violation(self) -> None:
        """Raise `PropertyFailed` if anything is violated; UNKNOWN is no violation.

        For searches with a bound, which cannot say HOLDS.

        Raises
        ------
        PropertyFailed
            With the report and the run as its text.
        """
        __tracebackhide__ = True
        if self.violated is not None:
            raise PropertyFailed(self.told())

    def expect_violated(self, name: str) -> PropertyReport:
        """Return the report on a property that is violated.

        Raises
        ------
        PropertyFailed
            If it is not.
        UsageError
            If there is none of that name.
        """
        __tracebackhide__ = True
        refuse_unknown(name, self.properties)
        for known in self.properties:
            if known.name == name and known.verdict is Verdict.VIOLATED:
                return known
        raise PropertyFailed(f"{name} was expected to be violated\n{self.told()}")

    def told(self) -> str:
        """Return the report and, if something is violated, its run in short."""
        return printable("\n".join([str(self), *short_run(self.violated)]))


def short_run(failed: PropertyReport | None) -> Iterator[str]:
    """Yield the steps of a violation's run; of many lines the first and the last.

    Nothing if there is no run, as where no trace was wanted.
    """
    if failed is None or failed.run is None:
        return
    lines = [one_line(line) for line in run_lines(failed.run)]
    yield ""
    if len(lines) <= _FIRST + _LAST + 1:
        yield from lines
        return
    where = "the run of this report"
    if failed.trace is not None:
        where = command("show", failed.trace, None)
    yield from lines[:_FIRST]
    yield f"... {len(lines) - _FIRST - _LAST} lines left out; all of them: {where}"
    yield from lines[-_LAST:]
