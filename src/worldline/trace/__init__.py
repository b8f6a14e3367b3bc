"""Runs as files: record, write, read, replay, explain and draw them.

`format` is the file, `json_values` how a value is spelt in it. `record` makes a trace
from a schedule, `replay` runs one again and compares. `steps`, `diagram` and
`exports` show a trace; they need the file alone, not the system's source.
"""
