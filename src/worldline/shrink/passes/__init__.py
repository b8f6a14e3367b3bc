"""The passes of a minimisation, a module for each sort of candidate.

A pass has a name and a method `apply`, which proposes candidates to a campaign; it keeps
nothing between two calls. To add one, write its module and put it into `standard`.
"""
