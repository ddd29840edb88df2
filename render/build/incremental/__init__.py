"""Which videos are up to date: what each was made from, and what of that has changed.

``code`` follows imports, ``surroundings`` names versions and the font, ``made`` is written by the
worker when a scene is finished, ``changes`` compares it with how things stand now.
"""
