"""Manim scenes of the lecture: one file and one class per scene.

Importing this package imports no Manim, so that listing the scenes stays quick; the scene
modules themselves do.
"""
