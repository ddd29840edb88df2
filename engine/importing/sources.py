"""The files that an import reads besides the case: the model, the vocabularies, the names, the
probe."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import checkpoint, npz_file, safetensors_file
from engine.arrays import Arrays
from engine.errors import quoted
from engine.importing.names import Modules
from engine.reader import (
    TEXT_BYTES,
    WEIGHT_BYTES,
    Document,
    decode,
    parse_json,
    read_bytes,
    read_json,
    read_toml,
    refuse,
)
from engine.words import Words, check_vocabulary

_READERS = {
    ".pt": checkpoint,
    ".pth": checkpoint,
    ".bin": checkpoint,
    ".ckpt": checkpoint,
    ".safetensors": safetensors_file,
    ".npz": npz_file,
}
_FOLDER_FILES = ("model.safetensors", "pytorch_model.bin")


@dataclass(frozen=True)
class ModelFile:
    """The arrays of a state dict, and the `config.json` beside it in a Hugging Face folder."""

    path: Path
    arrays: Arrays
    config: Document | None = None
    config_path: Path | None = None


def read_model(path: Path) -> ModelFile:
    """A state dict, by the ending of its name, or a Hugging Face folder. Raises LectureError."""
    if path.is_dir():
        return _folder(path)
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        expected = f"a folder of Hugging Face's, or a name ending in {', '.join(_READERS)}"
        refuse(path, "file name", expected, quoted(path.suffix) if suffix else "no ending")
    arrays = _READERS[suffix].read_arrays(read_bytes(path, WEIGHT_BYTES), path)
    if not arrays:
        refuse(path, "file", "a state dict, tensors by name", "no tensor")
    return ModelFile(path, arrays)


def _folder(path: Path) -> ModelFile:
    config_path = path / "config.json"
    config = read_json(config_path)
    if not isinstance(config, dict):
        refuse(config_path, "JSON", "an object", f"a {type(config).__name__}")
    if config.get("model_type") in ("t5", "mt5", "umt5", "longt5"):
        kind = config["model_type"].upper()
        found = f"{kind}'s names (relative_attention_bias); this kind of model is not told"
        refuse(config_path, "model_type", "LayerNorm and added positions", found)
    for name in _FOLDER_FILES:
        if (path / name).exists():
            return ModelFile(path / name, read_model(path / name).arrays, config, config_path)
    refuse(path, "folder", f"{' or '.join(_FOLDER_FILES)} in it", "neither")


def read_vocabulary(path: Path) -> Words:
    """Words in the order of their IDs: one on a line, or JSON, which may be a list, a dictionary
    of words and IDs in either direction, torchtext's itos, or a Hugging Face tokenizer. Raises
    LectureError."""
    data = read_bytes(path, TEXT_BYTES)
    if path.suffix.lower() == ".json":
        words = _words(parse_json(data, path), path)
    else:
        words = [line.removesuffix("\r") for line in decode(data, path).split("\n")]
        while words and not words[-1]:
            words.pop()
    check_vocabulary(words, path)
    return tuple(words)


def _words(said: Any, path: Path) -> list[Any]:
    if isinstance(said, dict) and isinstance(said.get("itos"), list):
        said = said["itos"]
    if isinstance(said, dict) and isinstance(said.get("model"), dict):
        return _tokenizer_words(said, path)
    if isinstance(said, list):
        return said
    if isinstance(said, dict) and said:
        if all(isinstance(w, str) and re.fullmatch(r"\d{1,9}", n) for n, w in said.items()):
            said = {word: int(name) for name, word in said.items()}
        return _by_id(said.items(), path)
    refuse(path, "JSON", "a list of words, or a dictionary of words and IDs", quoted(said))


def _tokenizer_words(said: Document, path: Path) -> list[Any]:
    """The words of a Hugging Face tokenizer, whose special ones may stand apart from the others."""
    words, more = said["model"].get("vocab"), said.get("added_tokens", [])
    if isinstance(words, list):  # a unigram model has pairs of word and score
        pairs = [pair for pair in words if isinstance(pair, list) and pair]
        words = {str(pair[0]): number for number, pair in enumerate(pairs)}
    well_formed = isinstance(more, list) and all(
        isinstance(token, dict) and {"content", "id"} <= token.keys() for token in more
    )
    if not isinstance(words, dict) or not well_formed:
        refuse(path, "model.vocab", "words and their IDs", quoted(words))
    added = {token["content"]: token["id"] for token in more if isinstance(token["content"], str)}
    return _by_id({**words, **added}.items(), path)


def _by_id(pairs: Iterable[tuple[Any, Any]], path: Path) -> list[Any]:
    """Words in the order of their IDs, which must be 0, 1, 2, ... without a gap."""
    words: dict[int, Any] = {}
    for word, number in pairs:
        if type(number) is not int:
            refuse(path, quoted(word), "an ID, a whole number", quoted(number))
        if number in words:
            found = f"{quoted(words[number])} and {quoted(word)}"
            refuse(path, f"ID {number}", "one word", found)
        words[number] = word
    for number in range(len(words)):
        if number not in words:
            refuse(path, f"ID {number}", "a word, as there is one for every ID", "none")
    return [words[number] for number in range(len(words))]


_OUR_NAME = re.compile(
    r"|(?:encoder|decoder)\.(?:#|\d{1,4})\.(?:(?:self_attn|cross_attn)\.(?:q|k|v|out|in)_proj"
    r"|ffn\.linear[12]|norm[123])(?:\.weight|\.bias)?"
    r"|(?:encoder|decoder)\.norm(?:\.weight|\.bias)?"
    r"|(?:embedding|source_embedding|target_embedding)(?:\.weight)?"
    r"|position|source_position|target_position"
    r"|output_projection(?:\.weight|\.bias)?"
)
_PARTS = (".weight", ".bias")


def read_names(path: Path) -> Modules:
    """--names: their names, with # for the number of a layer, and ours; with .weight and .bias, or
    without for both. An empty name leaves an array out. Raises LectureError."""
    said = read_toml(path)
    for theirs, ours in said.items():
        if not isinstance(ours, str) or not _OUR_NAME.fullmatch(ours):
            expected = "one of our names, such as encoder.#.self_attn.q_proj"
            refuse(path, quoted(theirs), expected, quoted(ours))
        if theirs.count("#") > 1 or (ours and theirs.count("#") != ours.count("#")):
            refuse(path, quoted(theirs), "one # for the number of a layer, or none", quoted(ours))
    return said


def mapped_names(theirs: Iterable[str], table: Modules) -> Modules:
    """What --names says about the arrays of a file: our name for each of theirs that it has."""
    patterns = {}
    for pattern, ours in table.items():
        parts = [re.escape(part) for part in pattern.split("#")]
        whole = not ours or ours.endswith(_PARTS) or ours.endswith("position")
        suffix = "" if whole and ours else r"(?P<part>\.weight|\.bias)?"
        patterns[re.compile(r"(?P<number>\d{1,4})".join(parts) + suffix)] = ours
    result = {}
    for name in theirs:
        for regex, ours in patterns.items():
            found = regex.fullmatch(name)
            if found:
                number, part = (found.groupdict().get(key) or "" for key in ("number", "part"))
                result[name] = ours.replace("#", number) + (part if ours else "")
                break
    return result
