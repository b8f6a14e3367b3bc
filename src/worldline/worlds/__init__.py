"""Worlds: what can run a system one event at a time.

`world` is their interface; `door` is what a handler meets in each; `direct` runs in
place; `tabulated` explores, with memory. None knows what is being searched for.
"""
