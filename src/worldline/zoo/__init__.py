"""Built-in systems: those of the papers, with each of their bugs as a switch.

A module here is written like a user's own: it imports nothing but the public face.
"""
