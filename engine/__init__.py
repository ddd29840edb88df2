"""An exact, small Transformer in NumPy: every value of every pass by name, and its gradients.

For example, the attention weights of the first encoder layer, shape (heads, n, n):

    from engine import TUTORIAL, load_weights, training_pass
    trace = training_pass(load_weights(TUTORIAL))
    print(trace["encoder.0.self_attn.weights"])
"""

import signal
import sys
from pathlib import Path

if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # `python -m engine` is starting: until `engine.__main__` runs, Ctrl-C ends it without a word.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from engine.backward import gradients
from engine.config import Config, FinalNorm, Norm, Position
from engine.errors import LectureError
from engine.files import load_weights, save_weights
from engine.generation import Step, generate
from engine.model import SOURCE, TARGET, inference_pass, training_pass
from engine.recipe import random_weights, tutorial_weights
from engine.trace import Trace
from engine.training import Training, train
from engine.weights import Weights
from engine.words import Tokens

_WEIGHTS = Path(__file__).resolve().parent.parent / "assets" / "weights"
TUTORIAL = _WEIGHTS / "tutorial.json"
TUTORIAL_INFERENCE = _WEIGHTS / "tutorial-inference.json"

__all__ = [
    "SOURCE",
    "TARGET",
    "TUTORIAL",
    "TUTORIAL_INFERENCE",
    "Config",
    "FinalNorm",
    "LectureError",
    "Norm",
    "Position",
    "Step",
    "Tokens",
    "Trace",
    "Training",
    "Weights",
    "generate",
    "gradients",
    "inference_pass",
    "load_weights",
    "random_weights",
    "save_weights",
    "train",
    "training_pass",
    "tutorial_weights",
]
