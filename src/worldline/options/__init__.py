"""Options of verbs, each written once: for a Python function and for its command.

`declaring` is how a class of options is made and what is made of it, `values` what kinds
of values there are, `common` the options that most verbs have.
"""
