"""Control from outside: a host's nodes over HTTP on loopback, for people and scripts.

Begin with `server`, which opens it; `application` says what is asked and answered,
`access` who may ask, `values` how arguments and states are spelt, `metrics` what a
monitor reads, and `connections` how long a client may take. What comes in is a name, a
number of seconds, or plain data; no predicate, code or path does.

Nothing here is loaded unless it was asked for: HTTP comes with the extra `serve`.
"""
