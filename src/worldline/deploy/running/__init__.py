"""A run of a whole system on real sockets, as the command line asks for it.

Begin with `run`. `plan` works out what is to be run before anything starts; `here` runs
nodes in this process, `supervisor` each in one of its own (`node_process`), with which it
talks in the lines that `channel` describes; `report` is what comes of it.
"""
