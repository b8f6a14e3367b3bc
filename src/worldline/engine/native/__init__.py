"""The compiled kernel: the loops of the engine in C++, over a copy of the tables.

`library` finds and loads it, `kernel_tables` keeps its copy of the tables, `breadth_first`
is a strategy that runs in it. ``kernel.cpp`` is the kernel itself, which hosts call, too, to
write and sync their journals.
"""
