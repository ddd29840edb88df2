"""``./render.sh compare OLD NEW``: what a change of weights does to the lecture.

``weights`` compares matrices and passes, ``scene`` plays a scene with both and draws the beats that
differ, ``pairs`` matches numbers and sentences, ``page`` and ``terminal`` show it all.
"""
