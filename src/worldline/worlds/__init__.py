"""Worlds: what can run a system one event at a time.

`door` is what a handler meets in either world; `direct` runs in place; `tabulated`
explores, with memory. Neither knows what is being searched for.
"""
