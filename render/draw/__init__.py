"""From a scene to encoded pictures: Manim, the fast renderer, the worker that runs it."""
