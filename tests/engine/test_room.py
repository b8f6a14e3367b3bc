"""How much memory a search may have, from what the system says is free."""

import sys
from pathlib import Path

import pytest

from worldline.engine import room
from worldline.engine.bounds import BoundHit, Bounds, Meter
from worldline.engine.room import MIB, Room, about_to_grow, free, resident

GIB = 2**30


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the root of control groups of which this process is in none yet."""
    monkeypatch.setenv(room.GROUPS, str(tmp_path))
    monkeypatch.setattr(room, "_left_in_machine", lambda: 64 * GIB)
    monkeypatch.setattr(room, "resident", lambda: GIB)
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    return tmp_path


def group(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / name.replace("__", ".")).write_text(f"{value}\n")


def test_without_control_groups_the_machine_decides(groups: Path):
    assert free() == 64 * GIB
    assert Room().ceiling == GIB + 48 * GIB


def test_a_group_of_the_second_version_bounds_what_is_free(groups: Path):
    group(groups, memory__max=8 * GIB, memory__current=5 * GIB)
    assert free() == 3 * GIB


def test_what_is_only_cached_is_free(groups: Path):
    group(groups, memory__max=8 * GIB, memory__current=5 * GIB)
    group(groups, memory__stat=f"anon 5\ninactive_file {GIB}")
    assert free() == 4 * GIB


def test_a_group_without_a_limit_bounds_nothing(groups: Path):
    group(groups, memory__max="max", memory__current=5 * GIB)
    group(groups / "memory", memory__limit_in_bytes=2**63 - 4096)
    assert free() == 64 * GIB


def test_a_group_of_the_first_version_bounds_what_is_free(groups: Path):
    files = {"memory__limit_in_bytes": 4 * GIB, "memory__usage_in_bytes": GIB}
    group(groups / "memory", **files)
    assert free() == 3 * GIB


def test_of_groups_in_groups_the_least_decides(
    groups: Path, monkeypatch: pytest.MonkeyPatch
):
    own = ["0::/outer/inner", "4:memory:/a/b", "9:name=systemd:/outer"]
    monkeypatch.setattr(
        room,
        "_lines",
        lambda path: (
            own
            if path == Path("/proc/self/cgroup")
            else path.read_text().splitlines()
            if path.exists()
            else []
        ),
    )
    group(groups / "outer/inner", memory__max=9 * GIB, memory__current=0)
    group(groups / "memory/a/b", memory__limit_in_bytes=7 * GIB)
    assert free() == 6 * GIB
    group(groups / "outer", memory__max=5 * GIB, memory__current=0)
    assert free() == 5 * GIB


def test_a_group_that_does_not_say_what_is_used_has_this_process_alone(groups: Path):
    group(groups, memory__max=3 * GIB)
    assert free() == 2 * GIB


def test_where_nobody_tells_there_is_no_bound(
    groups: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(room, "_left_in_machine", lambda: -1)
    assert (free(), Room().ceiling, Room().is_left) == (None, None, True)


def test_processes_that_share_a_parent_share_what_is_free(
    groups: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    assert Room().ceiling == GIB + 12 * GIB


def test_a_bound_that_is_given_takes_the_place_of_the_default(groups: Path):
    assert Room(60 * 1024).ceiling == 60 * GIB - int(60 * GIB * 0.01)


@pytest.mark.parametrize("given_mb", [2**31, 10**30])
def test_no_bound_reaches_beyond_the_machine(groups: Path, given_mb: int):
    group(groups, memory__max=10 * GIB, memory__current=0)
    assert Room(given_mb).ceiling == GIB + int(10 * GIB * 0.97)


def test_the_bound_sinks_while_others_take_what_was_free(
    groups: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(room, "_LOOK_S", 0.0)
    watched = Room()
    monkeypatch.setattr(room, "_left_in_machine", lambda: 40 * GIB)
    assert watched.ceiling == GIB + 24 * GIB
    monkeypatch.setattr(room, "_left_in_machine", lambda: 2 * GIB)
    assert not watched.is_left
    monkeypatch.setattr(room, "_left_in_machine", lambda: 640 * GIB)
    assert watched.ceiling == GIB + 48 * GIB


def test_what_is_free_is_looked_at_again_only_after_a_second(
    groups: Path, monkeypatch: pytest.MonkeyPatch
):
    watched = Room()
    monkeypatch.setattr(room, "_left_in_machine", lambda: 0)
    assert watched.ceiling == GIB + 48 * GIB


def test_this_machine_tells_something():
    assert MIB < resident() < 2**45


def grown(container: dict[int, None] | set[int], add: object) -> list[tuple[int, int]]:
    """Return for each time it grew what was expected just before, and what it took."""
    found, number = [], 0
    before, expected = sys.getsizeof(container), 0
    while before < 2**23:
        expected = about_to_grow(container)
        add(number)  # type: ignore[operator]
        number += 1
        if (now := sys.getsizeof(container)) != before:
            if before >= 2**21:
                found.append((expected, now))
            before = now
    return found


@pytest.mark.slow
def test_it_is_known_when_a_table_of_python_will_grow():
    numbers: set[int] = set()
    names: dict[int, None] = {}
    steps = grown(numbers, numbers.add) + grown(names, names.setdefault)
    assert len(steps) >= 3
    assert [step for step in steps if step[0] < 0.9 * step[1]] == []


def test_a_table_with_room_is_not_about_to_grow():
    assert about_to_grow(set(range(2**17 + 2**15))) == 0
    assert about_to_grow({}) == 0


def test_memory_is_kept_for_a_table_that_is_about_to_grow(
    monkeypatch: pytest.MonkeyPatch,
):
    meter = Meter(Bounds(memory_mb=int(resident() / MIB) + 5_000))
    full: set[int] = set()
    while not about_to_grow(full):
        full.update(range(len(full), len(full) + 1000))
    meter.check([full])
    monkeypatch.setattr("worldline.engine.bounds._LOOK_S", -1.0)
    monkeypatch.setattr(room, "resident", lambda: 10**15)
    with pytest.raises(BoundHit, match="memory"):
        meter.check()
    monkeypatch.setattr(room, "resident", lambda: resident() + 5_000 * MIB - 2**20)
    with pytest.raises(BoundHit, match="memory"):
        meter.check([full])


def test_where_there_is_no_memory_for_a_look_that_is_the_bound(
    monkeypatch: pytest.MonkeyPatch,
):
    def refused(*args: object, **options: object) -> object:
        raise MemoryError

    meter = Meter(Bounds())
    monkeypatch.setattr("builtins.open", refused)
    monkeypatch.setattr(Path, "read_text", refused)
    monkeypatch.setattr(room, "_LOOK_S", -1.0)
    with pytest.raises(BoundHit, match="memory"):
        meter.check()
    assert "MiB" in meter.spent_words()
    assert room.memory_mb() > 0
    with pytest.raises(BoundHit, match="memory"):
        meter.going_on().need(MIB)
    assert free() == 0
