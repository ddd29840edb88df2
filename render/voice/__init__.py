"""The voice of the lecture: what is said, by whom, how loud.

``choice`` says who speaks. With ``recordings`` each file of a scene is a product of ``audio``, and
its fact ``seconds`` is all that the play must know (``Voice.spoken``); a synthetic voice
(``provider``) is asked by the ``speaker`` during the play, and the pictures get a file ``sound`` as
long as the scene (``Speaker.track``). ``spoken`` turns sentences into what is read aloud,
``script`` prints it.
"""
