"""Deployment: the nodes of a system on real sockets, with a journal for each.

Begin with `host`, which runs some nodes of a system; `runner` is one of them over its
lives, `life` one life, event by event, and `turn` what leaves together. `datagrams` and
`links` carry what nodes send. Beside companions, `accompanied` runs the events of a life:
`beside` is what they know of it, `watching` asks them, and `attended` knows of what it need
not ask. What a journal says, and what travels, is spelt in `worldline.trace.journal`.
"""
