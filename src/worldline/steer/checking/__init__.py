"""The immediate check: of what a handler did, before anything of it leaves its node.

`standpoint` is what a node knows of its system, `questions` are the properties and
elements that are judged from there, `judge` keeps their answers, and `immediate` asks
them about events.
"""
