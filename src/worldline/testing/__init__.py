"""Tests of systems under pytest, below the plugin `pytest_worldline`.

`budgets` is what the searches of a test may take, `running` one test as it runs,
`shortening` what a failed test is told beside its report.
"""
