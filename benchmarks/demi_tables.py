"""Tables of minimised runs beside DEMi's, and what follows from them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchmarks.demi_cases import (
    DECLARED,
    ENOUGH_RUNS,
    FEWEST_RUNS,
    PUBLISHED,
    PUBLISHED_CONTENTS,
    REORDERING,
    WANTED,
    Best,
    Published,
    Size,
    take,
)
from benchmarks.demi_runs import Row


class Group(NamedTuple):
    """The minimised runs of a case on a network, with equal options."""

    case: str
    network: str
    options: tuple[str, ...]
    rows: Sequence[Row]

    @property
    def published(self) -> Published | None:
        """What DEMi came to."""
        return PUBLISHED.get(self.case)

    @property
    def final(self) -> float:
        """The median of deliveries in the end."""
        return statistics.median(row.final[0] for row in self.rows)

    @property
    def measure(self) -> str:
        """What a run should be compared with: the schedule by hand, or the best known."""
        one = self.published
        by_hand = one is None or one.keeps_order or self.network == REORDERING
        return "hand" if by_hand else "best known"

    def ratio(self, best: Best) -> float | None:
        """Return how many times as long as its measure the median run is."""
        if self.measure == "hand":
            return self.final / self.published.by_hand if self.published else None
        return self.ratio_to_best(best)

    def ratio_to_best(self, best: Best) -> float | None:
        """Return how many times as long as the best known run the median run is."""
        known = best.get((self.case, self.network))
        return None if known is None else self.final / known


def groups(rows: Iterable[Row]) -> list[Group]:
    """Return the newest row of each run, by case, network and options."""
    newest = {(r.case, r.network, r.options, r.seed): r for r in rows}
    by_key: dict[tuple[str, str, tuple[str, ...]], list[Row]] = {}
    for (case, network, options, _), row in newest.items():
        by_key.setdefault((case, network, options), []).append(row)
    order = list(PUBLISHED)
    made = [Group(*key, many) for key, many in by_key.items()]
    return sorted(
        made,
        key=lambda one: (
            order.index(one.case) if one.case in order else len(order),
            one.case,
            one.network,
            one.options,
        ),
    )


def nearest(best: Best, rows: Iterable[Row]) -> Best:
    """Return the fewest deliveries known once these runs are."""
    known = dict(best)
    for row in rows:
        take(known, row.case, row.network, row.final[0])
    return known


SIZES = """\
| case | network | runs | initial | provenance | STS | final | shortest | ÷ hand | \
÷ best known | no run is below, ÷ |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


def sizes(made: Sequence[Group], best: Best) -> str:
    """Return deliveries, with externals in brackets, stage by stage: medians."""
    lines = [SIZES]
    for number, one in enumerate(made):
        ended = [row.final[0] for row in one.rows]
        bounds = [row.lower_bound for row in one.rows if row.lower_bound is not None]
        hand = one.published.by_hand if one.published else None
        lines.append(
            _line(
                one.case,
                ", ".join((one.network, *one.options)),
                len(one.rows),
                *(
                    _size([getattr(row, stage) for row in one.rows])
                    for stage in ("initial", "provenance", "sts")
                ),
                f"**{_size([row.final for row in one.rows])}**{spread(ended)}",
                min(ended),
                _ratio(None if hand is None else one.final / hand),
                _ratio(one.ratio_to_best(best)),
                f"{max(bounds)}, {_ratio(one.final / max(bounds))}"
                if any(bounds)
                else None,
            )
        )
        is_last = number + 1 == len(made) or made[number + 1].case != one.case
        if is_last and one.published is not None:
            lines.append(_published(one.case, one.published, best))
    return "\n".join(lines)


def _published(case: str, one: Published, best: Best) -> str:
    known = best.get((case, REORDERING))
    return _line(
        case,
        "*DEMi*",
        1,
        one.initial,
        one.provenance,
        f"{one.ddmin or '–'}; {one.sts}",
        f"{one.final} ({one.externals})",
        f"{one.by_hand} by hand",
        _ratio(one.final / one.by_hand),
        _ratio(None if known is None else one.final / known),
        None,
    )


COSTS = """\
| case | network | schedules | events | CPU s: median, 90 % | events/CPU s | wall s | \
MiB | level | DEMi: schedules, s |
|---|---|---:|---:|---:|---:|---:|---:|---|---:|"""


def costs(made: Sequence[Group]) -> str:
    """Return what it cost: medians, and the 90th percentile of seconds."""
    lines = [COSTS]
    for one in made:
        rows, published = one.rows, one.published
        levels = Counter(
            "certified" if row.certified else row.level or row.bound or "none"
            for row in rows
        )
        rate = statistics.median(row.events / max(row.cpu, 0.01) for row in rows)
        lines.append(
            _line(
                one.case,
                ", ".join((one.network, *one.options)),
                f"{statistics.median(row.schedules for row in rows):,.0f}",
                f"{statistics.median(row.events for row in rows):,.0f}",
                _times([row.cpu for row in rows]),
                f"{rate:,.0f}",
                _times([row.wall for row in rows]),
                max(row.peak for row in rows),
                ", ".join(f"{n} {level}" for level, n in levels.most_common()),
                published and f"{published.schedules:,}, {published.seconds:,}",
            )
        )
    return "\n".join(lines)


def contents(made: Sequence[Group]) -> str:
    """Return table 3: deliveries, and how many members are told of how many."""
    lines = [
        "| contents of calls | runs | initial | STS | final | bootstraps | ids in each |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for one in made:
        rows = one.rows
        bootstraps = statistics.median(row.calls.get("bootstrap", 0) for row in rows)
        lines.append(
            _line(
                ", ".join(one.options) or "as they are",
                len(rows),
                _size([row.initial for row in rows]),
                _size([row.sts for row in rows]),
                _size([row.final for row in rows]),
                f"{bootstraps:g}",
                f"{statistics.median(row.ids for row in rows):g}",
            )
        )
    first = PUBLISHED_CONTENTS["initial"]
    for name, ids in (("without", 9), ("with", 5)):
        deliveries, count = PUBLISHED_CONTENTS[name]
        cells = (f"*DEMi*, {name} shrinking", 1, first[0], deliveries, None, count, ids)
        lines.append(_line(*cells))
    return "\n".join(lines)


def headlines(made: Sequence[Group], best: Best) -> str:
    """Return medians over cases beside what is wanted, and what is lacking."""
    plain = {(one.case, one.network): one for one in made if not one.options}
    raft = [name for name in PUBLISHED if name.startswith("raft")]
    said = []
    for network, wanted in ((REORDERING, 1.1), (DECLARED, 1.3)):
        ratios: dict[str, float] = {}
        for name in raft:
            one = plain.get((name, network)) or _of_free_network(plain, name)
            is_enough = one is not None and len(one.rows) >= FEWEST_RUNS
            ratio = one.ratio(best) if one and is_enough else None
            if ratio is not None:
                ratios[name] = ratio
        if ratios:
            each = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
            middle = statistics.median(ratios.values())
            met = "met" if middle <= wanted and len(ratios) == len(raft) else "missed"
            said.append(
                f"- Network {network}: **{middle:.2f}** times the measure, median of "
                f"{len(ratios)} of {len(raft)} Raft cases (wanted: {wanted}; {met}; "
                f"DEMi 1.56): {each}."
            )
    for name, most in WANTED.items():
        one = plain.get((name, DECLARED))
        if one is not None:
            met = "met" if one.final <= most else "missed"
            said.append(f"- {name}: {one.final:g} (wanted: {most}; {met}).")
    seconds = [row.wall for one in plain.values() for row in one.rows]
    if len(seconds) > 1:
        said.append(
            f"- Wall seconds, all these runs: {_times(seconds)} (wanted 10, 60)."
        )
    return "\n".join([*said, *(f"- {one}" for one in misses(plain.values()))])


def _of_free_network(plain: dict[tuple[str, str], Group], name: str) -> Group | None:
    """Return the runs of a case of which messages overtake each other anyway."""
    one = plain.get((name, DECLARED))
    return one if one and not any(row.keeps_order for row in one.rows) else None


def misses(made: Iterable[Group]) -> list[str]:
    """Return what there are too few runs of."""
    counts = {one.case: len(one.rows) for one in made if one.network == DECLARED}
    few = [n for n in PUBLISHED if FEWEST_RUNS <= counts.get(n, 0) < ENOUGH_RUNS]
    none = [n for n in PUBLISHED if counts.get(n, 0) < FEWEST_RUNS]
    said = [f"Fewer than {ENOUGH_RUNS} runs: {', '.join(few)}."] if few else []
    if none:
        said.append(f"A miss, with fewer than {FEWEST_RUNS}: {', '.join(none)}.")
    return said


def spread(values: Sequence[float]) -> str:
    """Return the middle half of some values, for a table; nothing of one value.

    Examples
    --------
    >>> spread([20, 22, 24, 30, 50])
    ', 22–30'
    """
    if len(values) < 2:
        return ""
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return f", {low:g}–{high:g}"


def _times(seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return f"{seconds[0]:.1f}"
    nine = statistics.quantiles(seconds, n=10, method="inclusive")[-1]
    return f"{statistics.median(seconds):.1f}, {nine:.1f}"


def _size(many: Sequence[Size]) -> str:
    deliveries, externals = (statistics.median(one) for one in zip(*many, strict=True))
    return f"{deliveries:g} ({externals:g})"


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _line(*cells: object) -> str:
    return f"| {' | '.join('–' if cell is None else str(cell) for cell in cells)} |"
