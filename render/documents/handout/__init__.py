"""The lecture in print: every numbered step (``steps_…``) with its computation written out from
the trace, as plain data (``content``) that ``html`` and ``pdf`` set."""
