"""How other programs name the arrays of a Transformer, and what we call the same arrays.

A name has up to three parts: the layer it belongs to, the module within the layer, and whether it
is a weight or a bias. Layers and tables are called much the same everywhere; the modules within a
layer tell one implementation from another, so there is one table of them for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.reader import refuse

Modules = dict[str, str]
SIDES = ("encoder", "decoder")


def _attention(theirs: str, ours: str, modules: str, place: str = "{}.{}") -> Modules:
    """The four projections of one attention, whose modules they call `modules`."""
    roles = ("q_proj", "k_proj", "v_proj", "out_proj")
    return {
        place.format(theirs, module): f"{ours}.{role}"
        for module, role in zip(modules.split(), roles, strict=True)
    }


def _pairs(text: str) -> Modules:
    """The text "theirs=ours theirs=ours ..." as a dictionary."""
    return dict(pair.split("=") for pair in text.split())


_TORCH_FFN = "linear1=ffn.linear1 linear2=ffn.linear2 norm1=norm1 norm2=norm2"
_TORCH = _pairs(f"self_attn.in_proj=self_attn.in_proj {_TORCH_FFN}") | _attention(
    "self_attn", "self_attn", "q_proj k_proj v_proj out_proj"
)
_ANNOTATED = _attention("self_attn.linears", "self_attn", "0 1 2 3") | _pairs(
    "feed_forward.w_1=ffn.linear1 feed_forward.w_2=ffn.linear2 "
    "sublayer.0.norm=norm1 sublayer.1.norm=norm2"
)
_D2L = _pairs("ffn.dense1=ffn.linear1 ffn.dense2=ffn.linear2 addnorm1.ln=norm1 addnorm2.ln=norm2")
_HKPROJ = _attention("self_attention_block", "self_attn", "w_q w_k w_v w_o") | _pairs(
    "feed_forward_block.linear_1=ffn.linear1 feed_forward_block.linear_2=ffn.linear2 "
    "residual_connections.0.norm=norm1 residual_connections.1.norm=norm2"
)
_GRAYKODE = _pairs(
    "pos_ffn.fc.0=ffn.linear1 pos_ffn.fc.2=ffn.linear2 "
    "pos_ffn.conv1=ffn.linear1 pos_ffn.conv2=ffn.linear2"
)
_HUGGING = _attention("self_attn", "self_attn", "q_proj k_proj v_proj out_proj") | _pairs(
    "fc1=ffn.linear1 fc2=ffn.linear2 self_attn_layer_norm=norm1"
)
_OURS = _attention("self_attn", "self_attn", "q_proj k_proj v_proj out_proj") | _pairs(
    "ffn.linear1=ffn.linear1 ffn.linear2=ffn.linear2 norm1=norm1 norm2=norm2"
)


def _graykode_attention(theirs: str, ours: str, norm: str) -> Modules:
    either = _attention(theirs, ours, "W_Q W_K W_V fc") | _attention(
        theirs, ours, "W_Q W_K W_V linear"
    )
    return either | {f"{theirs}.layer_norm": norm}


#: By implementation: the modules of an encoder layer and of a decoder layer.
TABLES: dict[str, tuple[Modules, Modules]] = {
    "nn.Transformer": (
        _TORCH,
        _TORCH
        | _pairs("multihead_attn.in_proj=cross_attn.in_proj norm3=norm3")
        | _attention("multihead_attn", "cross_attn", "q_proj k_proj v_proj out_proj"),
    ),
    "the Annotated Transformer": (
        _ANNOTATED,
        _ANNOTATED
        | _attention("src_attn.linears", "cross_attn", "0 1 2 3")
        | _pairs("sublayer.2.norm=norm3"),
    ),
    "d2l": (
        _D2L | _attention("attention", "self_attn", "W_q W_k W_v W_o"),
        _D2L
        | _attention("attention1", "self_attn", "W_q W_k W_v W_o")
        | _attention("attention2", "cross_attn", "W_q W_k W_v W_o")
        | _pairs("addnorm3.ln=norm3"),
    ),
    "hkproj": (
        _HKPROJ,
        _HKPROJ
        | _attention("cross_attention_block", "cross_attn", "w_q w_k w_v w_o")
        | _attention("source_attention_block", "cross_attn", "w_q w_k w_v w_o")
        | _pairs("residual_connections.2.norm=norm3"),
    ),
    "graykode": (
        _GRAYKODE
        | _graykode_attention("enc_self_attn", "self_attn", "norm1")
        | _pairs("pos_ffn.layer_norm=norm2"),
        _GRAYKODE
        | _graykode_attention("dec_self_attn", "self_attn", "norm1")
        | _graykode_attention("dec_enc_attn", "cross_attn", "norm2")
        | _pairs("pos_ffn.layer_norm=norm3"),
    ),
    "Hugging Face": (
        _HUGGING | _pairs("final_layer_norm=norm2"),
        _HUGGING
        | _attention("encoder_attn", "cross_attn", "q_proj k_proj v_proj out_proj")
        | _pairs("encoder_attn_layer_norm=norm2 final_layer_norm=norm3"),
    ),
    "this project": (
        _OURS,
        _OURS
        | _attention("cross_attn", "cross_attn", "q_proj k_proj v_proj out_proj")
        | _pairs("norm3=norm3"),
    ),
}

_TYPE = r"(?P<type>weight|bias)"
_LAYER = re.compile(
    r"(?:\w+\.)*?(?P<side>(?:\w*_)?(?:encoder|decoder|enc|dec)(?:_layers?|_blocks?)?)\."
    r"(?:(?:layers|blks|blocks)\.)?(?:block)?(?P<number>\d+)\.(?P<rest>.+)"
)
_TEMPLATE = re.compile(
    r"(?:\w+\.)*?(?P<side>(?:\w*_)?(?:encoder|decoder|enc|dec)_layer)\.(?P<rest>.+)"
)
_FINAL_NORM = re.compile(
    rf"(?:\w+\.)*?(?P<side>(?:\w*_)?(?:encoder|decoder|enc|dec))[._](?:layer_)?norm\.{_TYPE}"
)
#: Other words for weight and bias, put in order before anything else is looked at.
_SPELLINGS = (
    (re.compile(r"\.in_proj_(weight|bias)$"), r".in_proj.\1"),
    (re.compile(r"\.([qkv])_proj_weight$"), r".\1_proj.weight"),
    (re.compile(r"\.(?:a_2|alpha|gamma)$"), ".weight"),
    (re.compile(r"\.(?:b_2|beta)$"), ".bias"),
)
_WRAPPERS = re.compile(r"^(?:(?:module|model|_orig_mod|transformer|net|seq2seq)\.)+(?=.)")
_SOURCE = r"(?:encoder\.)?(?:src|source|enc|encoder)"
_TARGET = r"(?:decoder\.)?(?:tgt|trg|target|dec|decoder)"
_TOKENS = r"(?:tok(?:en)?s?_?|word_?|vocab_?)?(?:emb|embed|embedding|embeddings|embed_tokens)"
_EMBEDDING = rf"{_TOKENS}(?:\.(?:0\.)?(?:lut|{_TOKENS}))?"
_POSITION = (
    r"(?:\w+\.)*(?:\w*pos(?:itions?|itional)?(?:_?(?:emb|embed|embedding|embeddings|enc|encoding|"
    r"encoder|decoder|table))?|embed_positions|wpe|pe)"
    r"(?:\.(?:pe|pos_?(?:emb|embedding)|encoding|embedding|weight))*"
)
_OUTPUT = (
    r"(?:decoder\.)?(?:generator|projection|projection_layer|fc_out|out|output|fc|linear|dense|"
    r"proj|lm_head|output_projection|output_layer|out_proj|final|final_layer|final_linear|head|"
    r"to_logits|classifier)(?:\.(?:proj|linear|fc|out))?"
)
#: What stands beside the layers, tried in this order.
_TABLES = tuple(
    (re.compile(pattern, re.IGNORECASE), ours)
    for pattern, ours in (
        (rf"{_SOURCE}(?:[._]|_embed\.1\.){_POSITION}", "source_position"),
        (rf"{_TARGET}(?:[._]|_embed\.1\.){_POSITION}", "target_position"),
        (_POSITION, "position"),
        (
            rf"(?:{_SOURCE}[._]{_EMBEDDING}|{_TOKENS}_{_SOURCE})\.weight",
            "source_embedding.weight",
        ),
        (
            rf"(?:{_TARGET}[._]{_EMBEDDING}|{_TOKENS}_{_TARGET})\.weight",
            "target_embedding.weight",
        ),
        (rf"(?:{_EMBEDDING}|shared|wte)\.weight", "embedding.weight"),
        (rf"{_OUTPUT}\.weight", "output_projection.weight"),
        (rf"{_OUTPUT}\.bias|final_logits_bias", "output_projection.bias"),
    )
)
_MASK = re.compile(r"(?:.*[._])?mask")


@dataclass
class Names:
    """What each array of a file is: `ours` lists their names for each of our names, `family` says
    whose names they are, and `left_out` are those that have no part in the computation."""

    family: str
    ours: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def recognise(theirs: Iterable[str], mapped: Mapping[str, str], path: Path) -> Names:
    """Sort out the names of a file; `mapped` are those that --names has decided already. The
    implementation is the one that knows most of them. Raises LectureError for a name that even
    it does not know."""
    names = [name for name in theirs if name not in mapped]
    for name in names:
        _refuse_kind(name, path)
    read = {family: _read(names, tables) for family, tables in TABLES.items()}
    family = max(read, key=lambda family: sum(ours is not None for ours in read[family].values()))
    known = read[family]
    for name, ours in known.items():
        if ours is None:
            expected = "those of nn.Transformer, the Annotated Transformer, d2l, hkproj or graykode"
            refuse(path, "names", expected, f"{name}; --names FILE maps them")
    result = Names(family if any(_layer(name) for name in names) else "--names")
    for name, ours in {**known, **mapped}.items():
        if ours:
            result.ours.setdefault(ours, []).append(name)
        else:
            result.left_out.append(name)
    return result


def layer_of(ours: str) -> tuple[str, int, str] | None:
    """Side, number and module of one of our names that belongs to a layer; else None."""
    found = re.fullmatch(r"(encoder|decoder)\.(\d{1,4})\.(.+)", ours)
    return (found[1], int(found[2]), found[3]) if found else None


def _read(names: list[str], tables: tuple[Modules, Modules]) -> dict[str, str | None]:
    """Our name for each of theirs by one implementation's tables: "" for what has no part in the
    computation, None for one that is not known."""
    numbered = {layer[0] for name in names if (layer := _layer(name))}
    return {name: _ours(_spelled(name), tables, numbered) for name in names}


def _ours(name: str, tables: tuple[Modules, Modules], numbered: set[str]) -> str | None:
    layer = _layer(name)
    template = None if layer else _TEMPLATE.fullmatch(name)
    if template:  # the layer that nn.TransformerEncoder copies, or the only one
        side = _side(template["side"])
        if side in numbered:
            return ""
        layer = side, 0, template["rest"]
    if layer:
        side, number, rest = layer
        module, _, kind = rest.rpartition(".")
        ours = tables[SIDES.index(side)].get(module)
        return None if ours is None or kind not in _KINDS else f"{side}.{number}.{ours}.{kind}"
    final = _FINAL_NORM.fullmatch(name)
    if final:
        return f"{_side(final['side'])}.norm.{final['type']}"
    name = _WRAPPERS.sub("", name)
    if _MASK.fullmatch(name):
        return ""
    return next((ours for pattern, ours in _TABLES if pattern.fullmatch(name)), None)


def _spelled(name: str) -> str:
    for pattern, ours in _SPELLINGS:
        name = pattern.sub(ours, name)
    return name


def _layer(name: str) -> tuple[str, int, str] | None:
    """Side, number and the rest of one of their names that belongs to a layer; else None."""
    found = _LAYER.fullmatch(name) if len(name) <= _LONGEST else None
    return (_side(found["side"]), int(found["number"]), found["rest"]) if found else None


def _side(word: str) -> str:
    return "encoder" if "enc" in word else "decoder"


def _refuse_kind(name: str, path: Path) -> None:
    """Refuse models of other kinds, which a name of theirs gives away."""
    last = name.rpartition(".")[0].rpartition(".")[2]
    if len(name) > _LONGEST:
        refuse(path, "names", f"names of at most {_LONGEST} characters", f"one of {len(name)}")
    if found := _OTHER_KINDS.search(name):
        expected = "LayerNorm and added positions"
        whose = "T5's names (relative_attention_bias)" if found[0].startswith("rel") else name
        refuse(path, "file", expected, f"{whose}; this kind of model is not told")
    if "layernorm_embedding" in name:
        expected = "embeddings that go into the first layer as they are"
        refuse(path, "file", expected, f"BART's {name}; this kind of model is not told")
    if name.endswith((".bias_k", ".bias_v")):
        refuse(path, name, "keys and values of tokens only", "one that the model adds")
    layer = _layer(name)
    if layer and _GATES.fullmatch(last):
        field = f"{layer[0]}.{layer[1]}.ffn"
        refuse(path, field, "two matrices, linear1 and linear2", f"a third, {last}")


_LONGEST = 200
_KINDS = ("weight", "bias")
_OTHER_KINDS = re.compile(r"relative_attention_bias|rotary|inv_freq|rel_pos|relative_position")
_GATES = re.compile(r"wi_1|gate_proj|w_?3|linear_?3|gate|router|linear_gate|linear_v")
