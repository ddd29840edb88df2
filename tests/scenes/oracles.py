"""What the sentences claim, worked out a second time: plain Python over lists, no scene code.

For each scene a function from the traces to ``{beat: (facts, variant)}``: the words (not the
numbers) that the beat's sentence must be filled with, and which of its variants must be said.
``pass_of("training")`` and ``pass_of("inference 2")`` give the traces.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import engine

Words = dict[str, tuple[dict[str, str], str]]
PassOf = Callable[[str], Any]


def largest(values: Any) -> int:
    """Index of the largest value, the first of equals."""
    best = 0
    for index, value in enumerate(list(values)):
        if value > list(values)[best]:
            best = index
    return best


def largest_pair(matrix: Any) -> tuple[int, int]:
    """Row and column of the largest value of a matrix, the first of equals."""
    rows = [list(row) for row in matrix]
    best = (0, 0)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value > rows[best[0]][best[1]]:
                best = (i, j)
    return best


def digits(value: Any, decimals: int = 3) -> str:
    """As it is on screen; no zero has a sign."""
    text = f"{float(value):.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.") else text


def named(tokens: Any) -> list[str]:
    """A token that is there more than once has its position as an index."""
    low = "₀₁₂₃₄₅₆₇₈₉"
    return [
        token + "".join(low[int(d)] for d in str(i)) if list(tokens).count(token) > 1 else token
        for i, token in enumerate(tokens, 1)
    ]


def strongest(rows: Any, decimals: int = 3) -> list[tuple[int, int]]:
    """Rows and columns of all cells that show the largest number."""
    cells = {
        (i, j): float(digits(w, decimals)) for i, row in enumerate(rows) for j, w in enumerate(row)
    }
    return [at for at, w in cells.items() if w == max(cells.values())]


def attends(row: Any, query: str, keys: Any) -> tuple[dict[str, str], str]:
    """What is said of a row of attention that may see all ``keys``."""
    best = [j for _, j in strongest([row])]
    if len(row) == 1:
        return {}, "only"
    if len(best) == len(row):
        return {"query": query}, "alike"
    if len(best) > 3:
        return {}, "shared"
    if len(best) > 1:
        several = {f"key_{n}": keys[j] for n, j in enumerate(best, 1)}
        return {"query": query, **several}, {2: "pair", 3: "three"}[len(best)]
    if sorted(map(digits, row)) == ["0.000"] * (len(row) - 1) + ["1.000"]:
        return {"key": keys[best[0]]}, "all"
    return {"query": query, "key": keys[best[0]]}, "one"


def two_heads(maps: Any, tokens: Any) -> tuple[dict[str, str], str]:
    """What is said of the maps of one or two heads."""
    if len(maps) == 1:
        return {}, "single"
    texts = [[digits(w) for row in weights for w in row] for weights in maps]
    if texts[0] == texts[1]:
        return {}, "pair_two_same"
    tops, size = [strongest(weights) for weights in maps], len(tokens) ** 2
    counts = sorted(map(len, tops))
    one = next((top[0] for top in tops if len(top) == 1), None)
    if counts[0] > 1:
        return {}, "pair_two_ties_even" if counts[1] == size else "pair_two_ties"
    assert one is not None
    place = {"query": tokens[one[0]], "key": tokens[one[1]]}
    if counts[1] > 1:
        return place, "pair_two_even" if counts[1] == size else "pair_two_shared"
    if tops[0] == tops[1]:
        i, j = one
        return place, "pair_two_" + (
            "equal" if texts[0][i * len(tokens) + j] == texts[1][i * len(tokens) + j] else "cell"
        )
    words = {}
    for n, ((i, j),) in enumerate(tops, 1):
        words |= {f"query_{n}": tokens[i], f"key_{n}": tokens[j]}
    return words, "pair_two_other"


def value_digits(value: Any, places: int = 4) -> str:
    """A value as it is shown, but for its minus sign; a zero never has one."""
    text = f"{float(value):.{places}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def standing(goal: int, logits: Any, shares: Any, words: Any) -> tuple[dict[str, str], str]:
    """How a word stands among all, by the digits of logits and probabilities."""
    z, p = [float(value_digits(x)) for x in logits], [value_digits(x) for x in shares]
    level = [i for i, x in enumerate(z) if x == z[goal]]
    best = [words[i] for i, x in enumerate(z) if x == max(z)]
    others = [words[i] for i in level if i != goal]
    same = {p[i] for i in level} == {p[goal]}
    rank = 1 + sum(x > z[goal] for x in z)
    if len(level) == len(z):
        return {}, "alike" if same else "level"
    if rank == 1 and others:
        names = ("shared_one", "shared_two", "shared_more")
        said = {f"other_{n}": word for n, word in enumerate(others, 1)}
        return (said, names[min(len(others), 3) - 1]) if same else ({}, "tied")
    if rank == 1:
        like = [i for i, text in enumerate(p) if text == p[goal] and i != goal]
        if not like:
            return {}, "hit"
        return {"other": words[max(like, key=lambda i: float(logits[i]))]}, "hair"
    place = "low" if 2 * rank > len(z) else "plain"
    place = ("shared_one" if len(others) == 1 else "shared") if others else place
    if len(best) == 1:
        return {"favourite": best[0]}, f"miss_{place}_one"
    if len(best) == 2:
        return {"favourite_1": best[0], "favourite_2": best[1]}, f"miss_{place}_two"
    return {}, f"miss_{place}_more"


def costs(losses: Any, goals: Any, shares: Any) -> tuple[dict[str, str], str]:
    """Who has the largest loss, by its digits."""
    shown = [float(value_digits(x)) for x in losses]
    worst = [i for i, x in enumerate(shown) if x == max(shown)]
    if len(worst) == len(shown):
        return {}, "alike"
    if len(worst) == 1:
        p = float(shares[worst[0]])
        name = "shown" if float(value_digits(p)) else "hidden" if p > 0 else "zero"
        return {"target": goals[worst[0]]}, f"one_{name}"
    said = {f"target_{n}": goals[i] for n, i in enumerate(worst, 1)}
    return (said, "pair") if len(worst) == 2 else ({}, "shared")


def attention_scores(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    weights = trace["encoder.0.self_attn.weights"]
    tokens = named(trace.source_tokens)
    pair = {"query": tokens[0], "key": tokens[strongest([weights[0][0]])[0][1]]}
    return {
        "dot": (pair, ""),
        "softmax": (pair, ""),
        "heads": two_heads(weights, tokens),
        "takeaway": attends(weights[0][0], tokens[0], tokens),
    }


def decoder_inputs(pass_of: PassOf) -> Words:
    return {"inference": ({"word": pass_of("training").target_tokens[0]}, "")}


def embedding(pass_of: PassOf) -> Words:
    return {"lookup": ({"token": pass_of("training").source_tokens[0]}, "")}


def positional_encoding(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    tokens, rows = named(trace.source_tokens), trace["positional"]
    words = {"sentence": "".join(tokens), "reversed": "".join(tokens[::-1])}
    nearest = min(math.dist(a, b) for i, a in enumerate(rows) for b in rows[:i])
    return {
        "question": (words, ""),
        "slow": ({}, {2: "two", 3: "three"}.get(rows.shape[1], "more")),
        "fingerprint": ({}, "alike" if digits(nearest, 4) == "0.0000" else "apart"),
    }


def input_(pass_of: PassOf) -> Words:
    token = {"token": pass_of("training").source_tokens[0]}
    return dict.fromkeys(("parts", "order"), (token, ""))


def tokenization(pass_of: PassOf) -> Words:
    """How source and target were cut, and which tokens of the model's own are around them."""
    trace = pass_of("training")
    sides, tokens = (trace.source_tokens, trace.target_tokens), trace.weights.tokens
    kinds = []
    for side in sides:
        han = [all("一" <= letter <= "鿿" for letter in token) for token in side]
        single = all(len(token) == 1 for token in side)
        wide = [token >= "⺀" for token in side]
        if single and all(wide):
            kinds.append("chinese" if all(han) else "characters")
        else:
            kinds.append("mixed" if any(wide) else "words")
    around = {
        name: token
        for name, token in (("bos", tokens.bos), ("eos", tokens.eos))
        if token is not None and any(token in side for side in sides)
    }
    return {"split": (around, "_".join([*kinds, *(around or ["none"])]))}


def qkv(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    token = {"token": named(trace.source_tokens)[0]}
    heads, _, d_k = trace["encoder.0.self_attn.q"].shape
    one = "single" if heads == 1 else ""
    return {
        **dict.fromkeys(("roles", "first"), (token, "")),
        "second": (token, {1: "one", 2: "two"}.get(d_k, "more")),
        "heads": ({}, one),
        "vectors": (token, one),
    }


def mask(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    scores, tokens = trace["decoder.0.self_attn.scores"][0], trace.target_tokens
    found: dict[str, list[tuple[float, int, int]]] = {"ahead": [], "shared": [], "": []}
    for i, row in enumerate(scores):
        shown = [float(value_digits(x)) for x in row]
        best = [j for j, x in enumerate(shown) if x == max(shown)]
        later = [j for j in best if j > i]
        name = "" if not later else "ahead" if later == best else "shared"
        j = (later or best)[0]
        found[name].append((float(row[j]), -i, j))
    name = next(name for name, places in found.items() if places)
    _, i, j = max(found[name])
    second = {"query": tokens[1]}
    return {
        "peek": (second, ""),
        "scores": ({"query": tokens[-i], "key": tokens[j]}, name),
        "softmax": (second, ""),
    }


def spoken(tokens: Any) -> list[str]:
    """Words as they are spoken of: one that is there twice bears its position."""
    low = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return [
        f"{token}{str(i).translate(low)}" if list(tokens).count(token) > 1 else token
        for i, token in enumerate(tokens, 1)
    ]


def row_of(row: Any, query: str, keys: Any) -> tuple[dict[str, str], str]:
    """Which keys have the largest weight of a row, by three decimals."""
    shown = [value_digits(w, 3) for w in row]
    top = max(shown, key=float)
    best = [keys[j] for j, text in enumerate(shown) if text == top]
    if len(best) == len(shown):
        return {"query": query}, "alike"
    if len(best) == 1:
        if top == "1.000" and shown.count("0.000") == len(shown) - 1:
            return {"key": best[0]}, "all"
        return {"query": query, "key": best[0]}, "one"
    if len(best) > 3:
        return {}, "shared"
    said = {f"key_{n}": key for n, key in enumerate(best, 1)}
    return {"query": query, **said}, "pair" if len(best) == 2 else "three"


def map_of(weights: Any, queries: Any, keys: Any) -> tuple[dict[str, str], str]:
    """What a map of attention says, by three decimals."""
    shown = [[value_digits(w, 3) for w in row] for row in weights]
    flat, even = [text for row in shown for text in row], 1 / len(keys)
    top = max(flat, key=float)
    if set(flat) == {top}:
        return {}, "alike"
    if all(abs(float(w) - even) <= 0.2 * even for row in weights for w in row):
        return {}, "even"
    at = [(i, j) for i, row in enumerate(shown) for j, text in enumerate(row) if text == top]
    if len(at) == 1:
        return {"query": queries[at[0][0]], "key": keys[at[0][1]]}, "one"
    if len(at) > 2:
        return {}, "shared"
    said = {}
    for n, (i, j) in enumerate(at, 1):
        said |= {f"query_{n}": queries[i], f"key_{n}": keys[j]}
    return said, "pair"


def cross_attention(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    last = len(trace.weights.config.decoder) - 1
    weights = trace[f"decoder.{last}.cross_attn.weights"]
    targets, sources = trace.target_tokens, trace.source_tokens
    hidden, out = (trace[f"decoder.{last}.ffn.{name}"][0] for name in ("hidden", "output"))
    width = {1: "wider", 0: "same"}.get(
        (len(hidden) > len(out)) - (len(hidden) < len(out)), "narrower"
    )
    cut = any(float(value_digits(x)) < 0 for x in hidden)
    first = ({"query": targets[0], "key": sources[0]}, "")
    queries, keys = spoken(targets), spoken(sources)
    return {
        **dict.fromkeys(("score", "softmax", "values", "norm"), first),
        "even": map_of(weights[0], queries, keys),
        "output": ({}, {1: "one", 2: "two"}.get(len(weights), "more")),
        "ffn": ({}, f"{width}_{'cut' if cut else 'whole'}"),
        "takeaway": row_of(weights[0][0], queries[0], keys),
    }


def output_loss(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    vocabulary, read, goals = trace.weights.vocabulary, trace.target_tokens, trace.goal_tokens
    ids = [vocabulary.index(word) for word in goals]
    rows = list(zip(ids, trace["logits"], trace["probabilities"], strict=False))
    stands = [standing(*row, vocabulary) for row in rows]
    said, name = stands[0]
    right = sum(kind in ("hit", "hair") for _, kind in stands)
    shared = sum(kind[:6] in ("shared", "tied", "alike", "level") for _, kind in stands)
    many = {0: "none", 1: "one"}.get(right, "some")
    table = "all" if right == len(goals) else f"{many}_{'some' if shared else 'none'}"
    hidden = not float(value_digits(rows[0][2][ids[0]]))
    shift: tuple[dict[str, str], str] = ({}, "copy")
    if trace.weights.objective == "next":
        shift = {"read": read[1], "goal": goals[1]}, "next"
    return {
        "logit": ({"word": goals[0]}, ""),
        "rank": ({"target": goals[0], **said}, name),
        "loss": ({"word": goals[0]}, "hidden") if hidden else ({}, ""),
        "table": ({}, table),
        "learn": costs(trace["loss.per_position"], goals, [row[2][row[0]] for row in rows]),
        "shift": shift,
    }


def autoregressive_loop(pass_of: PassOf) -> Words:
    first = pass_of("inference 1")
    after = following(pass_of("training"))
    target = [pass_of("training").target_tokens[0], *after]
    vocabulary = first.weights.vocabulary
    choice = vocabulary[largest(first["logits"][0])]
    written = [target[0]]
    while len(written) < len(target):
        trace = engine.inference_pass(first.weights, written, first.source_tokens)
        written.append(vocabulary[largest(trace["logits"][-1])])
    shown = [float(value_digits(x)) for x in first["logits"][0]]
    tied = "tied_" if shown.count(max(shown)) > 1 else ""
    return {
        "first": ({"word": target[0]}, ""),
        "choose": (
            {"choice": choice, "word": target[1]},
            f"{tied}{'agree' if choice == target[1] else 'differ'}",
        ),
        "again": ({"words": " ".join(target[:2])}, ""),
        "last": ({"word": target[-1]}, ""),
        "free": left_alone(written[1:], target[1:], first.weights.tokens.eos),
    }


def left_alone(
    written: list[str], wanted: list[str], eos: str | None
) -> tuple[dict[str, str], str]:
    """What a model writes that nobody corrects, up to its end token."""
    ours, theirs = (
        words[: words.index(eos)] if eos in words else words for words in (written, wanted)
    )
    end = "none" if eos is None else "eos" if eos in written else "never"
    for a, b in itertools.zip_longest(ours, theirs):
        if a is None and eos in written:
            return {"word": str(eos), "wanted": b}, f"differs_{end}"
        if b is None:
            return {"word": a}, f"longer_{end}"
        if a is not None and a != b:
            return {"word": a, "wanted": b}, f"differs_{end}"
    return {}, f"same_{end}"


def architecture(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    words = {"source": "".join(trace.source_tokens), "target": " ".join(trace.target_tokens)}
    return {"question": (words, "")}


def encoder_layer(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    token = {"token": named(trace.source_tokens)[0]}
    hidden = trace["encoder.0.ffn.hidden"][0]
    dead = sum(digits(value, 4).startswith("-") for value in hidden)
    kinds = {0: "none", len(hidden): "only" if len(hidden) == 1 else "all", 1: "one"}
    heads, d_k = trace["encoder.0.self_attn.v"].shape[0], trace["encoder.0.self_attn.v"].shape[2]
    d = trace["encoder.input"].shape[1]
    width = "same" if len(hidden) == d else "wider" if len(hidden) > d else "narrower"
    return {
        **dict.fromkeys(("mix", "residual", "again"), (token, "")),
        "second": ({}, {1: "one", 2: "two"}.get(d_k, "more")),
        "concat": ({}, {1: "one", 2: "two"}.get(heads, "more")),
        "project": ({}, "one" if heads == 1 else "more"),
        "normalise": ({}, divided_by(trace, "encoder.0.norm1", 0)),
        "expand": ({}, width),
        "relu": ({}, kinds.get(dead, "some")),
        "contract": ({}, width),
    }


def divided_by(trace: Any, norm: str, i: int) -> str:
    """What is said of the division in a normalisation; without learned parts, ε in the root."""
    variance = trace[f"{norm}.variance"][i]
    if digits(variance, 4) == "0.0000":
        return "zero"
    return "plain" if variance >= 100 * trace.weights.config.setting("norm.eps") else "root"


def entropy(row: Any) -> float:
    """In nats; a weight of zero counts nothing."""
    return -sum(float(w) * math.log(float(w)) for w in row if w > 0)


def memory(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    tokens, config = named(trace.source_tokens), trace.weights.config
    asking = sum("cross_attn" in kinds for kinds in config.decoder)
    kept = {"kept": ({}, "several" if asking > 1 else "")}
    if len(config.encoder) == 1:
        words, name = attends(trace["encoder.0.self_attn.weights"][0][0], tokens[0], tokens)
        beats = dict.fromkeys(("question", "layers", "attention", "rows", "vector"), ({}, "single"))
        even = {"query": tokens[0]}, "single"
        return kept | beats | {"row": (words, f"single_{name}"), "even": even}
    first, second = (trace[f"encoder.{layer}.self_attn.weights"] for layer in (0, 1))
    change = [
        float(digits(entropy(b))) - float(digits(entropy(a)))
        for one, other in zip(first, second, strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    alike = all(
        (matrix == trace.weights.matrices[name.replace("encoder.0", "encoder.1")]).all()
        for name, matrix in trace.weights.matrices.items()
        if name.startswith("encoder.0") and "norm" not in name
    )
    kinds = "rises" if change[0] > 0 else "falls" if change[0] < 0 else "same"
    return kept | {
        "layers": ({}, "same" if alike else "differ"),
        "row": two_rows(first[0][0], second[0][0], tokens),
        "even": ({"query": tokens[0]}, kinds),
        "rows": ({}, more_even(change, len(first))),
    }


def two_rows(first: Any, second: Any, tokens: Any) -> tuple[dict[str, str], str]:
    """What is said of the first token's row in two layers."""
    (one, a), (other, b) = (attends(row, tokens[0], tokens) for row in (first, second))
    if (a, b) != ("one", "one"):
        words = {f"first_{key}": word for key, word in one.items()}
        return words | {f"second_{key}": word for key, word in other.items()}, f"{a}_{b}"
    words = {"query": tokens[0], "key_1": one["key"]}
    if one["key"] != other["key"]:
        return words | {"key_2": other["key"]}, "differ"
    return words, "equal" if [*map(digits, first)] == [*map(digits, second)] else "same"


def more_even(change: list[float], heads: int) -> str:
    """What is said of how the entropy of each row changes."""
    more, same = sum(d > 0 for d in change), sum(d == 0 for d in change)
    if more == len(change):
        return "all"
    names = {0: "none", 1: "one"}
    single = "single_" if heads == 1 and more else ""
    name = f"{single}{names.get(more, 'some')}_{names.get(same, 'some')}"
    return "two" if heads == 2 and name == "some_none" else name


def decoder_self_attention(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    target, weights = trace.target_tokens, trace.weights
    layers = weights.config.decoder
    single = len(layers) == 1
    kinds = list(layers[0])
    arrays = [
        [m.tolist() for n, m in weights.matrices.items() if n.startswith(f"decoder.{layer}.")]
        for layer in range(len(layers))
    ]
    return {
        "rows": ({"first": target[0], "last": target[-1]}, ""),
        "mix": ({"query": target[1]}, ""),
        "layer": ({}, "single" if single else "cross" if "cross_attn" in kinds else ""),
        "again": ({}, "single" if single else "same" if arrays[0] == arrays[1] else "differ"),
        "residual": ({}, "single" if single else ""),
    }


def following(training: Any) -> list[str]:
    """The words that inference is to write, one each step."""
    weights, target = training.weights, training.target_tokens
    return list(training.goal_tokens if weights.objective == "next" else target[1:])


def step_of(pass_of: PassOf, k: int) -> tuple[Any, ...]:
    """Of inference step k: the run, the target, the choice, the word hoped for, whether the row
    equals the training row of its position, and how the word hoped for stands."""
    run, training = pass_of(f"inference {k}"), pass_of("training")
    words, target = run.weights.vocabulary, training.target_tokens
    last = [float(x) for x in run["logits"][k - 1]]
    same = [float(x) for x in training["logits"][k - 1]]
    apart = max(abs(a - b) for a, b in zip(last, same, strict=True))
    equal = apart <= 1e-9 * max(1.0, max(abs(x) for x in last))
    wanted = following(training)[k - 1]
    stands = standing(words.index(wanted), last, run["probabilities"][k - 1], words)
    return run, target, words[largest(last)], wanted, equal, stands


def choice_of(wanted: str, stands: tuple[dict[str, str], str]) -> tuple[dict[str, str], str]:
    said, name = stands
    return {"word": wanted, **said}, name


def lead_of(run: Any, choice: str) -> str:
    """How far the choice is ahead, by the digits of its logit and its probability."""
    words = run.weights.vocabulary
    z = [float(value_digits(x)) for x in run["logits"][-1]]
    p = [value_digits(x) for x in run["probabilities"][-1]]
    ties = [words[i] for i, x in enumerate(z) if x == max(z)]
    by = "id" if choice == ties[0] else "unseen"
    if len(ties) > 1:
        return f"{'level' if len(ties) == len(z) else 'tied'}_{by}"
    return "hair" if p.count(p[words.index(choice)]) > 1 else "one"


def inference_step_1(pass_of: PassOf) -> Words:
    run, target, choice, wanted, equal, stands = step_of(pass_of, 1)
    first, words = {"word": target[0]}, run.weights.vocabulary
    logits = zip(run["logits"][0], words, strict=True)
    wrong = max((float(x), -i, w) for i, (x, w) in enumerate(logits) if w != wanted)[2]
    hit = choice == wanted
    return {
        "question": (first, ""),
        "input": (first, ""),
        "decoder": (first, ""),
        "softmax": ({"choice": choice}, lead_of(run, choice)),
        "hoped": choice_of(wanted, stands),
        "training": (first, "equal" if equal else "differ"),
        "chain": ({"other": wrong}, "hit") if hit else ({"choice": wrong, "word": wanted}, "miss"),
    }


def inference_step_2(pass_of: PassOf) -> Words:
    _, target, _, wanted, equal, stands = step_of(pass_of, 2)
    pair = {"first": target[0], "last": target[1]}
    one, two = pass_of("training").weights.matrices, pass_of("inference 2").weights.matrices
    apart = [n for n in one if one[n].tolist() != two[n].tolist()]
    if not apart:
        why = "same"
    elif equal:
        why = "anyway"
    else:
        inside = [n for n in apart if n.startswith("decoder.") and ".self_attn." in n]
        why = "self" if inside == apart else "other"
    said = "equal" if equal else "differ"
    return {
        "question": ({"words": " ".join(target[:2])}, ""),
        "mask": (pair, ""),
        "rows": (pair, ""),
        "choice": choice_of(wanted, stands),
        "training": ({"word": target[1], "words": " ".join(target[:2])}, ""),
        "compare": ({"word": target[1]}, said),
        "why": ({}, why),
        "takeaway": ({}, "anyway" if why == "anyway" else said),
    }


def write_on(run: Any, start: Any, length: int) -> list[str]:
    """Greedy generation, one whole pass for each word."""
    words = list(start)
    while len(words) < length:
        trace = engine.inference_pass(run.weights, words, run.source_tokens)
        words.append(run.weights.vocabulary[largest(trace["logits"][-1])])
    return words


def inference_step_3(pass_of: PassOf) -> Words:
    wanted = following(pass_of("training"))
    steps = len(wanted)
    _, target, _, last, equal, stands = step_of(pass_of, steps)
    first, sentence = pass_of("inference 1"), [target[0], *wanted]
    kinds = [step_of(pass_of, k)[5][1] for k in range(1, steps + 1)]
    right = sum(kind in ("hit", "hair") for kind in kinds)
    shared = any(kind[:6] in ("shared", "tied", "alike", "level") for kind in kinds)
    hits = {0: "none", 1: "one"}.get(right, "some") + ("_some" if shared else "_none")
    alone = write_on(first, target[:1], steps + 1)
    if alone == sentence:
        z = [float(x) for x in first["logits"][0]]
        second = sorted(range(len(z)), key=lambda i: -z[i])[1]
        carry = {"word": first.weights.vocabulary[second]}, "forced"
    else:
        i = [a == b for a, b in zip(alone, sentence, strict=True)].index(False)
        carry = {"word": alone[i], "hoped": sentence[i]}, "last" if i == steps else "alone"
    more = steps < len(target)
    read = {"word": target[steps - 1]} | ({"next": target[steps]} if more else {})
    return {
        "question": ({"words": " ".join(target[:steps])}, ""),
        "mask": ({"word": target[steps - 1]}, ""),
        "choice": choice_of(last, stands),
        "position": (read, "" if more else "end"),
        "compare": ({}, "equal" if equal else "differ"),
        "sentence": ({}, "all" if right == steps else hits),
        "carry": carry,
    }


def training_vs_inference(pass_of: PassOf) -> Words:
    one, other = pass_of("training"), pass_of("inference 1")
    shared = ("source.ids", "encoder.input", "memory")
    same = all(one[name].tolist() == other[name].tolist() for name in shared)
    return {"same": ({}, "" if same else "differ")}


ORACLES: Mapping[int, Callable[[PassOf], Words]] = {
    1: architecture,
    2: decoder_inputs,
    3: tokenization,
    4: embedding,
    5: positional_encoding,
    6: input_,
    7: qkv,
    8: attention_scores,
    9: encoder_layer,
    10: memory,
    11: mask,
    12: decoder_self_attention,
    13: cross_attention,
    14: output_loss,
    15: autoregressive_loop,
    16: inference_step_1,
    17: inference_step_2,
    18: inference_step_3,
    19: training_vs_inference,
}
