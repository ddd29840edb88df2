"""The hyper-parameters of a model: what is the same for any numbers in its matrices."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from engine.errors import LectureError, quoted

Layers = tuple[tuple[str, ...], ...]

SUBLAYERS = {
    "encoder": ("self_attn", "ffn"),
    "decoder": ("self_attn", "cross_attn", "ffn"),
}


@dataclass(frozen=True, slots=True)
class Norm:
    """Layer normalisation. `place`: "post", after each residual addition (Vaswani et al. 2017), or
    "pre", before each sub-layer. `variance`: over d ("biased") or d - 1 ("unbiased") numbers.
    `eps` is added to the variance ("root") or to its square root ("outside")."""

    place: str = "post"
    variance: str = "biased"
    eps_in: str = "root"
    eps: float = 1e-5


@dataclass(frozen=True, slots=True)
class FinalNorm:
    """Whether one more layer normalisation follows the last layer of a side."""

    encoder: bool = False
    decoder: bool = False


@dataclass(frozen=True, slots=True)
class Position:
    """Where a token's place comes from. `kind`: "sinusoid", "learned" or "none"; `order`, of the
    sinusoid only: sines and cosines "interleaved", or in "halves"."""

    kind: str = "sinusoid"
    order: str = "interleaved"


@dataclass(frozen=True, slots=True)
class Config:
    """What fixes every computation but the numbers. A layer is the list of its sub-layers, in the
    order they run, so that a decoder layer may do without cross-attention; each has a residual
    addition and a layer normalisation. The defaults are those of the tutorial."""

    vocabulary_size: int  # words that can be written; also those that can be read, if not given:
    d_model: int
    heads: int
    d_ff: int
    max_length: int  # the longest source, target or prefix, in tokens
    encoder: Layers
    decoder: Layers
    norm: Norm = field(default_factory=Norm)
    final_norm: FinalNorm = field(default_factory=FinalNorm)
    activation: str = "relu"
    embedding_scale: int | str = 1  # 1 or "sqrt(d_model)"
    position: Position = field(default_factory=Position)
    tied_output: bool = False  # the output projection is the target's embedding table
    mask: bool = True  # False: the decoder's self-attention sees later tokens, a what-if
    source_vocabulary_size: int | None = None  # of a source with words, and a table, of its own

    @property
    def d_k(self) -> int:
        """Width of one head's queries, keys and values."""
        return self.d_model // self.heads

    @property
    def layer_norm_eps(self) -> float:
        """What layer normalisation adds to the variance or to its root."""
        return self.norm.eps

    def layers(self, side: str) -> Layers:
        """The layers of "encoder" or "decoder"."""
        return self.encoder if side == "encoder" else self.decoder

    def setting(self, path: str) -> Any:
        """A setting by its name in a file, such as "d_model" or "norm.place". Raises
        AttributeError for any other name."""
        return attrgetter(path)(self)


GROUPS: dict[str, type[Norm] | type[FinalNorm] | type[Position]] = {
    "norm": Norm,
    "final_norm": FinalNorm,
    "position": Position,
}
_SIZES = ("vocabulary_size", "source_vocabulary_size")
REQUIRED = ("d_model", "heads", "d_ff", "max_length", "encoder", "decoder")
FILE_FIELDS = tuple(f.name for f in fields(Config) if f.name not in _SIZES)  # of version 2
FILE_FIELDS_1 = (*REQUIRED, "layer_norm_eps")  # of version 1
SETTINGS = tuple(
    path
    for name in FILE_FIELDS
    for path in ([f"{name}.{f.name}" for f in fields(GROUPS[name])] if name in GROUPS else [name])
)

CHOICES: dict[str, tuple[object, ...]] = {
    "norm.place": ("post", "pre"),
    "norm.variance": ("biased", "unbiased"),
    "norm.eps_in": ("root", "outside"),
    "final_norm.encoder": (True, False),
    "final_norm.decoder": (True, False),
    "activation": ("relu", "gelu", "gelu_tanh", "silu"),
    "embedding_scale": (1, "sqrt(d_model)"),
    "position.kind": ("sinusoid", "learned", "none"),
    "position.order": ("interleaved", "halves"),
    "tied_output": (True, False),
    "mask": (True, False),
}

_MOST_LAYERS = 64  # on a side; each has up to 26 arrays, all of which are looked for by name


def check_config(config: Config, where: str | Path | None = None) -> None:
    """Refuse a configuration no model can have. Raises LectureError."""
    sizes = ["vocabulary_size", "d_model", "heads", "d_ff", "max_length"]
    if config.source_vocabulary_size is not None:
        sizes.append("source_vocabulary_size")
    for name in sizes:
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
    check_eps(config.norm.eps, "config.norm.eps", where)
    for path, allowed in CHOICES.items():
        check_choice(config.setting(path), allowed, f"config.{path}", where)
    if config.norm.variance == "unbiased" and config.d_model == 1:
        raise LectureError(
            where=where,
            field="config.norm.variance",
            expected="biased, as one number has no unbiased variance",
            found="unbiased",
        )
    for side in SUBLAYERS:
        _check_layers(config.layers(side), side, where)


def check_choice(
    value: object, allowed: tuple[object, ...], field: str, where: str | Path | None
) -> None:
    """Refuse what is none of the allowed texts, numbers or truth values. Raises LectureError."""
    same = [choice for choice in allowed if isinstance(choice, bool) is isinstance(value, bool)]
    if value not in same:
        names = [str(c).lower() if isinstance(c, bool) else str(c) for c in allowed]
        expected = f"{', '.join(names[:-1])} or {names[-1]}"
        raise LectureError(where=where, field=field, expected=expected, found=quoted(value))


def check_eps(eps: object, field: str, where: str | Path | None) -> None:
    """Refuse what is no positive number. Raises LectureError."""
    if type(eps) not in (int, float) or not 0 < eps <= sys.float_info.max:  # type: ignore[operator]
        raise LectureError(where=where, field=field, expected="a number above 0", found=quoted(eps))


def _check_layers(layers: Layers, side: str, where: str | Path | None) -> None:
    """Layers are lists of sub-layer names, none empty, no name twice within one layer (the names
    of the trace would collide)."""
    allowed = SUBLAYERS[side]
    listed = _as_list(layers, f"config.{side}", where)
    if len(listed) > _MOST_LAYERS:
        raise LectureError(
            where=where,
            field=f"config.{side}",
            expected=f"at most {_MOST_LAYERS} layers",
            found=str(len(listed)),
        )
    for number, layer in enumerate(listed):
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
