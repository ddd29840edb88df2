"""The lecture in print: every numbered step with its computation written out from the trace.

``content`` is what a handout consists of; ``book``, ``workings`` and the ``steps_…`` modules make
one from a lesson; ``html`` and ``pdf`` set it.
"""
