"""Files that are not whole and right, or oddly named, on their way into DuckDB."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.hostile.mutations import mutated, packed, unpacked
from tests.shares import share
from tests.trace.scenes import both_hold, granted_twice

import worldline as wl
from worldline.querying import source as looking
from worldline.querying.asking import ask, opened
from worldline.trace.format import read, write

pytest.importorskip("duckdb")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "run.wl"
    write(both_hold(), path)
    return path


def said_by_reader(path: Path, *, partial: bool = False) -> str | None:
    try:
        read(path, partial=partial)
    except wl.InputError as error:
        return str(error)
    return None


def said_by_query(path: Path, *, partial: bool = False) -> str | None:
    try:
        wl.query(path, "SELECT 1", partial=partial, threads=1)
    except wl.InputError as error:
        return str(error)
    return None


def bases() -> list[bytes]:
    found = []
    for trace in (both_hold(), granted_twice()):
        found.append(packed([line.encode() for line in _lines(trace)]))
    return found


def _lines(trace: wl.records.Trace) -> list[str]:
    from worldline.trace.format import lines_of

    return [*lines_of(trace)]


@pytest.mark.slow
@pytest.mark.parametrize("strict", share([5_000, 1], only=[5000]))
def test_what_every_verb_refuses_is_refused_with_the_same_words(
    strict: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(looking, "_STRICT_LINES", strict)
    assert refused_alike(15, strict, tmp_path) > 3


def test_where_few_lines_are_read_strictly_they_are_refused_with_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(looking, "_STRICT_LINES", 1)
    assert refused_alike(6, 1, tmp_path) > 0


def refused_alike(count: int, strict: int, folder: Path) -> int:
    """Where few lines are read strictly, DuckDB may take what no table needs."""
    path = folder / "run.wl"
    refused = 0
    for number in range(count):
        path.write_bytes(mutated(number, bases()))
        reader, query = said_by_reader(path), said_by_query(path)
        refused += query is not None
        assert query == reader or (strict == 1 and query is None), number
    return refused


@pytest.mark.nightly
@pytest.mark.parametrize("strict", [5_000, 1])
def test_so_is_whatever_somebody_could_make(
    strict: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(looking, "_STRICT_LINES", strict)
    path = tmp_path / "run.wl"
    for number in range(500):
        path.write_bytes(mutated(number, bases()))
        reader, query = said_by_reader(path), said_by_query(path)
        assert query == reader or (strict == 1 and query is None), number


def test_a_file_that_breaks_off_is_refused_or_taken_for_what_it_has(
    place: Path, tmp_path: Path
):
    lines = unpacked(place.read_bytes())
    torn = tmp_path / "torn.wl"
    torn.write_bytes(packed([*lines[:-1], b'{"record":"st'])[:-1])
    assert said_by_query(torn) == said_by_reader(torn)
    torn.write_bytes(packed(lines[:-3]))
    assert "truncated" in (said_by_query(torn) or "")
    partial = wl.query(torn, "SELECT count(*) FROM steps", partial=True, threads=1)
    assert partial.rows == ((len(read(torn, partial=True).steps),),)
    assert wl.query(torn, "SELECT verdict FROM run", partial=True, threads=1).rows == (
        (None,),
    )


def test_a_packed_file_that_is_cut_off_has_no_fewer_rows_than_lines(
    place: Path, tmp_path: Path
):
    """DuckDB by itself reads nothing from it, and says nothing."""
    torn = tmp_path / "torn.wl"
    torn.write_bytes(place.read_bytes()[:-40])
    for partial in (False, True):
        assert said_by_query(torn, partial=partial) == said_by_reader(
            torn, partial=partial
        )


@pytest.mark.parametrize(
    "name", ["a*b?.wl", "[ab].wl", "it's.wl", 'a"b; DROP.wl', "é\n.wl", "$x.csv", "-"]
)
def test_a_file_may_have_any_name(place: Path, name: str):
    odd = place.with_name(name)
    place.rename(odd)
    assert wl.query(odd, "SELECT count(*) > 5 FROM steps", threads=1).rows == ((True,),)


def test_a_folder_for_drafts_may_have_any_name(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    odd = tmp_path / "it's [a] *?"
    odd.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(odd))
    assert wl.query(place, "SELECT count(*) > 5 FROM steps", threads=1).rows == (
        (True,),
    )
    assert [*odd.iterdir()] == []


def test_half_a_character_is_spelt_out(place: Path):
    lines = unpacked(place.read_bytes())
    step = json.loads(lines[3])
    step["log"] = ["a\ud800b", "\U0001f600"]
    lines[3] = json.dumps(step).encode()
    place.write_bytes(packed(lines))
    assert said_by_reader(place) is None
    sql = "SELECT log FROM steps WHERE len(log) = 2"
    assert wl.query(place, sql, threads=1).rows == ((["a\\ud800b", "\U0001f600"],),)


@pytest.mark.parametrize("number", [1087, 1470])
def test_what_once_was_no_error_but_a_failure(number: int, tmp_path: Path):
    """A field named $is in the header; half a character there."""
    path = tmp_path / "run.wl"
    path.write_bytes(mutated(number, bases()))
    assert said_by_query(path) == said_by_reader(path)


def test_what_a_text_holds_is_never_part_of_a_statement(tmp_path: Path):
    evil = "'); DROP TABLE steps; --"
    lines = [line.replace("alice", evil) for line in _lines(both_hold())]
    place = tmp_path / "run.wl"
    place.write_bytes(packed([line.encode() for line in lines]))
    assert said_by_reader(place) is None
    with opened(place, threads=1) as connection:
        found = ask(connection, "SELECT count(*) FROM changes WHERE node = ?", [evil])
        assert found.rows[0][0] > 0
