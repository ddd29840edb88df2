"""Captions in both languages for every video, from the clock of its beats; and their rules.

``sentences`` says what is said when, ``units`` where a sentence may be broken, ``breaking`` breaks
it into cues and lines, ``timing`` gives them their frames, ``lint`` checks all the rules again,
``files`` writes SRT and WebVTT.
"""
