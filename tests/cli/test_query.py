"""``worldline query``: tables, JSON, CSV, Parquet, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import pytest
from tests.cli.command import refusal, run
from tests.trace.scenes import both_hold

from worldline.querying.exporting import EXPORTED
from worldline.querying.schema import TABLES
from worldline.trace.format import write

duckdb = pytest.importorskip("duckdb")

TRACE = "run.wl"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(both_hold(), TRACE)
    return tmp_path


def test_rows_are_a_table():
    result = run("query", TRACE, "SELECT step, node FROM steps WHERE step IN (1, 2)")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        "step  node",
        "────  ──────",
        "   1  server",
        "   2  alice",
        "(2 rows)",
    ]


def test_json_is_one_object_and_json_in_it_is_json():
    sql = "SELECT message, message_json, [1, NULL], 0.5::FLOAT FROM sends LIMIT 1"
    shown = json.loads(run("query", TRACE, sql, "--json").out)
    assert [column["type"] for column in shown["columns"]] == [
        *("VARCHAR", "JSON", "INTEGER[]", "FLOAT"),
    ]
    assert shown["rows"] == [
        ["Lock(ticket=30)", {"$is": "Lock", "ticket": 30}, [1, None], 0.5]
    ]


def test_csv_is_read_back():
    sql = "SELECT 'a,\"b' AS x, NULL AS y, [1, 2] AS z, true AS t"
    result = run("query", TRACE, sql, "--csv")
    assert [*csv.reader(io.StringIO(result.out))] == [
        ["x", "y", "z", "t"],
        ['a,"b', "", "[1, 2]", "true"],
    ]


def test_without_a_statement_the_tables_are_listed():
    result = run("query", TRACE)
    assert result.out.startswith("steps, ")
    assert "state_at(step): one for each field, after a step" in result.out
    listed = json.loads(run("query", TRACE, "--json").out)
    assert [*listed["tables"]] == [table.name for table in TABLES]
    assert listed["tables"]["nodes"]["rows"] == 3


def test_the_tables_are_exported(folder: Path):
    result = run("query", TRACE, "--export", "out")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(f"{len(EXPORTED)} files in out: ")
    written = {path.stem for path in (folder / "out").iterdir()}
    assert written == set(EXPORTED)
    counted = json.loads(run("query", TRACE, "--json").out)["tables"]
    for name, table in counted.items():
        place = str(folder / "out" / f"{name}.parquet")
        rows = duckdb.read_parquet(place).fetchall()
        assert len(rows) == table["rows"]
    both = run("query", TRACE, "SELECT 7 AS n", "--export", "out", "--csv")
    assert both.out == "n\n7\n"


@pytest.mark.parametrize("kind", ["text", "parquet", "folder", "link", "pipe"])
def test_what_is_no_table_of_ours_is_not_overwritten(kind: str, folder: Path):
    (folder / "out").mkdir()
    file = folder / "out" / "steps.parquet"
    if kind == "text":
        file.write_text("mine")
    elif kind == "parquet":
        duckdb.sql("SELECT 1 AS mine").write_parquet(str(file))
    elif kind == "folder":
        file.mkdir()
    elif kind == "link":
        file.symlink_to("nowhere")
    else:
        os.mkfifo(file)
    before = file.lstat()
    said = refusal(run("query", TRACE, "--export", "out"))
    assert "steps.parquet is there already, and is no table of ours" in said
    assert [path.name for path in (folder / "out").iterdir()] == ["steps.parquet"]
    assert file.lstat().st_mtime_ns == before.st_mtime_ns


def test_tables_of_ours_are_replaced(folder: Path):
    (folder / "out").mkdir()
    (folder / "out" / "mine.txt").write_text("mine")
    for _ in range(2):
        assert run("query", TRACE, "--export", "out").status == 0
    assert (folder / "out" / "mine.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_is_refused(folder: Path):
    (folder / "file").write_text("x")
    assert "cannot write tables to file" in refusal(
        run("query", TRACE, "--export", "file/below")
    )


def test_no_control_character_reaches_a_terminal():
    for form in ((), ("--csv",), ("--json",)):
        result = run("query", TRACE, "SELECT chr(27) || '[2J' AS \"a\x1bb\"", *form)
        assert result.status == 0
        assert "\x1b" not in result.out


def test_a_statement_is_read_from_standard_input(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 3 AS n"))
    assert run("query", TRACE, "-", "--csv").out == "n\n3\n"


def test_what_the_database_refuses_is_bad_usage():
    result = run("query", TRACE, "SELECT stp FROM steps")
    assert (result.status, result.out) == (2, "")
    assert 'Referenced column "stp" not found' in result.err
    assert "^^^" in result.err


@pytest.mark.parametrize("name", ["gone.wl", ".", "text.wl"])
def test_a_file_that_is_no_trace_has_the_error_of_every_verb(name: str, folder: Path):
    (folder / "text.wl").write_text("no trace")
    assert refusal(run("query", name)) == refusal(run("show", name))


def test_a_statement_stands_before_or_after_options():
    expected = run("query", TRACE, "SELECT 3 AS n", "--csv").out
    assert run("query", TRACE, "--csv", "SELECT 3 AS n").out == expected
    assert (
        run("query", "--csv", TRACE, "--threads", "1", "SELECT 3 AS n").out == "n\n3\n"
    )
    said = run("query", TRACE, "--csv", "SELECT 3", "and more").err
    assert "unrecognized arguments: and more; see 'worldline query --help'" in said
    said = run("query", "--csv").err
    assert "the following arguments are required: TRACE" in said
