"""``--watch``: render, wait until something is saved that the scenes depend on, render again.

``sources`` knows which files those are, ``loop`` waits and starts renders, each in a process of its
own (``child``), so that edited code is imported anew and a broken file breaks that render only.
"""
