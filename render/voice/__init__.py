"""The voice of the lecture: what is said, by whom, how loud, and where in the film.

``spoken`` turns sentences into what is read aloud, ``script`` prints it. ``recordings`` looks at a
lecturer's files, ``provider`` finds a synthetic voice; ``loudness`` makes either ready, ``track``
puts it where its beat begins. ``voice`` is what an order knows of all that.
"""
