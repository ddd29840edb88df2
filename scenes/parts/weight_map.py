"""All matrices of a model in one picture, some of them lit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from manim import LEFT, RIGHT, RoundedRectangle, VGroup

from engine.parameters import NORM_GAIN, NORM_SHIFT, OUTPUT

from .. import theme
from ..structure import embedding, has, has_final_norm, has_two_positions
from ..values import Run
from .header import stations
from .phrase import Phrase

#: Sub-layers and their matrices, in the columns of the map.
_COLUMNS = {
    "self_attn": {"WQ": "q_proj", "WK": "k_proj", "WV": "v_proj", "WO": "out_proj"},
    "cross_attn": {"WQ": "q_proj", "WK": "k_proj", "WV": "v_proj", "WO": "out_proj"},
    "ffn": {"W1": "linear1", "W2": "linear2"},
}


class WeightMap(VGroup):
    """A line for each layer, a box for each matrix and for each norm that has learned numbers;
    ``heads`` name the three kinds of sub-layer. A norm after the last layer has its own line."""

    LEFT_OF_BOXES, BOX, GAP, APART = -5.2, (1.0, 0.52), 0.08, 0.4
    #: The width of boxes where those of norms stand beside them.
    NARROW = 0.77
    TOP, BOTTOM = 2.38, -1.82

    def __init__(self, run: Run, heads: Sequence[Phrase], legend: Phrase | None = None) -> None:
        super().__init__()
        self.boxes: dict[str, VGroup] = {}
        self.lines, self.heads = VGroup(), VGroup(*heads)
        layers, self._norm = _layers(run), _norm_label(run)
        self._width = self.NARROW if self._norm else self.BOX[0]
        self._starts = self._columns()
        ends = [side for side in ("encoder", "decoder") if self._norm and has_final_norm(run, side)]
        self._pitch = (self.TOP - self.BOTTOM) / (len(layers) + len(ends) + 2)
        y = self.TOP - self._pitch
        for head, (kind, columns) in zip(heads, _COLUMNS.items(), strict=True):
            head.place([self._x(kind, (len(columns) - 1) / 2), y, 0])
        parts = list(stations(run).values())
        self._line(parts[0], _inputs(run), 0)
        place = 1
        for name, path, kinds in layers:
            place += 1
            self._line(name, self._layer(path, kinds), place)
            side = path.partition(".")[0]
            if side in ends and path == f"{side}.{len(run.layers(side)) - 1}":
                place += 1
                box = {f"{side}.norm.weight": (self._norm, "self_attn", 0)}
                self._line(f"{name[:3]} N", box, place)
        self._line(parts[-1], _output(run), place + 1)
        self.legend = VGroup()
        if legend is not None:
            self.legend.add(legend.place([theme.RIGHT_EDGE, self.TOP, 0], RIGHT))
        self.add(self.lines, self.heads, self.legend)

    def _layer(self, path: str, kinds: Sequence[str]) -> dict[str, tuple[str, str, int]]:
        """The boxes of a layer."""
        boxes = {}
        for number, kind in enumerate(kinds, start=1):
            columns = _COLUMNS[kind]
            for place, (label, matrix) in enumerate(columns.items()):
                boxes[f"{path}.{kind}.{matrix}.weight"] = (label, kind, place)
            if self._norm:
                boxes[f"{path}.norm{number}.weight"] = (self._norm, kind, len(columns))
        return boxes

    def _columns(self) -> dict[str, float]:
        starts, x = {}, self.LEFT_OF_BOXES
        for kind, columns in _COLUMNS.items():
            starts[kind] = x
            count = len(columns) + bool(self._norm)
            x += count * (self._width + self.GAP) - self.GAP + self.APART
        return starts

    def _x(self, kind: str, place: float) -> float:
        return self._starts[kind] + place * (self._width + self.GAP) + self._width / 2

    def _line(self, name: str, boxes: dict[str, tuple[str, str, int]], place: int) -> None:
        y = self.TOP - self._pitch * place
        label = Phrase(name, size=22, color=theme.INK, bold=True)
        line = VGroup(label.place([theme.LEFT_EDGE, y, 0], LEFT))
        for matrix, (text, kind, column) in boxes.items():
            box = _box(text, self._size, lit=False).move_to([self._x(kind, column), y, 0])
            self.boxes[matrix] = box
            line.add(box)
        self.lines.add(line)

    @property
    def _size(self) -> tuple[float, float]:
        return self._width, min(self.BOX[1], self._pitch - 0.1)

    def lit(self, names: Iterable[str]) -> dict[str, VGroup]:
        """For each of these matrices, and those of these biases, the box that takes the place of
        its own, lit and with a sign."""
        made: dict[str, VGroup] = {}
        for array in names:
            name = f"{array.removesuffix('.bias')}.weight" if array.endswith(".bias") else array
            if name in made:
                continue
            old = self.boxes.get(name)
            if old is not None:
                box = _box(f"{old[1].text} ≠", self._size, lit=True)
                made[name] = box.move_to(old)
        return made


def _inputs(run: Run) -> dict[str, tuple[str, str, int]]:
    """The boxes of the tables of words, and of learned positions."""
    tables = dict.fromkeys(embedding(run, sentence) for sentence in ("source", "target"))
    boxes = {f"{name}.weight": ("E", "self_attn", n) for n, name in enumerate(tables)}
    if run.setting("position.kind") == "learned":
        names = ("source_position", "target_position") if has_two_positions(run) else ("position",)
        for name in names:
            boxes[f"{name}.weight"] = ("P", "self_attn", len(boxes))
    return boxes


def _output(run: Run) -> dict[str, tuple[str, str, int]]:
    """The box of the output matrix; of its bias alone where the embedding table serves as that."""
    if not run.setting("tied_output"):
        return {"output_projection.weight": ("W", "self_attn", 0)}
    return {"output_projection.weight": ("b", "self_attn", 0)} if has(run, OUTPUT) else {}


def _norm_label(run: Run) -> str:
    """What norms have learned; empty where they have nothing."""
    return "γ" * has(run, NORM_GAIN) + "β" * has(run, NORM_SHIFT)


def _layers(run: Run) -> list[tuple[str, str, Sequence[str]]]:
    """Name on screen, name in the file, and sub-layers of each layer."""
    return [
        *((f"Enc {n + 1}", f"encoder.{n}", kinds) for n, kinds in enumerate(run.layers("encoder"))),
        *((f"Dec {n + 1}", f"decoder.{n}", kinds) for n, kinds in enumerate(run.layers("decoder"))),
    ]


def _box(text: str, size: tuple[float, float], *, lit: bool) -> VGroup:
    color = theme.INFERENCE if lit else theme.PANEL
    ink = theme.ink_on(color) if lit else theme.MUTED
    box = RoundedRectangle(
        width=size[0],
        height=size[1],
        corner_radius=0.1,
        stroke_width=1.5,
        stroke_color=theme.INFERENCE if lit else theme.HAIRLINE,
        fill_color=color,
        fill_opacity=1,
    )
    letters = 22 if size[0] >= WeightMap.BOX[0] else theme.SMALLEST
    label = Phrase(text, size=letters, color=ink, bold=lit)
    return VGroup(box, label.place(box.get_center()))
