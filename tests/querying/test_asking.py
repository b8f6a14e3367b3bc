"""`wl.query`: what a statement may do, and what comes back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.trace.scenes import both_hold

import worldline as wl
from worldline.querying import duck
from worldline.querying.asking import ask, opened
from worldline.querying.duck import Connection, shut
from worldline.querying.schema import EXAMPLES, TABLES, VIEWS
from worldline.trace.format import write

pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("query") / "run.wl"
    write(both_hold(), path)
    return path


@pytest.fixture(scope="module")
def connection(place: Path):
    with opened(place, threads=1) as connected:
        shut(connected)
        yield connected


def test_rows_come_with_names_and_types(place: Path):
    found = wl.query(
        place, "SELECT step, node FROM steps WHERE step = ?", [1], threads=1
    )
    assert found.columns == ("step", "node")
    assert found.types == ("BIGINT", "VARCHAR")
    assert found.rows == ((1, "server"),)
    assert found.dicts() == [{"step": 1, "node": "server"}]


@pytest.mark.parametrize("table", [*TABLES, *VIEWS], ids=lambda table: table.name)
def test_every_table_has_the_columns_that_it_is_said_to_have(
    table: Any, connection: Connection
):
    name = table.name.replace("(step)", "(3)").replace("(width)", "(2)")
    found = ask(connection, f"SELECT * FROM {name}")
    said = table.columns
    if name.startswith("last_writer_at"):
        said = next(view.columns for view in VIEWS if view.name == "last_writer")
    assert [*zip(found.columns, found.types, strict=True)] == [
        (column.name, column.type) for column in said
    ]


def test_there_are_no_other_tables(connection: Connection):
    found = ask(connection, "SELECT table_name FROM information_schema.tables").rows
    views = {view.name for view in VIEWS if not view.name.endswith(")")}
    assert {name for (name,) in found} == {t.name for t in TABLES} | views | {"opening"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_are_answered(example: str, connection: Connection):
    ask(connection, example)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('{place}')",
        "SELECT * FROM '{place}'",
        "SELECT * FROM glob('/*')",
        "COPY steps TO '{place}'",
        "ATTACH '{place}'",
        "EXPORT DATABASE '{folder}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '1TB'",
        "SET threads = 64",
        "RESET lock_configuration",
        "CREATE PERSISTENT SECRET s (TYPE s3)",
        "SELECT * FROM variable_of_python",
    ],
)
def test_a_statement_reaches_nothing_outside(
    statement: str, place: Path, connection: Connection
):
    variable_of_python = [1]
    assert variable_of_python
    before = place.read_bytes()
    filled = statement.format(place=place, folder=place.parent / "out")
    with pytest.raises(wl.UsageError):
        ask(connection, filled)
    assert place.read_bytes() == before
    assert [path.name for path in place.parent.iterdir()] == ["run.wl"]


@pytest.mark.parametrize(
    "sql", ["", " ", ";", "-- x", "/* x */;", "SELEC 1", "SELECT nothing FROM steps"]
)
def test_what_is_no_statement_is_refused(sql: str, connection: Connection):
    with pytest.raises(wl.UsageError):
        ask(connection, sql)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("now()", "TIMESTAMP WITH TIME ZONE"),
        ("[now()]", r"TIMESTAMP WITH TIME ZONE\[\]"),
        ("{a: now()}", r"STRUCT\(a TIMESTAMP WITH TIME ZONE\)"),
    ],
)
def test_a_time_with_a_zone_has_to_be_cast(
    value: str, kind: str, connection: Connection
):
    with pytest.raises(wl.UsageError, match=f"column 2 is {kind}, .*::TIMESTAMP"):
        ask(connection, f"SELECT 1, {value}")
    cast = ask(connection, "SELECT '2007-04-11 10:00'::TIMESTAMPTZ::TIMESTAMP::VARCHAR")
    assert cast.rows[0][0].startswith("2007-04-1")


def test_a_statement_that_needs_too_much_is_told_what_to_do(place: Path):
    big = "SELECT string_agg(repeat('x', 1000000), '') FROM range(100000)"
    with pytest.raises(wl.UsageError, match="--max-memory"):
        wl.query(place, big, threads=1, max_memory=100)


def test_the_last_of_several_statements_is_the_answer(connection: Connection):
    done = ask(connection, "CREATE TEMP TABLE mine AS SELECT 1 AS one; FROM mine")
    assert done.rows == ((1,),)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"threads": 0}, "threads"),
        ({"max_memory": True}, "max_memory"),
        ({"sql": 3}, "sql is 3"),
        ({"trace": None}, "the trace"),
    ],
)
def test_what_is_no_argument_is_refused(given: dict[str, Any], said: str, place: Path):
    with pytest.raises(wl.UsageError, match=said):
        wl.query(**{"trace": place, "sql": "SELECT 1", **given})


def test_without_the_database_one_line_says_what_to_install(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(wl.UsageError) as caught:
        duck.database()
    assert str(caught.value) == (
        "queries need DuckDB, which is not installed; "
        "run: pip install 'worldline[query]'"
    )


@pytest.mark.slow
def test_nothing_but_the_database_is_needed(place: Path):
    """The extra brings no numpy; a function in Python for each row would need it."""
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['numpy', 'pandas', 'pyarrow']));"
        "import worldline as wl;"
        f"print(wl.query({str(place)!r}, 'FROM history').columns[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "node\n"
