"""The fast renderer: plain Manim's frames, bit for bit, at a fraction of the work.

It is layered on Manim's own extension points (a renderer passed to the scene). A few methods of
Manim's mobjects and animations that have no hook are replaced while it works, see ``hooks``. The
work is done by a small compiled helper, built at first use, see ``native``; without a compiler,
plain Manim's renderer draws the same frames.
"""

from render.draw.fast.renderer import FastRenderer, choose

__all__ = ["FastRenderer", "choose"]
