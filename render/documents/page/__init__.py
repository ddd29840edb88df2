"""The course page: a folder with the videos, their captions and the full text, that needs no
network and no server.

``lecture`` says what is shown, ``build`` writes the folder; ``files`` holds what goes into it as it
is: one page, one style sheet, one script.
"""
