"""A debugger for recorded runs, after MaceMC's mdb (NSDI 2007, section 5).

`timeline` gives the state at any step, `session` answers questions about it as plain
values, `commands` is the table of what can be asked in words, `text` says answers in
lines, `repl` reads commands from a terminal or a script. Nothing but the prompt prints:
every other view of a run calls `commands.answer`.
"""
