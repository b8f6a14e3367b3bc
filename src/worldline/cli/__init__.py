"""The command line: one module per verb, each a thin face of the Python API.

A verb's module says what it takes (`configure`) and what it does (`run`), and imports
what it needs only when it runs. `main` puts them together and turns every error into
one message and an exit code.
"""
