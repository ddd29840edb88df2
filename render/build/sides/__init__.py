"""What lies beside a video: captions, chapters, cover, description; see ``media/sidefiles.py``.

``story`` says what is told in a video, ``about`` and ``chapters`` put it into words, ``keeper``
knows what is up to date and makes the rest.
"""
