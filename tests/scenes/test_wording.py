"""What is said decides from the digits on screen: every case against the facts of the lessons."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.passes import Passes
from render.review.numbers import Recomputer
from scenes import texts, verdicts, wording
from scenes.rounding import shown
from scenes.settings import Settings
from scenes.texts import Say, Template, fill
from scenes.values import Run, Scalar, Values, Word, compute, constant
from scenes.wording import Case, Top

FOLDER = Path(__file__).resolve().parents[1] / "lessons" / "adversarial"
FILMED = {
    path.name: said["facts"]
    for path in sorted(FOLDER.iterdir())
    if (said := json.loads((path / "expect.json").read_text(encoding="utf-8")))["verdict"] == "film"
}
WORDING = {language: texts.load(language)["wording"] for language in ("zh", "en")}
#: The kinds that the cases of a row come from.
KIND = {"one": "one", "all": "one", "alike": "alike", "only": "only"}

lesson = pytest.mark.parametrize("name", FILMED)
language = pytest.mark.parametrize("language", WORDING)


@cache
def settings_of(name: str) -> Settings:
    path = FOLDER / name / "lesson.toml"
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    weights = path.with_name(said["weights"])
    return Settings("en", weights, weights, said["source"], said["target"])


@cache
def run_of(name: str, label: str = "training") -> Run:
    of = settings_of(name)
    return Run(label, Passes(of.weights, of.weights_for_inference, of.source, of.target))


def top_fact(found: Top) -> dict[str, Any]:
    return {"kind": found.kind, "at": [list(at) for at in found.at], "shown": found.shown}


def standing_fact(found: verdicts.Standing) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "rank": int(found.rank.exact),
        "of": int(found.count.exact),
        "with": list(found.alike),
        "best": list(found.best),
        "p": found.p_shown,
        "p_best": max(
            (shown(p.exact, 4) for p in found.probabilities),
            key=float,
        ),
        "p_like": list(found.looks_like),
    }


def said(family: str, case: Case, language: str = "en") -> str:
    """The sentence of a case; raises where there is no such text or a fact is missing."""
    cases = texts.expand({family: Template(f"{{{family}.*}}")}, WORDING[language])
    return fill(cases[f"{family}_{case.name}"], case.facts)


def in_both(family: str, case: Case) -> str:
    """The English sentence; there is a Chinese one exactly where there is an English one."""
    told = said(family, case)
    assert bool(said(family, case, "zh")) == bool(told)
    return told


def weights_of(name: str, layer: int) -> Values:
    return run_of(name)[f"encoder.{layer}.self_attn.weights"]


# -- attention ---------------------------------------------------------------------------------


@lesson
def test_what_a_map_and_a_row_show(name: str) -> None:
    facts, tokens = FILMED[name], wording.named(run_of(name).source)
    maps = weights_of(name, 0)
    for head in range(maps.shape[0]):
        assert top_fact(wording.top(maps[head])) == facts[f"s08.head{head + 1}"]
    row = maps[0, 0]
    assert top_fact(wording.top(row)) == facts["s08.first_row"]
    case = wording.largest(row, tokens[0], tokens)
    assert KIND.get(case.name, "shared") == facts["s08.first_row"]["kind"]
    told = in_both("largest", case)
    for at in facts["s08.first_row"]["at"] if case.name in ("one", "all", "pair", "three") else ():
        assert tokens[at[0]] in told


@lesson
def test_what_two_heads_have_in_common(name: str) -> None:
    maps, tokens = weights_of(name, 0), wording.named(run_of(name).source)
    facts = [FILMED[name][f"s08.head{n + 1}"] for n in range(maps.shape[0])]
    case = wording.heads(maps, tokens, tokens)
    told = in_both("heads", case)
    if len(facts) == 1:
        assert told == "This layer has one head."
        return
    a, b = wording.compared(maps)
    kinds = {facts[a]["kind"], facts[b]["kind"]}
    how = case.name.rsplit("_", 1)[1]
    if how == "same":
        assert facts[a] == facts[b]
    elif kinds == {"one"}:
        assert (how == "other") == (facts[a]["at"] != facts[b]["at"])
        assert (how == "equal") <= (facts[a]["shown"] == facts[b]["shown"])
    else:
        assert (
            how
            == {
                ("alike", "one"): "even",
                ("one", "shared"): "shared",
                ("shared",): "ties",
                ("alike", "shared"): "even",
            }[tuple(sorted(kinds))]
        )
    assert ("two of the" in told) == (len(facts) > 2)


@lesson
def test_how_entropy_changes(name: str) -> None:
    facts, run = FILMED[name], run_of(name)
    if "s10.rows" not in facts:
        return
    layers = [weights_of(name, layer) for layer in (0, len(run.layers("encoder")) - 1)]
    assert [top_fact(wording.top(layer[0, 0])) for layer in layers] == facts["s10.first_row"]
    rows = [
        [layer[h, i] for h in range(len(layer)) for i in range(layer.shape[1])] for layer in layers
    ]
    pairs = [(compute("entropy", *a), compute("entropy", *b)) for a, b in zip(*rows, strict=True)]
    case = wording.entropy(run.source[0], *pairs[0])
    expected = facts["s10.entropy"]
    assert (case.name, str(case.facts["first"])) == (expected["kind"], expected["from"])
    assert expected["to"] in in_both("entropy", case)
    case = wording.entropy_rows(pairs, len(layers[0]))
    told, counts = in_both("entropy_rows", case), facts["s10.rows"]
    assert str(case.facts["more"]) == str(counts["rises"])
    assert str(case.facts["same"]) == str(counts["same"])
    assert ("stay" in told) == (counts["same"] > 0)
    assert told.startswith("No row") == (counts["rises"] == 0)
    assert told.startswith("All") == (counts["rises"] == sum(counts.values()))


@lesson
def test_what_cross_attention_aligns(name: str) -> None:
    facts, of = FILMED[name], settings_of(name)
    trace = engine.inference_pass(engine.load_weights(of.weights), of.target, of.source)
    last = max(i for i, kinds in enumerate(trace.weights.config.decoder) if "cross_attn" in kinds)
    key = f"decoder.{last}.cross_attn.weights"
    weights = Values("training", key, trace[key])[0]
    assert top_fact(wording.top(weights)) == facts["s13.map"]
    assert top_fact(wording.top(weights[0])) == facts["s13.first_row"]
    case = wording.cross(weights, trace.target_tokens, trace.source_tokens)
    kind = facts["s13.map"]["kind"]
    if weights.shape[1] == 1:
        assert case.name == "only"
    elif kind == "alike":
        assert case.name == "alike"
    elif facts["s13.even"]:
        assert case.name == "even"
    else:
        assert case.name == "one" if kind == "one" else case.name in ("pair", "shared")
    in_both("cross", case)


# -- layers ------------------------------------------------------------------------------------


@lesson
def test_what_the_feed_forward_network_does(name: str) -> None:
    facts, run = FILMED[name], run_of(name)
    assert (
        wording.ffn(*(constant(run.setting(k)) for k in ("d_model", "d_ff"))).name
        == (facts["s09.width"])
    )
    counts = facts["s09.relu"]
    case = wording.activation("relu", run["encoder.0.ffn.hidden"][0])
    assert str(case.facts["negative"]) == str(counts["negative"])
    expected = {0: "none", 1: "one", counts["of"]: "all"}.get(counts["negative"], "some")
    assert case.name == expected
    kind = run.setting("activation")
    told = in_both("activation", wording.activation(kind, run["encoder.0.ffn.hidden"][0]))
    assert told.startswith({"relu": ("ReLU", "All"), "silu": "SiLU"}.get(kind, "GELU"))


def test_layers_with_the_same_numbers_are_told_as_such() -> None:
    assert wording.layer_weights(run_of("07_same_layers"), "encoder", 0, 1).name == "same"
    assert wording.layer_weights(run_of("04_twin_words"), "encoder", 0, 1).name == "differ"


def test_normalisation_is_told_as_the_model_has_it() -> None:
    full, plain = run_of("33_pre_norm_full"), run_of("04_twin_words")
    assert in_both("norm_place", wording.norm_place(full)).startswith("Normalise first")
    assert in_both("norm_place", wording.norm_place(plain)) == "Add, then normalise"
    assert in_both("learned_norm", wording.learned_norm(full.model("groups"))) != ""
    assert in_both("learned_norm", wording.learned_norm(plain.model("groups"))) == ""
    assert wording.divisor(plain, constant(0.1)).name == "plain"
    assert wording.divisor(plain, constant(0.0009)).name == "root"
    assert "plus ε" in in_both("divisor", Case("outside"))


@pytest.mark.parametrize(
    ("case", "family", "told"),
    [
        (wording.flat((), constant(0.00004)), "flat", "All numbers are alike, so all become 0."),
        (wording.flat(("norm shift",), constant(0)), "flat", "(plus β)"),
        (wording.flat((), constant(0.0001)), "flat", ""),
        (wording.fingerprints(constant(0.00002)), "fingerprints", "look alike"),
        (wording.fingerprints(constant(1.0)), "fingerprints", "1.0000 apart"),
        (wording.query_rows(1), "query_rows", "One row, one number"),
        (wording.query_rows(2), "query_rows", "Row two gives the second number"),
        (wording.query_rows(4), "query_rows", "The other 3 rows likewise"),
        (wording.cut("我爱水课"), "cut", "one per Chinese character"),
        (wording.cut(["I", "love"]), "cut", "one per word"),
        (wording.cut(["わ", "た"]), "cut", "one per character"),
        (wording.cut(["I", "我"]), "cut", "as the vocabulary has them"),
        (wording.all_heads(1), "all_heads", "The one head"),
        (wording.all_heads(2), "all_heads", "Both heads"),
        (wording.all_heads(4), "all_heads", "All 4 heads"),
        (wording.activation("relu", [constant(-0.00004)]), "activation", "there are none"),
        (wording.activation("relu", [constant(-1)]), "activation", "The one number is negative"),
        (Case("learned"), "position", "a row for each place"),
    ],
)
def test_cases_without_a_lesson(case: Case, family: str, told: str) -> None:
    found = in_both(family, case)
    assert told in found
    assert bool(told) == bool(found)


def row(*numbers: float) -> list[Scalar]:
    return [constant(number) for number in numbers]


def grid(*rows: list[float]) -> Values:
    return Values("training", "made", np.array(rows, dtype=float))


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ((0.2, 0.5, 0.3), "q attends most to b, 0.500."),
        ((0.4, 0.40004, 0.19996), "q attends most to a and b alike, 0.400 each."),
        ((0.3, 0.1, 0.3, 0.3), "q attends most to a, c and d alike, 0.300 each."),
        ((0.24, 0.24, 0.24, 0.24, 0.04), "4 of the 5 weights share the largest value, 0.240."),
        ((1 / 3, 1 / 3, 1 / 3), "q attends to all 3 alike, 0.333 each."),
        ((1.0,), "There is a single token to attend to: weight 1."),
        ((0.9997, 0.0002, 0.0001), "All of it goes to a: the others show 0.000."),
    ],
)
def test_a_row_of_weights(weights: tuple[float, ...], told: str) -> None:
    assert in_both("largest", wording.largest(row(*weights), "q", "abcde")) == told


@pytest.mark.parametrize(
    ("i", "scores", "told"),
    [
        (0, [1.0, 0.5, 0.2], "Scores come out as usual"),
        (0, [1.0, 2.0, 0.2], "Left alone, a scores highest on b, a word not written yet: 2.0000."),
        (1, [2.0, 1.0, 2.00001], "b scores c as high as anything it may see: 2.0000"),
        (0, [1.0, 2.0, 2.00001], "Left alone, a scores highest on b"),
    ],
)
def test_scores_before_the_mask(i: int, scores: list[float], told: str) -> None:
    rows = [[0.0] * 3 for _ in range(3)]
    rows[i] = scores
    assert in_both("ahead", wording.ahead(grid(*rows), i, "abc")).startswith(told)


def test_a_word_that_is_there_twice_has_its_position() -> None:
    tokens = wording.named(("我", "爱", "我"))
    assert tokens == ("我₁", "爱", "我₃")
    assert all(isinstance(token, Word) for token in tokens)


# -- words and losses --------------------------------------------------------------------------


def standings_of(name: str) -> list[verdicts.Standing]:
    run = run_of(name)
    words = run.vocabulary
    return [
        verdicts.standing_of(words.index(goal), run["logits"][i], run["probabilities"][i], words)
        for i, goal in enumerate(run.goals)
    ]


TOLD: dict[str, Callable[[str], bool]] = {
    "hit": lambda text: text.endswith("a hit.") or "by a hair" in text,
    "shared_hit": lambda text: text.endswith("no clear hit."),
    "alike": lambda text: text.endswith("the model has no favourite."),
    "miss": lambda text: "ranks number" in text,
    "shared_miss": lambda text: "shares rank" in text,
}


def check_standing(found: verdicts.Standing, expected: Mapping[str, Any]) -> None:
    assert standing_fact(found) == expected
    told = in_both("standing", verdicts.standing(found))
    assert TOLD[expected["kind"]](told), told
    if expected["kind"] == "hit":
        assert ("by a hair" in told) == bool(expected["p_like"])
    if "miss" in expected["kind"]:
        assert f" {expected['rank']}" in told
        best = [found.words[i] for i in expected["best"]]
        assert all(word in told for word in best[:2]) if len(best) < 3 else str(len(best)) in told
    if expected["kind"] == "miss":
        assert told.startswith("only") == (2 * expected["rank"] > expected["of"])
    hidden = verdicts.probability(found.p)
    assert (hidden.name == "shown") == (expected["p"] != "0.0000")
    in_both("probability", hidden)


@lesson
def test_how_the_words_to_be_written_stand(name: str) -> None:
    facts, found = FILMED[name], standings_of(name)
    for each, expected in zip(found, facts["s14.positions"], strict=True):
        check_standing(each, expected)
    case = verdicts.hits(found)
    counts = [int(str(case.facts[key])) for key in ("right", "shared", "count")]
    assert counts == facts["s14.right"]
    told = in_both("hits", case)
    right, shared, count = counts
    assert ("shared" in told) == (shared > 0 and right < count)
    losses = run_of(name)["loss.per_position"]
    assert top_fact(wording.top(losses, 4)) == facts["s14.largest_loss"]
    case = verdicts.largest_loss(losses, wording.named(run_of(name).goals))
    kind = facts["s14.largest_loss"]["kind"]
    assert case.name == kind if kind != "shared" else case.name in ("pair", "shared")
    in_both("largest_loss", case)


@lesson
def test_how_the_next_word_stands_in_each_step(name: str) -> None:
    run, facts = run_of(name), FILMED[name]["s16-18.steps"]
    following = run.goals if run.model("objective") == "next" else run.target[1:]
    for length, (word, expected) in enumerate(zip(following, facts, strict=True), start=1):
        step = run_of(name, f"inference {length}")
        goal = run.vocabulary.index(word)
        found = verdicts.standing_of(
            goal, step["logits"][-1], step["probabilities"][-1], run.vocabulary
        )
        check_standing(found, expected)
        assert found.choice == int(step["logits"][-1].array.argmax())


@lesson
def test_counted_numbers_can_be_worked_out_again(name: str) -> None:
    """From the trace, as the audit does with every number on screen."""
    found, recompute = standings_of(name), Recomputer(settings_of(name))
    cases = [verdicts.hits(found), *map(verdicts.standing, found)]
    cases.append(wording.activation("relu", run_of(name)["encoder.0.ffn.hidden"][0]))
    for case in cases:
        for fact in case.facts.values():
            if isinstance(fact, Say):
                assert recompute.value(fact.scalar.recipe()) == fact.scalar.exact


@pytest.mark.parametrize(
    ("written", "wanted", "told", "end"),
    [
        ("a b <eos>", "a b <eos>", "writes the same sentence", ", and ends with <eos>"),
        ("a b", "a b <eos>", "writes the same sentence", ", and does not end within 2"),
        ("a c", "a b <eos>", "writes c for b at word 2", ", and does not end within 2"),
        ("a <eos>", "a b <eos>", "writes <eos> for b at word 2", ", and ends with <eos>"),
        ("a b c", "a b <eos>", "goes on with c", ", and does not end within 3"),
    ],
)
def test_a_model_left_alone(written: str, wanted: str, told: str, end: str) -> None:
    ours, theirs = written.split(), wanted.split()
    assert told in in_both("alone", verdicts.alone(ours, theirs, "<eos>"))
    assert in_both("ending", verdicts.ending(ours, "<eos>")) == end
    assert in_both("ending", verdicts.ending(ours, None)) == ""


def test_objectives() -> None:
    case = verdicts.objective("next", 0, ["<bos>", "I"], ["I", "love"])
    assert in_both("objective", case) == (
        "Row 1 has read up to <bos> and is to say I: targets are shifted by one."
    )
    assert "teach copying" in in_both("objective", verdicts.objective("copy", 0, "a", "a"))


# -- the table itself --------------------------------------------------------------------------


def facts_in(template: str) -> list[str]:
    return sorted(span.text for span in texts.parse(template) if span.is_fact)


def test_both_languages_say_every_case_of_the_same_facts() -> None:
    families = {language: texts.expand(table, table) for language, table in WORDING.items()}
    assert {k: set(v) for k, v in families["zh"].items()} == {
        k: set(v) for k, v in families["en"].items()
    }
    for family, cases in families["zh"].items():
        for case, template in cases.items():
            assert set(facts_in(template)) == set(facts_in(families["en"][family][case])), case


@language
def test_no_case_says_a_digit_of_its_own(language: str) -> None:
    for cases in WORDING[language].values():
        for template in cases.values():
            own = "".join(s.text for s in texts.parse(template) if not s.is_fact)
            assert not re.search(r"\d", own), template


def test_cases_of_two_families_are_added_in_the_order_of_the_text() -> None:
    table = texts.expand(
        {"beat": "{ffn.*} {entropy.*:row}", "beat_same_same": "own"}, WORDING["en"]
    )
    case = wording.ffn(constant(4), constant(8)) + wording.entropy(
        "q", constant(1), constant(2)
    ).named("row")
    assert fill(table[f"beat_{case.name}"], case.facts) == (
        "The FFN widens 4 numbers to 8. for q it rises from 1.000 to 2.000"
    )
    assert table["beat_same_same"] == "own"
    assert "beat" not in table
