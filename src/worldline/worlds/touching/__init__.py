"""Fields that handlers may change, read off their code.

`sources` finds what a function was compiled from, `mentions` says what becomes of each
field that it mentions, `touched` puts that together for a handler and all that it calls.
"""
