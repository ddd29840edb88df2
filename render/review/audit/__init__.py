"""Audits: is every number on screen the engine's, and is every picture laid out to be read?

``provenance`` recomputes numbers, ``sums`` checks equations, ``tables`` checks matrices,
``layout`` checks the picture; ``sweep`` runs them over scenes, languages and weight files.
"""
