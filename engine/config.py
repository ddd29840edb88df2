"""The hyper-parameters of a model and the matrices that follow from them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from pathlib import Path

from engine.errors import LectureError, quoted

Layers = tuple[tuple[str, ...], ...]

SUBLAYERS = {
    "encoder": ("self_attn", "ffn"),
    "decoder": ("self_attn", "cross_attn", "ffn"),
}


@dataclass(frozen=True, slots=True)
class Config:
    """What fixes every shape. A layer is the list of its sub-layers, in the order they run, so
    that a decoder layer may do without cross-attention. Each sub-layer is followed by a residual
    addition and a layer normalisation (post-LN, Vaswani et al. 2017, section 3.1)."""

    vocabulary_size: int
    d_model: int
    heads: int
    d_ff: int
    max_length: int  # the longest source, target or prefix, in tokens
    encoder: Layers
    decoder: Layers
    layer_norm_eps: float = 1e-5  # added to the variance, inside the root

    @property
    def d_k(self) -> int:
        """Width of one head's queries, keys and values."""
        return self.d_model // self.heads

    def layers(self, side: str) -> Layers:
        """The layers of "encoder" or "decoder"."""
        return self.encoder if side == "encoder" else self.decoder


FILE_FIELDS = tuple(f.name for f in fields(Config) if f.name != "vocabulary_size")


def check_config(config: Config, where: str | Path | None = None) -> None:
    """Refuse a configuration no model can have. Raises LectureError."""
    for name in ("vocabulary_size", "d_model", "heads", "d_ff", "max_length"):
        value = getattr(config, name)
        if type(value) is not int or value < 1:
            raise LectureError(
                where=where,
                field=f"config.{name}",
                expected="a whole number of at least 1",
                found=quoted(value),
            )
    if config.d_model % config.heads:
        raise LectureError(
            where=where,
            field="config.d_model",
            expected=f"a multiple of the {config.heads} heads",
            found=str(config.d_model),
        )
    eps = config.layer_norm_eps
    if type(eps) not in (int, float) or not 0 < eps <= sys.float_info.max:
        raise LectureError(
            where=where,
            field="config.layer_norm_eps",
            expected="a number above 0",
            found=quoted(eps),
        )
    for side in SUBLAYERS:
        _check_layers(config.layers(side), side, where)


def _check_layers(layers: Layers, side: str, where: str | Path | None) -> None:
    """Layers are lists of sub-layer names, none empty, no name twice within one layer (the names
    of the trace would collide)."""
    allowed = SUBLAYERS[side]
    for number, layer in enumerate(_as_list(layers, f"config.{side}", where)):
        field = f"config.{side}[{number}]"
        kinds = _as_list(layer, field, where)
        if not kinds or any(kind not in allowed for kind in kinds) or len(set(kinds)) < len(kinds):
            raise LectureError(
                where=where,
                field=field,
                expected=f"a list of {', '.join(allowed)}, each at most once",
                found=quoted(list(kinds)),
            )


def _as_list(value: object, field: str, where: str | Path | None) -> tuple[object, ...]:
    if not isinstance(value, tuple):
        raise LectureError(where=where, field=field, expected="a list", found=quoted(value))
    return value


def parameter_shapes(config: Config) -> dict[str, tuple[int, int]]:
    """Every matrix of the model with its shape (out, in), in forward order."""
    width = config.d_model
    shapes = {"embedding.weight": (config.vocabulary_size, width)}
    for side in SUBLAYERS:
        for number, kinds in enumerate(config.layers(side)):
            for kind in kinds:
                name = f"{side}.{number}.{kind}"
                if kind == "ffn":
                    shapes[f"{name}.linear1.weight"] = (config.d_ff, width)
                    shapes[f"{name}.linear2.weight"] = (width, config.d_ff)
                    continue
                for projection in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    shapes[f"{name}.{projection}.weight"] = (width, width)
    shapes["output_projection.weight"] = (config.vocabulary_size, width)
    return shapes
