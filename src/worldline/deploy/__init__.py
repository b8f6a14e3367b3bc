"""Deployment: the nodes of a system on real sockets, with a journal for each.

Begin with `host`, which runs some nodes of a system; `runner` is one of them over its
lives, `life` one life, event by event, and `turn` what leaves together. `datagrams` and
`links` carry what nodes send; `accompanied` runs events beside companions: `beside` is
what these know of a life, `watching` asks them, `attended` knows of what it need not. What a journal says, and
what travels, is spelt in `worldline.trace.journal`.
"""
