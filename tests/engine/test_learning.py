"""Training on corpora: batches, alignment, optimisers, histories, checkpoints, and the models that
the project carries."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import autograd
import numpy as np
import pytest

import engine
from engine import LectureError, Weights
from engine.batch import batch_of, gradients_of, outcome
from engine.corpus import Pair, read_corpus, words_in
from engine.generation import beam_search
from engine.optimisers import OPTIMISERS, SCHEDULES
from engine.recipe import extended
from engine.training import Record, Settings, Trainer
from engine.training_files import History, load_checkpoint, read_history, save_checkpoint

from . import reference
from .members import seeded

ROOT = Path(engine.__file__).parents[1]
CORPUS = ROOT / "assets" / "corpus" / "courses.tsv"
WEIGHTS = ROOT / "assets" / "weights"
PAIRS = (
    Pair(("我", "爱", "水", "课"), ("I", "love", "easy", "courses"), ((0, 0), (1, 1), (2, 2))),
    Pair(("课",), ("courses", "I"), ((0, 0), (0, 1))),
    Pair(("爱", "课"), ("love", "courses", "I"), ((1, 1),)),
)


def learner(seed: int = 0) -> Weights:
    """The tutorial's model with the words of the corpus."""
    words = (*words_in(read_corpus(CORPUS)), "<bos>", "<eos>")
    weights = extended(engine.tutorial_weights(), words, seed)
    tokens = engine.Tokens(bos="<bos>", eos="<eos>")
    return replace(weights, objective="next", tokens=tokens)


class TestBatches:
    @pytest.mark.parametrize("seed", range(8))
    def test_a_batch_is_its_pairs_one_by_one(self, seed: int) -> None:
        """Losses and gradients of any model of the family, filled up or not, as of each alone."""
        weights = seeded(seed)
        source, target = weights.source_words, weights.vocabulary
        pairs = [Pair(source[:n], target[:m]) for n, m in ((2, 2), (1, 3), (2, 3))]
        batch = batch_of(pairs, weights, weights.objective)
        passed = outcome(weights, batch)
        counts = [len(engine.training_pass(weights, *_texts(p)).goal_tokens) for p in pairs]
        losses = [engine.training_pass(weights, *_texts(p))["loss.mean"] for p in pairs]
        assert passed.loss == pytest.approx(np.average(losses, weights=counts), rel=1e-12)
        found = gradients_of(weights, batch, passed)
        for name, gradient in found.items():
            each = [engine.gradients(weights, *_texts(p))[name] for p in pairs]
            wanted = np.average(each, axis=0, weights=counts)
            np.testing.assert_allclose(gradient, wanted, rtol=1e-9, atol=1e-12)

    def test_the_gradient_is_that_of_automatic_differentiation(self) -> None:
        weights = engine.tutorial_weights()
        texts = [_texts(pair) for pair in PAIRS]
        batch = batch_of(PAIRS, weights, "next")
        counts = np.array([len(target) - 1 for _, target in texts])

        def loss(matrices: dict[str, Any]) -> Any:
            each = [reference.loss(matrices, weights, text, "next") for text in texts]
            return sum(n * one for n, one in zip(counts, each, strict=True)) / counts.sum()

        wanted = autograd.grad(loss)(dict(weights.matrices))
        found = gradients_of(weights, batch, outcome(weights, batch))
        for name, gradient in found.items():
            np.testing.assert_allclose(gradient, wanted[name], rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("objective", ["next", "copy"])
    def test_the_alignments_gradient_is_that_of_finite_differences(self, objective: str) -> None:
        weights, factor, h = engine.tutorial_weights(), 0.7, 1e-5
        batch = batch_of(PAIRS, weights, objective)
        gradients = gradients_of(weights, batch, outcome(weights, batch), factor)

        def loss(name: str, index: tuple[int, ...], by: float) -> float:
            changed = np.array(weights.matrices[name])
            changed[index] += by
            passed = outcome(weights.with_matrices({name: changed}), batch)
            assert passed.alignment is not None
            return passed.loss + factor * passed.alignment

        lot = np.random.RandomState(1)
        for name, gradient in gradients.items():
            index = tuple(int(lot.randint(size)) for size in gradient.shape)
            slope = (loss(name, index, h) - loss(name, index, -h)) / (2 * h)
            assert gradient[index] == pytest.approx(slope, rel=1e-5, abs=1e-7), name

    def test_words_are_asked_to_look_where_they_come_from(self) -> None:
        """With a start token the row before a word is about to write it."""
        batch = batch_of(read_corpus(CORPUS), learner(), "next")
        assert len(batch.goals) == 204
        assert [len(each) for each in batch.aligned] == [164] * 3
        first = [each[:4].tolist() for each in batch.aligned]
        assert first == [[0, 0, 0, 0], [0, 1, 2, 3], [0, 1, 2, 3]]


def _texts(pair: Pair) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return pair.source, pair.target


class TestCorpora:
    @pytest.mark.parametrize(
        ("text", "field", "found"),
        [
            ("", "pairs", "0"),
            ("# nothing\n\n", "pairs", "0"),
            ("我 爱", "line 1", "'我 爱'"),
            ("我\tI\n爱\t \n", "line 2", "'爱\\t '"),
            ("我\tI\t0-0 1-0", "line 1: alignment", "'1-0'"),
            ("我\tI\t0:0", "line 1: alignment", "'0:0'"),
            ("我\tI\t0-0\tmore", "line 1", "'我\\tI\\t0-0\\tmore'"),
        ],
    )
    def test_a_mistake_is_named(self, text: str, field: str, found: str, tmp_path: Path) -> None:
        path = tmp_path / "c.tsv"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(LectureError) as caught:
            read_corpus(path)
        assert (caught.value.field, caught.value.found) == (field, found)

    def test_the_projects_own(self) -> None:
        pairs = read_corpus(CORPUS)
        assert len(pairs) == len(set(pairs)) == 40
        assert pairs[0].source == ("我", "爱", "水", "课")
        assert learner().config.vocabulary_size == 21
        assert learner().vocabulary[:8] == engine.tutorial_weights().vocabulary

    def test_new_words_leave_old_rows_alone(self) -> None:
        old, new = engine.tutorial_weights(), learner(3)
        for name, matrix in old.matrices.items():
            np.testing.assert_array_equal(new.matrices[name][: len(matrix)], matrix)


class TestSteps:
    def test_the_first_hundred_steps(self) -> None:
        """As measured by two other trainers, one of them in C."""
        settings = Settings(steps=3000, learning_rate=0.02, schedule="cosine", alignment=1.0)
        trainer = Trainer(learner(), read_corpus(CORPUS), settings)
        records = list(trainer.run(100))
        assert records[0].loss == pytest.approx(3.3448, abs=5e-5)
        assert records[100].loss == pytest.approx(1.8005, abs=1e-4)
        assert len(records) == 101 and trainer.step == 100

    @pytest.mark.parametrize("optimiser", OPTIMISERS)
    def test_every_optimiser_learns_the_sentence(self, optimiser: str) -> None:
        settings = Settings(steps=100, learning_rate=0.05, optimiser=optimiser)
        *_, last = Trainer(engine.tutorial_weights(), PAIRS[:1], settings).run()
        assert last.loss < 1.0

    def test_plain_descent_goes_down_the_gradient(self) -> None:
        weights = engine.tutorial_weights()
        settings = Settings(steps=1, learning_rate=0.1, optimiser="sgd")
        trainer = Trainer(weights, PAIRS[:1], settings)
        records = list(trainer.run())
        assert records[0].loss == pytest.approx(2.359550, abs=1e-6)
        assert records[1].loss == pytest.approx(2.147441, abs=1e-6)
        for name, gradient in engine.gradients(weights, targets="next").items():
            moved = trainer.weights.matrices[name] - weights.matrices[name]
            np.testing.assert_allclose(moved, -0.1 * gradient, rtol=1e-9, atol=1e-14)

    def test_a_cosine_rises_and_falls(self) -> None:
        rates = [SCHEDULES["cosine"](0.02, step, 1000) for step in range(1000)]
        assert rates[0] == pytest.approx(0.0002) and rates[99] == max(rates) == 0.02
        assert rates[-1] < 1e-6 and rates[100:] == sorted(rates[100:], reverse=True)

    def test_what_a_record_says(self) -> None:
        weights = engine.tutorial_weights()
        record = next(Trainer(weights, PAIRS[:1], Settings(steps=1)).run())
        trace = engine.training_pass(replace(weights, objective="next"))
        assert record.loss == pytest.approx(float(trace["loss.mean"]), rel=1e-12)
        np.testing.assert_allclose(record.p, np.exp(-trace["loss.per_position"]), rtol=1e-12)
        a = trace["decoder.1.cross_attn.weights"]
        assert record.entropy == pytest.approx(float(-(a * np.log(a)).sum(-1).mean()))
        assert 0 <= record.accuracy <= 1

    @pytest.mark.parametrize(
        ("settings", "field"),
        [
            ({"steps": 0}, "steps"),
            ({"learning_rate": float("inf")}, "learning_rate"),
            ({"batch": 0}, "batch"),
            ({"alignment": -1.0}, "alignment"),
            ({"seed": -1}, "seed"),
            ({"optimiser": "x"}, "optimiser"),
            ({"schedule": "x"}, "schedule"),
        ],
    )
    def test_bad_settings_are_named(self, settings: dict[str, Any], field: str) -> None:
        with pytest.raises(LectureError) as caught:
            Settings(**settings)
        assert caught.value.field == field

    def test_an_alignment_needs_one_in_the_corpus(self) -> None:
        pair = Pair(*_texts(PAIRS[0]))
        with pytest.raises(LectureError, match="alignment"):
            Trainer(engine.tutorial_weights(), [pair], Settings(alignment=1.0))


class TestFiles:
    @pytest.mark.parametrize("optimiser", OPTIMISERS)
    def test_stopped_and_resumed_gives_the_same_bits(self, optimiser: str, tmp_path: Path) -> None:
        settings = Settings(
            steps=30, optimiser=optimiser, batch=7, alignment=0.5, schedule="cosine", seed=5
        )
        whole = Trainer(learner(), read_corpus(CORPUS), settings)
        records = list(whole.run())
        half = Trainer(learner(), read_corpus(CORPUS), settings)
        list(half.run(13))
        again = load_checkpoint(save_checkpoint(half, tmp_path))
        assert list(again.run()) == records[13:]
        for name, matrix in whole.weights.matrices.items():
            np.testing.assert_array_equal(again.weights.matrices[name], matrix)

    def test_a_state_of_other_weights_is_refused(self, tmp_path: Path) -> None:
        trainer = Trainer(learner(), read_corpus(CORPUS), Settings(steps=3))
        list(trainer.run(2))
        path = save_checkpoint(trainer, tmp_path)
        path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
        with pytest.raises(LectureError, match=r"step-000002\.state\.npz: weights: expected"):
            load_checkpoint(path)
        path.with_name("step-000002.state.npz").write_bytes(b"PK\x03\x04")
        with pytest.raises(LectureError, match=r"state\.npz"):
            load_checkpoint(path)
        path.with_name("step-000002.state.npz").unlink()
        with pytest.raises(LectureError, match="found no such file"):
            load_checkpoint(path)

    def test_a_history_goes_on_where_it_was_cut_off(self, tmp_path: Path) -> None:
        records = [Record(n, 1.0 / 3, None, 0.5, (0.1, 0.2), 1.0, 2.0) for n in range(6)]
        path = tmp_path / "h.jsonl"
        history = History(path)
        for record in records[:4]:
            history.add(record)
        history.close()
        path.write_text(path.read_text()[:-20])
        resumed = History(path, step=2)
        for record in records[2:]:
            resumed.add(record)
        resumed.close()
        assert read_history(path) == records
        path.write_text("{}\n")
        with pytest.raises(LectureError, match="line 1:"):
            read_history(path)


class TestCommand:
    def test_one_pair(self, call: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
        made, history = tmp_path / "w.json", tmp_path / "h.jsonl"
        code, out, err = call("train", str(made), "--steps", "20", "--history", str(history))
        assert code == 0 and out.startswith(f"{made}: loss ") and "step 20 of 20" in err
        assert [record.step for record in read_history(history)] == list(range(21))
        weights = engine.load_weights(made)
        assert weights.objective == "next" and weights.training is not None
        assert call("train", str(made))[0] == 2

    def test_checkpoints_and_back(
        self, call: Callable[..., tuple[int, str, str]], tmp_path: Path
    ) -> None:
        a, b, folder = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "c"
        options = ["--corpus", str(CORPUS), "--extend", "0", "--bos", "<bos>", "--eos", "<eos>"]
        options += ["--steps", "12", "--batch", "9", "--alignment", "1"]
        saved = ["--checkpoints", str(folder), "--every", "5"]
        assert call("train", str(a), *options, *saved)[0] == 0
        names = sorted(path.name for path in folder.iterdir())
        assert names[:2] == ["step-000000.json", "step-000000.state.npz"] and len(names) == 6
        assert call("train", str(b), "--resume", str(folder / "step-000005.json"))[0] == 0
        assert a.read_bytes() == b.read_bytes()
        code, _, err = call("train", str(b), "--resume", str(a), "--steps", "3", "--force")
        assert (code, "--steps: expected nothing beside --resume" in err) == (2, True)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--corpus", str(CORPUS)], "source: token: expected words of the vocabulary"),
            (["--corpus", "none.tsv"], "none.tsv: file: found no such file"),
            (["--steps", "0"], "steps: expected 1 or more"),
            (["--rate", "0"], "learning_rate: expected above 0"),
            (["--alignment", "1"], "alignment: expected alignment in any pair for it"),
            (["--optimiser", "x"], "expected adam, momentum, sgd; found 'x'"),
        ],
    )
    def test_mistakes(
        self,
        options: list[str],
        message: str,
        call: Callable[..., tuple[int, str, str]],
        tmp_path: Path,
    ) -> None:
        code, out, err = call("train", str(tmp_path / "w.json"), *options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
        assert not list(tmp_path.iterdir())


class TestCarried:
    """The trained models in assets/weights."""

    @pytest.mark.parametrize("name", ["trained", "aligned", "beam", "no-mask"])
    def test_each_says_how_it_was_made(self, name: str) -> None:
        training = engine.load_weights(WEIGHTS / f"{name}.json").training
        assert training is not None
        command = str(training["command"])
        assert command.startswith(f"python -m engine train assets/weights/{name}.json")

    def test_the_trained_one_writes_the_sentence(self) -> None:
        steps = engine.generate(engine.load_weights(WEIGHTS / "trained.json"))
        assert [step.choice for step in steps] == ["love", "easy", "courses"]

    def test_the_aligned_one_translates_and_looks_at_the_right_word(self) -> None:
        weights = engine.load_weights(WEIGHTS / "aligned.json")
        for pair in read_corpus(CORPUS):
            written = [step.choice for step in engine.generate(weights, pair.source, steps=7)]
            assert written == [*pair.target, "<eos>"]
            a = engine.training_pass(weights, *_texts(pair))["decoder.1.cross_attn.weights"][0]
            assert min(a[t, s] for s, t in pair.alignment) >= 0.9

    def test_without_the_mask_it_only_seems_to_have_learned(self) -> None:
        weights = engine.load_weights(WEIGHTS / "no-mask.json")
        pairs = read_corpus(CORPUS)
        passed = outcome(weights, batch_of(pairs, weights, "next"))
        assert passed.loss < 0.01 and passed.right == 204
        for pair in pairs:
            written = [step.choice for step in engine.generate(weights, pair.source, steps=7)]
            assert written != [*pair.target, "<eos>"]

    def test_a_beam_finds_what_greedy_decoding_misses(self) -> None:
        weights = engine.load_weights(WEIGHTS / "beam.json")
        greedy = beam_search(weights, width=1)[-1].kept[0]
        beam = beam_search(weights, width=2)[-1].kept[0]
        steps = engine.generate(weights)
        assert greedy.words == ("<bos>", *(step.choice for step in steps))
        assert greedy.words == ("<bos>", "you", "love", "easy", "courses", "<eos>")
        assert beam.words == ("<bos>", "I", "love", "easy", "courses", "<eos>")
        assert beam.p > greedy.p
        p = np.prod([step.probabilities.max() for step in steps])
        assert greedy.p == pytest.approx(float(p))

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["trained", "aligned", "beam", "no-mask"])
    def test_each_command_makes_it_again(self, name: str, tmp_path: Path) -> None:
        """trained.json to 1e-9 on any machine; of the others, whose last digits grow apart, what
        they are for."""
        stored = WEIGHTS / f"{name}.json"
        said = engine.load_weights(stored).training
        assert said is not None
        made = tmp_path / f"{name}.json"
        command = shlex.split(
            str(said["command"]).replace(f"assets/weights/{name}.json", str(made))
        )
        subprocess.run(
            [sys.executable, *command[1:]], cwd=ROOT, check=True, capture_output=True, timeout=600
        )
        old, new = engine.load_weights(stored), engine.load_weights(made)
        if name == "trained":
            for array, matrix in old.matrices.items():
                np.testing.assert_allclose(new.matrices[array], matrix, rtol=1e-9, atol=1e-9)
        elif name == "aligned":
            for pair in read_corpus(CORPUS):
                written = [step.choice for step in engine.generate(new, pair.source, steps=7)]
                assert written == [*pair.target, "<eos>"]
        assert json.loads(made.read_text())["objective"] == "next"
