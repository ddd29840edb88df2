"""The visual vocabulary: what scenes are made of."""

from .equation import OVER, PLUS, TIMES, Equation, Root, Term
from .flow import Block, Mask, Wire, shape_of
from .formula import formula
from .grid import GAP, Grid, outline
from .header import Badge, Header, MiniMap, Narration
from .icons import Lock
from .looks import Look, cross
from .lookup import IdToken, LookupTable, sized
from .phrase import Facts, Glyphs, Number, Phrase, Quoted, Say, fill, row
from .shapes import Bars, Token, arrow, hatch, token_row
from .softmax import SoftmaxTable, row_sums

__all__ = [
    "GAP",
    "OVER",
    "PLUS",
    "TIMES",
    "Badge",
    "Bars",
    "Block",
    "Equation",
    "Facts",
    "Glyphs",
    "Grid",
    "Header",
    "IdToken",
    "Lock",
    "Look",
    "LookupTable",
    "Mask",
    "MiniMap",
    "Narration",
    "Number",
    "Phrase",
    "Quoted",
    "Root",
    "Say",
    "SoftmaxTable",
    "Term",
    "Token",
    "Wire",
    "arrow",
    "cross",
    "fill",
    "formula",
    "hatch",
    "outline",
    "row",
    "row_sums",
    "shape_of",
    "sized",
    "token_row",
]
