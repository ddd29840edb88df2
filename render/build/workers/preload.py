"""Imported once by the process that workers are forked from: what makers need, but no scene.

What cannot be imported (a file that is being edited) is left to the worker, which reports it.
"""

import contextlib
import gc
import importlib
import os

from render.build.code import Code

os.chdir("/")  # no manim.cfg of the user's is read
_names = tuple(os.environ.get("LECTURE_PRELOAD", "").split())
for _name in _names:
    with contextlib.suppress(Exception):
        importlib.import_module(_name)
with contextlib.suppress(Exception):
    Code().files(_names)  # so that workers parse only what is not as it is now
gc.collect()
gc.freeze()
