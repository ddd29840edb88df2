"""Captions in both languages for every video, from the clock of its beats; and their rules."""
