"""The visual vocabulary: what scenes are made of."""

from .equation import OVER, PLUS, TIMES, Equation, Root, Term
from .flow import Block, Mask, Wire, shape_of
from .grid import GAP, Grid, outline
from .header import Badge, Header, MiniMap, Narration
from .phrase import Facts, Glyphs, Number, Phrase, Quoted, Say, fill, row
from .shapes import Bars, Token, arrow, hatch, token_row

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
    "Mask",
    "MiniMap",
    "Narration",
    "Number",
    "Phrase",
    "Quoted",
    "Root",
    "Say",
    "Term",
    "Token",
    "Wire",
    "arrow",
    "fill",
    "hatch",
    "outline",
    "row",
    "shape_of",
    "token_row",
]
