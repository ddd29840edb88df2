"""From scenes to finished videos: tasks, workers, encoding, checking, joining, the command line.

Imports nothing heavy by itself: Manim is loaded in the workers only, PyAV where a file is checked.
"""
