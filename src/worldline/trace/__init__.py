"""Traces: runs as files, readable without the system's source.

`format` reads and writes the file, `records` is what stands in it, `json_values` how a
value is spelt. `worldline.runs` makes traces and runs them again; `worldline.show` shows
them.
"""
