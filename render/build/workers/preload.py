"""Imported once by the process that workers are forked from: what drawing needs, but no scene.

What cannot be imported (a file that is being edited) is left to the worker, which reports it.
"""

import contextlib
import gc
import importlib
import os

os.chdir("/")  # no manim.cfg of the user's is read
for _name in ("scenes.base", "render.draw.scene"):
    with contextlib.suppress(Exception):
        importlib.import_module(_name)
gc.collect()
gc.freeze()
