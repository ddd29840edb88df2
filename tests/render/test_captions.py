"""Captions: where sentences are broken, how long cues are shown, and that the rules are checked."""

from __future__ import annotations

import html
from io import StringIO
from itertools import pairwise

import pysubs2
import pytest
import webvtt
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import LectureError
from render.media.captions.breaking import GAP, RULES, Sentence, broken, terms
from render.media.captions.lint import faults, speed
from render.media.captions.write import cues, said_of, sentences
from render.media.timedtext import Cue, srt, vtt
from scenes import texts


def said(template: str, seconds: float = 8.0, start: float = 0.0, **facts: str) -> Sentence:
    made = said_of(template, facts)
    return Sentence(made.text, start, start + seconds, made.whole, made.pauses)


def lines(template: str, language: str, seconds: float = 8.0, **facts: str) -> list[list[str]]:
    return [list(each) for each in broken(said(template, seconds, **facts), language)]


class TestSentences:
    def test_facts_and_colours_must_not_be_divided(self) -> None:
        made = said_of("看「{word}」的 <q>query</q>，得 {n}。", {"word": "我", "n": "−0.320"})
        assert made.text == "看「我」的 query，得 −0.320。"
        assert [made.text[a:b] for a, b in made.whole] == ["我", "query", "−0.320"]

    def test_a_fact_of_several_words_may_be_divided_between_them(self) -> None:
        made = said_of("Read {words}.", {"words": "I love"})
        assert [made.text[a:b] for a, b in made.whole] == ["I", "love"]

    def test_the_screens_line_break_is_a_blank_in_english_only(self) -> None:
        assert said_of("读到，\n一样吗？", {}).text == "读到，一样吗？"
        assert said_of("训练时，\ndecoder 读", {}).text == "训练时，decoder 读"
        made = said_of("In use:\nthe same?", {})
        assert made.text == "In use: the same?"
        assert made.pauses == (8,)

    def test_both_languages_come_from_one_record(self) -> None:
        beat = {"name": "heads", "variant": "pair_two_cell", "start": 1.0, "end": 9.0}
        facts = {"query": "我", "key": "爱", "weight_1": "0.5", "weight_2": "0.7"}
        for language in ("zh", "en"):
            (found,) = sentences("08_attention_scores", [{**beat, "facts": facts}], language)
            template = texts.load(language)["08_attention_scores"]["beats"]["heads_pair_two_cell"]
            assert found.text == template.format(**facts)

    def test_a_missing_sentence_or_fact_is_named(self) -> None:
        beat = {"name": "dot", "variant": "", "start": 0.0, "end": 5.0, "facts": {"query": "我"}}
        with pytest.raises(LectureError, match=r"en\.toml: 08_attention_scores\.beats\.dot: .*key"):
            sentences("08_attention_scores", [beat], "en")
        with pytest.raises(LectureError, match=r"zh\.toml: 08_attention_scores\.beats\.nope"):
            sentences("08_attention_scores", [{**beat, "name": "nope"}], "zh")


class TestBreaking:
    def test_a_short_sentence_stays_in_one_line(self) -> None:
        assert lines("译文查的是同一张词表。", "zh") == [["译文查的是同一张词表。"]]

    def test_clauses_are_kept_together(self) -> None:
        assert lines("每个字都乘同一个 WQ，四个 query 一次算完。", "zh") == [
            ["每个字都乘同一个 WQ，", "四个 query 一次算完。"]
        ]
        assert lines("Row two gives the second number, and the query of 我 is done.", "en") == [
            ["Row two gives the second number,", "and the query of 我 is done."]
        ]

    def test_a_long_sentence_becomes_several_cues(self) -> None:
        text = "取指数，让每个数都为正；再除以总和，「我」这一行的权重加起来就是一。"
        found = lines(text, "zh")
        assert len(found) == 2
        assert found[0][0] == "取指数，让每个数都为正；"

    @pytest.mark.parametrize("word", ["masked self-attention", "1234567.8901", "teacher forcing"])
    def test_terms_and_numbers_stay_whole_wherever_they_stand(self, word: str) -> None:
        for before in range(0, 40, 3):
            text = f"{'ab ' * before}{word} then and there it is."
            found = [line for cue in lines(text, "en", 20.0) for line in cue]
            assert any(word in line for line in found), found

    def test_no_line_is_too_long_but_for_a_word_that_is(self) -> None:
        word = "Pneumonoultramicroscopicsilicovolcanoconiosis"
        found = [line for cue in lines("看「{w}」。", "zh", w=word) for line in cue]
        assert any(word in line for line in found)
        made = said("看「{w}」。", w=word)
        assert any(
            "at most 16" in fault for fault in faults([made], cues([made], "zh", 30), "zh", 30)
        )

    def test_english_does_not_end_a_line_with_an_article(self) -> None:
        text = "In training a decoder is given all of the words of it at once."
        for cue in lines(text, "en"):
            assert cue[0].split()[-1] not in ("the", "a", "of", "all")


class TestTiming:
    def test_cues_stay_inside_their_sentence_and_apart(self) -> None:
        one = said(
            "第一句话很短，第二句也短；第三句在后面，第四句收尾，第五句再来一遍。", 6.0, 1.03
        )
        two = said("后一句。", 2.0, 7.03)
        found = cues([one, two], "zh", 30)
        assert len(found) > 2
        assert found[0].start == 31
        for before, after in pairwise(found):
            assert after.start - before.end >= GAP
        assert found[-1].end <= 9.03 * 30
        assert faults([one, two], found, "zh", 30) == []

    def test_no_cue_stays_longer_than_seven_seconds(self) -> None:
        (cue,) = cues([said("短。", 30.0)], "zh", 15)
        assert cue.end - cue.start == 7 * 15

    def test_a_short_cue_takes_the_time_it_needs_from_the_others(self) -> None:
        """Its line would be too long with any other."""
        text = "权重， Head 1 （1）我我，我我权重"
        made = said(text, 5.25)
        found = cues([made], "zh", 15)
        assert found[0].lines == ("权重，",)
        assert faults([made], found, "zh", 15) == []

    def test_all_cues_of_a_sentence_are_read_at_one_speed(self) -> None:
        text = (
            "One thing after another is told here, and then comes quite a bit more, of no use; end."
        )
        found = cues([said(text, 6.0)], "en", 60)
        speeds = [speed(cue, 60, "en") for cue in found]
        assert max(speeds) - min(speeds) < 0.6


WORDS = st.sampled_from(
    [
        "我",
        "权重",
        "的",
        "，",
        "。",
        " query ",
        "、",
        "「爱」",
        " −0.32 ",
        "就是",
        " Head 1 ",
        "（1）",
        "Q",
    ]
)


class TestRules:
    """Whatever is said, the cues made keep every rule, as the lint sees it."""

    @settings(max_examples=25, deadline=None)
    @given(st.lists(WORDS, min_size=1, max_size=24).map("".join), st.sampled_from([15, 30, 60]))
    def test_with_any_sentence(self, text: str, fps: int) -> None:
        made = said(text.strip(), max(2.0, len(text) / 4))
        if not made.text.strip("，。、"):
            return
        told = faults([made], cues([made], "zh", fps), "zh", fps)
        assert [fault for fault in told if "line of" not in fault and "begins" not in fault] == []

    def check(self, *cues: Cue, text: str = "一二三四，五六。", language: str = "zh") -> str:
        (*_, said_) = [Sentence(text, 0.0, 10.0, ((0, 2),))]
        return "; ".join(faults([said_], cues, language, 30))

    def test_a_clean_one_passes(self) -> None:
        assert self.check(Cue(0, 60, ("一二三四，", "五六。"))) == ""

    def test_each_rule_is_checked(self) -> None:
        assert "'一二' is divided" in self.check(Cue(0, 60, ("一", "二三四，五六。")))
        assert "begins with punctuation" in self.check(Cue(0, 60, ("一二三四", "，五六。")))
        assert "characters a second" in self.check(Cue(0, 26, ("一二三四，", "五六。")))
        assert "s long" in self.check(Cue(0, 20, ("一二三四，", "五六。")))
        assert "s long" in self.check(Cue(0, 260, ("一二三四，", "五六。")))
        assert "frames after" in self.check(Cue(0, 40, ("一二三四，",)), Cue(41, 80, ("五六。",)))
        assert "captioned as" in self.check(Cue(0, 60, ("一二三四，",)))
        assert "no sentence's time" in self.check(
            Cue(0, 60, ("一二三四，", "五六。")), Cue(400, 460, ("七。",))
        )
        assert "3 lines" in self.check(Cue(0, 60, ("一二三四，", "五", "六。")))
        assert "blanks" in self.check(Cue(0, 60, ("一二三四， ", "五六。")))
        long = "一" * 17
        assert "17 characters, at most 16" in self.check(Cue(0, 90, (long,)), text=long)
        assert "word is divided" in self.check(
            Cue(0, 60, ("See att", "ention.")), text="See attention.", language="en"
        )
        assert "'1.50' is divided" in self.check(
            Cue(0, 60, ("It is 1.", "50 now.")), text="It is 1.50 now.", language="en"
        )

    def test_terms_are_words_of_the_lecture(self) -> None:
        for language in ("zh", "en"):
            known = str(texts.load(language)).lower()
            unknown = [term for term in terms(language) if term.lower() not in known]
            assert len(unknown) < 0.3 * len(terms(language)), unknown


ODD = ["<bos> & co", "a --> b", "{\\i1}x", "C:\\new\\Home", "&lt;", "plain", "{x}"]


class TestFiles:
    CUES = tuple(Cue(30 * i, 30 * i + 25, (text, "二")) for i, text in enumerate(ODD))

    def test_a_strict_parser_reads_the_webvtt_back(self) -> None:
        found = webvtt.from_buffer(StringIO(vtt(self.CUES, 30)))
        assert [caption.text.split("\n")[1] for caption in found] == ["二"] * len(ODD)
        for text, caption in zip(ODD, found, strict=True):
            shown = html.unescape(caption.text.split("\n")[0])
            assert shown.replace("＼", "\\") == text
        assert found[1].start == "00:00:01.000"
        assert found[1].end == "00:00:01.833"

    def test_nothing_looks_like_a_tag_or_an_arrow(self) -> None:
        raw = vtt(self.CUES, 30)
        assert "&lt;bos&gt; &amp; co" in raw
        assert "&amp;lt;" in raw
        assert raw.count("-->") == len(ODD)
        assert srt(self.CUES, 30).count("-->") == len(ODD)

    def test_srt_reads_back(self) -> None:
        found = pysubs2.SSAFile.from_string(srt(self.CUES, 30), "srt", keep_html_tags=True)
        assert len(found) == len(ODD)
        assert (found[1].start, found[1].end) == (1000, 1833)

    def test_times_never_leave_their_frames(self) -> None:
        for fps in (15, 30, 60):
            for frame in range(200):
                start, end = Cue(frame, frame + 7, ("x",)).milliseconds(fps)
                assert start * fps >= frame * 1000
                assert end * fps <= (frame + 7) * 1000

    def test_limits_are_those_of_the_field(self) -> None:
        assert (RULES["zh"].line, RULES["zh"].speed) == (16, 9.0)
        assert (RULES["en"].line, RULES["en"].speed) == (42, 17.0)
