"""A recorded run as tables, to be asked in SQL.

`source` looks a file over, `tables` has DuckDB read it and makes the tables, `texts` spells
their values for people, `views` answers the usual questions, `schema` says what all of them
hold. `asking` is where to start reading. Nothing here runs a system or loads one, and what
a file says is never part of a statement.
"""
