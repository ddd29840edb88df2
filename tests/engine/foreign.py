"""The state dicts of other programs, written out from our weights: the opposite of an import, by
names that are typed here a second time."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import Config, Weights
from engine.config import FinalNorm, Norm, Position
from engine.parameters import (
    ATTENTION_IN,
    ATTENTION_OUT,
    FFN,
    NORM_GAIN,
    NORM_SHIFT,
    OUTPUT,
    TWO_POSITIONS,
    parameter_shapes,
)

Arrays = dict[str, np.ndarray]

ALL = (ATTENTION_IN, ATTENTION_OUT, FFN, NORM_GAIN, NORM_SHIFT, OUTPUT)
SOURCE = tuple("abcde")
TARGET = ("<pad>", "<s>", "</s>", "x", "y", "z")


def made(groups: tuple[str, ...] = ALL, **settings: Any) -> Weights:
    """Random weights of a model of d_model 4 with two layers on a side, two vocabularies."""
    config = Config(
        **{
            "vocabulary_size": len(TARGET),
            "source_vocabulary_size": len(SOURCE),
            "d_model": 4,
            "heads": 2,
            "d_ff": 6,
            "max_length": 16,
            "encoder": (("self_attn", "ffn"),) * 2,
            "decoder": (("self_attn", "cross_attn", "ffn"),) * 2,
            **settings,
        }
    )
    source = np.random.RandomState(1)
    matrices = {
        name: source.uniform(-1, 1, shape).astype(np.float32).astype(np.float64)
        for name, shape in parameter_shapes(config, groups).items()
    }
    one = config.source_vocabulary_size is None
    return Weights(
        config,
        TARGET,
        matrices,
        source_vocabulary=None if one else SOURCE,
        objective="next",
        version=2,
    )


def layers(weights: Weights, modules: dict[str, str], place: str) -> Arrays:
    """The arrays of all layers under other names: `modules` maps ours to theirs, "SIDE module"
    where a side has its own; `place` is where a layer is, with SIDE and #."""
    result = {}
    for name, matrix in weights.matrices.items():
        parts = name.split(".")
        if len(parts) < 3 or not parts[1].isdigit():
            continue
        side, number, *module, kind = parts
        ours = ".".join(module)
        theirs = modules.get(f"{side} {ours}", modules.get(ours))
        assert theirs, f"{side} {ours}"
        theirs = theirs.replace("KIND", kind) if "KIND" in theirs else f"{theirs}.{kind}"
        result[f"{place.replace('SIDE', side).replace('#', number)}{theirs}"] = matrix
    return result


def rest(weights: Weights, names: dict[str, str]) -> Arrays:
    """The arrays beside the layers under other names."""
    return {theirs: weights.matrices[ours] for ours, theirs in names.items() if theirs}


def sinusoid(rows: int, width: int, halves: bool = False) -> np.ndarray:
    """Position by position, number by number."""
    table = np.zeros((rows, width))
    for row in range(rows):
        for pair in range(width // 2):
            angle = row / 10000 ** (2 * pair / width)
            columns = (pair, width // 2 + pair) if halves else (2 * pair, 2 * pair + 1)
            table[row, columns[0]], table[row, columns[1]] = np.sin(angle), np.cos(angle)
    return table.astype(np.float32)


def attention(ours: str, theirs: str, q: str, k: str, v: str, out: str) -> dict[str, str]:
    roles = {"q_proj": q, "k_proj": k, "v_proj": v, "out_proj": out}
    return {f"{ours}.{role}": f"{theirs}.{name}" for role, name in roles.items()}


def d2l() -> tuple[Weights, Arrays]:
    """Post-LN without final norms; biases in the FFN and the output only; nothing of positions."""
    weights = made((FFN, NORM_GAIN, NORM_SHIFT, OUTPUT), embedding_scale="sqrt(d_model)")
    names = ("W_q", "W_k", "W_v", "W_o")
    modules = {"ffn.linear1": "ffn.dense1", "ffn.linear2": "ffn.dense2"}
    modules |= {f"norm{n}": f"addnorm{n}.ln" for n in (1, 2, 3)}
    for side, ours, theirs in (
        ("encoder", "self_attn", "attention"),
        ("decoder", "self_attn", "attention1"),
        ("decoder", "cross_attn", "attention2"),
    ):
        modules |= {f"{side} {k}": v for k, v in attention(ours, theirs, *names).items()}
    return weights, layers(weights, modules, "SIDE.blks.block#.") | rest(
        weights,
        {
            "source_embedding.weight": "encoder.embedding.weight",
            "target_embedding.weight": "decoder.embedding.weight",
            "output_projection.weight": "decoder.dense.weight",
            "output_projection.bias": "decoder.dense.bias",
        },
    )


def hkproj() -> tuple[Weights, Arrays]:
    """Pre-LN with final norms, whose gains and shifts are single numbers."""
    norm = Norm("pre", "unbiased", "outside", 1e-6)
    weights = made(norm=norm, final_norm=FinalNorm(True, True), embedding_scale="sqrt(d_model)")
    single = {
        name: np.full(4, matrix[0]) for name, matrix in weights.matrices.items() if ".norm" in name
    }
    weights = weights.with_matrices(single)
    names = ("w_q", "w_k", "w_v", "w_o")
    modules = {
        "ffn.linear1": "feed_forward_block.linear_1",
        "ffn.linear2": "feed_forward_block.linear_2",
        **attention("self_attn", "self_attention_block", *names),
        **attention("cross_attn", "cross_attention_block", *names),
        **{f"norm{n}": f"residual_connections.{n - 1}.norm.KIND" for n in (1, 2, 3)},
    }
    arrays = layers(weights, modules, "SIDE.layers.#.") | rest(
        weights,
        {
            **{f"{side}.norm.weight": f"{side}.norm.weight" for side in ("encoder", "decoder")},
            **{f"{side}.norm.bias": f"{side}.norm.bias" for side in ("encoder", "decoder")},
            "source_embedding.weight": "src_embed.embedding.weight",
            "target_embedding.weight": "tgt_embed.embedding.weight",
            "output_projection.weight": "projection_layer.proj.weight",
            "output_projection.bias": "projection_layer.proj.bias",
        },
    )
    arrays = {
        name.replace("norm.weight", "norm.alpha"): array[:1] if "norm." in name else array
        for name, array in arrays.items()
    }
    arrays["src_pos.pe"] = arrays["tgt_pos.pe"] = sinusoid(20, 4)[np.newaxis]
    return weights, arrays


def graykode() -> tuple[Weights, Arrays]:
    """The older kind with biases everywhere but in the output, convolutions of width 1 and a norm
    within each sub-layer."""
    weights = made((ATTENTION_IN, ATTENTION_OUT, FFN, NORM_GAIN, NORM_SHIFT))
    names = ("W_Q", "W_K", "W_V", "linear")
    modules = {
        "ffn.linear1": "pos_ffn.conv1",
        "ffn.linear2": "pos_ffn.conv2",
        "encoder norm1": "enc_self_attn.layer_norm",
        "encoder norm2": "pos_ffn.layer_norm",
        "decoder norm1": "dec_self_attn.layer_norm",
        "decoder norm2": "dec_enc_attn.layer_norm",
        "decoder norm3": "pos_ffn.layer_norm",
    }
    for side, ours, theirs in (
        ("encoder", "self_attn", "enc_self_attn"),
        ("decoder", "self_attn", "dec_self_attn"),
        ("decoder", "cross_attn", "dec_enc_attn"),
    ):
        modules |= {f"{side} {k}": v for k, v in attention(ours, theirs, *names).items()}
    arrays = layers(weights, modules, "SIDE.layers.#.")
    arrays = {
        name: array[:, :, np.newaxis] if "conv" in name and array.ndim == 2 else array
        for name, array in arrays.items()
    }
    arrays["encoder.pos_emb.weight"] = arrays["decoder.pos_emb.weight"] = sinusoid(6, 4)
    return weights, arrays | rest(
        weights,
        {
            "source_embedding.weight": "encoder.src_emb.weight",
            "target_embedding.weight": "decoder.tgt_emb.weight",
            "output_projection.weight": "projection.weight",
        },
    )


_HUGGING = {
    **attention("self_attn", "self_attn", "q_proj", "k_proj", "v_proj", "out_proj"),
    **attention("cross_attn", "encoder_attn", "q_proj", "k_proj", "v_proj", "out_proj"),
    "ffn.linear1": "fc1",
    "ffn.linear2": "fc2",
    "norm1": "self_attn_layer_norm",
    "encoder norm2": "final_layer_norm",
    "decoder norm2": "encoder_attn_layer_norm",
    "norm3": "final_layer_norm",
}


def marian() -> tuple[Weights, Arrays]:
    """One table for everything, an output bias, sines and cosines in halves, swish."""
    weights = made(
        source_vocabulary_size=None,
        tied_output=True,
        activation="silu",
        embedding_scale="sqrt(d_model)",
        position=Position("sinusoid", "halves"),
    )
    table = weights.matrices["embedding.weight"]
    arrays = layers(weights, _HUGGING, "model.SIDE.layers.#.")
    for name in ("model.shared", "model.encoder.embed_tokens", "model.decoder.embed_tokens"):
        arrays[f"{name}.weight"] = table
    arrays["lm_head.weight"] = table
    arrays["final_logits_bias"] = weights.matrices["output_projection.bias"][np.newaxis]
    for side in ("encoder", "decoder"):
        arrays[f"model.{side}.embed_positions.weight"] = sinusoid(32, 4, halves=True)
    return weights, arrays


def learned() -> tuple[Weights, Arrays]:
    """PyTorch's layers with learned positions of either side, in a compiled, parallel model, and
    the template that nn.TransformerEncoder leaves behind."""
    weights = made(
        (*ALL, TWO_POSITIONS),
        position=Position("learned"),
        norm=Norm("pre", eps=1e-3),
        activation="gelu_tanh",
    )
    matrices = weights.matrices
    modules = {
        "ffn.linear1": "linear1",
        "ffn.linear2": "linear2",
        **{f"norm{n}": f"norm{n}" for n in (1, 2, 3)},
        **attention("self_attn", "self_attn", "q_proj", "k_proj", "v_proj", "out_proj"),
        **attention("cross_attn", "multihead_attn", "q_proj", "k_proj", "v_proj", "out_proj"),
    }
    arrays = layers(weights, modules, "net.SIDE.layers.#.")
    for name in [name for name in arrays if ".q_proj." in name]:
        stem, kind = name.split(".q_proj.")
        parts = [arrays.pop(f"{stem}.{role}_proj.{kind}") for role in "qkv"]
        arrays[f"{stem}.in_proj_{kind}"] = np.concatenate(parts)
    arrays["net.encoder_layer.linear1.weight"] = np.zeros((6, 4))
    arrays["net.tgt_mask"] = np.zeros((4, 4), bool)
    arrays |= rest(
        weights,
        {
            "source_embedding.weight": "net.src_embed.token_emb.weight",
            "target_embedding.weight": "net.tgt_embed.token_emb.weight",
            "source_position.weight": "net.src_embed.pos_emb.weight",
            "target_position.weight": "net.tgt_embed.pos_emb.weight",
            "output_projection.weight": "net.fc_out.weight",
            "output_projection.bias": "net.fc_out.bias",
        },
    )
    assert len(matrices) == len(arrays) - 2 + 2 * 6 * 2
    return weights, {f"_orig_mod.module.{name}": array for name, array in arrays.items()}


MODELS = {model.__name__: model for model in (d2l, hkproj, graykode, marian, learned)}
