"""Tiny scenes that stand in for the real ones, by coming first on the import path."""
