"""Runs of a system: begun, confirmed, recorded, explained, replayed and reported.

What every search, minimiser and debugger shares; it knows worlds and files of runs, and
no search.
"""
