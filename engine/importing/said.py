"""What the lecturer says about a model and its file does not: a case, options, or the
`config.json` of a Hugging Face folder."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from engine.config import FILE_FIELDS, GROUPS, REQUIRED, SETTINGS, Config
from engine.errors import quoted
from engine.head import check_keys
from engine.importing.sources import ModelFile, read_vocabulary
from engine.reader import Document, read_json, refuse
from engine.words import TOKEN_FIELDS, Words

Vocabularies = tuple[Words, Words]  # the source's and the target's; the same object if one

_CASE = ("says", "config", "vocabulary", "tokens", "objective", "source", "target", "greedy")
_SIZES = Config(1, 1, 1, 1, 1, (), ())
#: What lecture-weights/2 means where a configuration is silent.
DEFAULTS = {path: _SIZES.setting(path) for path in SETTINGS if path not in REQUIRED}


@dataclass
class Said:
    """Settings by their names in a weight file, such as "norm.place", and what else there is to
    say. `defaults` hold where neither the file nor anybody says otherwise."""

    where: Path
    settings: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    vocabularies: Vocabularies | None = None
    objective: str | None = None
    tokens: dict[str, Any] = field(default_factory=dict)

    def more(self, other: Said) -> Said:
        """This and the other, which wins."""
        return Said(
            other.where,
            {**self.settings, **other.settings},
            {**self.defaults, **other.defaults},
            other.vocabularies or self.vocabularies,
            other.objective or self.objective,
            {**self.tokens, **other.tokens},
        )


def said(options: SimpleNamespace, model: ModelFile) -> Said:
    """All that is said: by the folder, by the case, and above all by the options. Raises
    LectureError."""
    result = Said(model.path)
    if model.config is not None and model.config_path is not None:
        result = result.more(_of_folder(model.config, model.config_path))
    if options.case is not None:
        result = result.more(_of_case(Path(options.case)))
    return result.more(_of_options(options, model.path))


def _of_case(path: Path) -> Said:
    """A case: a weight file's head, any part of which may be missing."""
    document = read_json(path)
    if not isinstance(document, dict):
        refuse(path, "JSON", "an object", f"a {type(document).__name__}")
    check_keys(document, (), "", path, _CASE)
    config, tokens = (document.get(name) or {} for name in ("config", "tokens"))
    for name, value in (("config", config), ("tokens", tokens)):
        if not isinstance(value, dict):
            refuse(path, name, "an object", quoted(value))
    check_keys(config, (), "config.", path, FILE_FIELDS)
    check_keys(tokens, (), "tokens.", path, TOKEN_FIELDS)
    result = Said(path, objective=document.get("objective"), tokens=tokens)
    for name, value in config.items():
        if name not in GROUPS:
            result.settings[name] = value
            continue
        if not isinstance(value, dict):
            refuse(path, f"config.{name}", "an object", quoted(value))
        check_keys(value, (), f"config.{name}.", path, [f.name for f in fields(GROUPS[name])])
        result.settings.update({f"{name}.{part}": item for part, item in value.items()})
    if "config" in document:
        result.defaults = dict(DEFAULTS)
    if "vocabulary" in document:
        result.vocabularies = _case_words(document["vocabulary"], path)
    return result


def _case_words(words: Any, path: Path) -> Vocabularies:
    if isinstance(words, dict):
        check_keys(words, ("source", "target"), "vocabulary.", path)
        lists = words["source"], words["target"]
    else:
        lists = words, words
    for value in lists:
        if not isinstance(value, list):
            refuse(
                path, "vocabulary", "a list of words, or one of source and target", quoted(words)
            )
    source = tuple(lists[0])
    return source, source if lists[0] is lists[1] else tuple(lists[1])


_OPTIONS = {
    "heads": "heads",
    "norm": "norm.place",
    "eps": "norm.eps",
    "variance": "norm.variance",
    "eps_in": "norm.eps_in",
    "activation": "activation",
    "max_length": "max_length",
}
_POSITIONS = {
    "sinusoid": ("sinusoid", "interleaved"),
    "halves": ("sinusoid", "halves"),
    "learned": ("learned", "interleaved"),
    "none": ("none", "interleaved"),
}
POSITIONS = tuple(_POSITIONS)
SCALES = {"1": 1, "sqrt": "sqrt(d_model)"}
FINAL_NORMS = {
    "both": (True, True),
    "encoder": (True, False),
    "decoder": (False, True),
    "none": (False, False),
}


def _of_options(options: SimpleNamespace, path: Path) -> Said:
    result = Said(path, objective=options.objective)
    for option, name in _OPTIONS.items():
        if getattr(options, option) is not None:
            result.settings[name] = getattr(options, option)
    if options.variance is not None and options.eps_in is None:  # as the two usually go together
        result.settings["norm.eps_in"] = "root" if options.variance == "biased" else "outside"
    if options.scale is not None:
        result.settings["embedding_scale"] = SCALES[options.scale]
    if options.position is not None:
        kind, order = _POSITIONS[options.position]
        result.settings.update({"position.kind": kind, "position.order": order})
    if options.final_norm is not None:
        encoder, decoder = FINAL_NORMS[options.final_norm]
        result.settings.update({"final_norm.encoder": encoder, "final_norm.decoder": decoder})
    for name in TOKEN_FIELDS:
        if getattr(options, name):
            result.tokens[name] = getattr(options, name)
    result.vocabularies = _words_of_options(options)
    return result


def _words_of_options(options: SimpleNamespace) -> Vocabularies | None:
    one, source, target = (
        None if file is None else Path(file)
        for file in (options.vocabulary, options.source_vocabulary, options.target_vocabulary)
    )
    if one is not None:
        if source is not None or target is not None:
            refuse(one, "--vocabulary", "one file for both sides, or one for each", "both")
        words = read_vocabulary(one)
        return words, words
    if source is None and target is None:
        return None
    if source is None or target is None:
        missing = "--source-vocabulary" if source is None else "--target-vocabulary"
        refuse(source or target, missing, "it too, or --vocabulary for one table", "nothing")
    return read_vocabulary(source), read_vocabulary(target)


_ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}
#: Models of Hugging Face whose code computes what the family does: where they normalise.
_PLACES = {"marian": "post", "pegasus": "pre"}


def _of_folder(config: Document, path: Path) -> Said:
    """A Hugging Face folder's `config.json`; the kind of model fixes what it does not say."""
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in _PLACES:
        expected = f"{' or '.join(_PLACES)}, whose computation is told"
        refuse(path, "model_type", expected, quoted(kind))
    heads, others = (config.get(f"{side}_attention_heads") for side in ("encoder", "decoder"))
    if type(heads) is not int or heads != others:
        expected = f"as many as in the encoder, {quoted(heads)}"
        refuse(path, "decoder_attention_heads", expected, quoted(others))
    activation = config.get("activation_function")
    if not isinstance(activation, str) or activation not in _ACTIVATIONS:
        expected = f"one of {', '.join(_ACTIVATIONS)}"
        refuse(path, "activation_function", expected, quoted(activation))
    result = Said(path, objective="next")
    result.settings = {
        "heads": heads,
        "activation": _ACTIVATIONS[activation],
        "embedding_scale": SCALES["sqrt" if config.get("scale_embedding") else "1"],
        "norm.place": _PLACES[kind],
        "norm.variance": "biased",
        "norm.eps_in": "root",
        "norm.eps": 1e-5,
        "position.kind": "sinusoid",
        "position.order": "halves",
    }
    result.vocabularies = _folder_words(path.parent)
    if result.vocabularies:
        words = result.vocabularies[1]
        for name, said_as in (("bos", "decoder_start"), ("eos", "eos"), ("pad", "pad")):
            number = config.get(f"{said_as}_token_id")
            if type(number) is int and 0 <= number < len(words):
                result.tokens[name] = words[number]
        result.tokens["source_eos"] = "eos" in result.tokens
    return result


def _folder_words(folder: Path) -> Vocabularies | None:
    for source, target in (("vocab.json", "target_vocab.json"), ("vocab.json", "vocab.json")):
        if (folder / source).exists() and (folder / target).exists():
            words = read_vocabulary(folder / source)
            return words, words if source == target else read_vocabulary(folder / target)
    if (folder / "tokenizer.json").exists():
        words = read_vocabulary(folder / "tokenizer.json")
        return words, words
    return None
