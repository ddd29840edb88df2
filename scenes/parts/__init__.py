"""The visual vocabulary: what scenes are made of."""

from .attention import AttentionArrows, Fan, WeightArrow, token_column
from .bridge import Bridge, projections
from .card import SizeCard
from .contrast import Contrast, TableLine
from .equation import OVER, PLUS, TIMES, Equation, Root, Term
from .flow import Block, Mask, Wire, cross, shape_of
from .formula import formula
from .grid import GAP, Grid, cell_width, outline
from .header import Badge, Header, MiniMap, Narration, stations
from .icons import Lock
from .light import Beam
from .looks import Look
from .lookup import IdToken, LookupTable, sized
from .machine import Machine
from .miniature import Miniature, Parcel
from .mixing import WeightedSum
from .motion import EARLY, LATE, Flight, born_each, born_of, fly, hand_over
from .phrase import Facts, Glyphs, Number, Phrase, Quoted, Say, fill, row
from .plot import Plot
from .projection import Connections, DotProduct, Projection
from .score import ScoreLines
from .shapes import Bars, Token, arrow, hatch, token_row
from .softmax import SoftmaxTable, row_sums
from .strips import AddAndNorm, GainAndShift, Stages, Strip
from .vector import Vector, equals, signed
from .vocabulary import IdRow, Vocabulary
from .wave import COSINE, SINE, Wave, WaveTable, pair_of

__all__ = [
    "COSINE",
    "EARLY",
    "GAP",
    "LATE",
    "OVER",
    "PLUS",
    "SINE",
    "TIMES",
    "AddAndNorm",
    "AttentionArrows",
    "Badge",
    "Bars",
    "Beam",
    "Block",
    "Bridge",
    "Connections",
    "Contrast",
    "DotProduct",
    "Equation",
    "Facts",
    "Fan",
    "Flight",
    "GainAndShift",
    "Glyphs",
    "Grid",
    "Header",
    "IdRow",
    "IdToken",
    "Lock",
    "Look",
    "LookupTable",
    "Machine",
    "Mask",
    "MiniMap",
    "Miniature",
    "Narration",
    "Number",
    "Parcel",
    "Phrase",
    "Plot",
    "Projection",
    "Quoted",
    "Root",
    "Say",
    "ScoreLines",
    "SizeCard",
    "SoftmaxTable",
    "Stages",
    "Strip",
    "TableLine",
    "Term",
    "Token",
    "Vector",
    "Vocabulary",
    "Wave",
    "WaveTable",
    "WeightArrow",
    "WeightedSum",
    "Wire",
    "arrow",
    "born_each",
    "born_of",
    "cell_width",
    "cross",
    "equals",
    "fill",
    "fly",
    "formula",
    "hand_over",
    "hatch",
    "outline",
    "pair_of",
    "projections",
    "row",
    "row_sums",
    "shape_of",
    "signed",
    "sized",
    "stations",
    "token_column",
    "token_row",
]
