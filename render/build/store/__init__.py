"""The store: finished scenes that any output folder, checkout or machine can take a video from.

``choice`` says where it is, ``place`` and ``remote`` reach it, ``questions`` tells what a scene
would be stored under as things stand now, ``store`` puts in and takes out, ``sweep`` keeps it
small, ``supply`` is what one run of the front door does with it.
"""
