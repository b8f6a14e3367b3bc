"""Synchronous rounds: one scheduler over the direct world, for injecting faults.

In round t each node, in the order of ids, takes the messages that were sent to it in
round t - 1, by sender and order of sending, then the timers that are due, then its
calls. What comes of it is an ordinary schedule of the system. Start with `scheduler`
(one run), `subject` (for searches that run) and `stepper` (for those that step).
"""
