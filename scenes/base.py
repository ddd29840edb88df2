"""What every scene of the lecture is: a header, beats in film order, a clock, a record of numbers.

A scene declares its beats as data, ``beats = (("question", 23), ("dot", (23, 24)), …)``: names
with the tutorial's step, or first and last step, in film order. ``construct`` plays them in that
order, each in a ``with self.beat(name)``, which shows the step and the sentence and waits until it
can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from manim import UP, FadeIn, FadeOut, ManimColor, Scene, VGroup

from engine.passes import Passes
from engine.reads import Reads, Table

from . import registry, texts, theme
from .parts.header import Header, Narration, stations
from .parts.phrase import Facts, Phrase, fill
from .record import Beat, Record
from .settings import Settings
from .values import Run
from .wording import unit

Span = tuple[int, int]
Steps = int | Span


def span(steps: Steps) -> Span:
    """First and last step of a beat."""
    return (steps, steps) if isinstance(steps, int) else steps


class LectureScene(Scene):
    """Base of all scenes. Language and weights come from ``settings``, or from the environment."""

    #: (name, step) in film order; the first is "question", the last "takeaway"; a beat that covers
    #: several steps has the first and the last: (name, (40, 44))
    beats: ClassVar[tuple[tuple[str, Steps], ...]] = ()
    #: colour of the part of the model that the scene covers
    color: ClassVar[ManimColor] = theme.ENCODER
    #: boxes of the mini map that are lit
    lit: ClassVar[tuple[str, ...]] = ()

    def __init__(self, settings: Settings | None = None, **options: Any) -> None:
        self.settings = settings or Settings.from_environment()
        self.info = registry.by_class(type(self).__name__)
        self.timeline: list[Beat] = []
        self.record = Record()
        #: every value and text that the scene has read
        self.reads = Reads()
        #: build and say everything, but play no animation: for checking the words
        self.words_only = False
        #: called at the end of each beat, and at the quarters of each animation that is taken to
        #: its end in one step; for audits and contact sheets
        self.on_beat: Callable[[], None] | None = None
        self.on_quarter: Callable[[], None] | None = None
        #: asked at the start of each beat, with its key, template and facts, for how many seconds
        #: it is spoken; such a beat lasts at least as long
        self.speech: Callable[[str, str, Facts], float] | None = None
        self._runs: dict[str, Run] = {}
        own = self.settings
        files = own.weights, own.weights_for_inference
        self._passes = Passes(*files, own.source, own.target)
        self._narration: Narration | None = None
        self._beat_now = ""
        super().__init__(**options)

    # -- the trace -----------------------------------------------------------------------------

    @property
    def training(self) -> Run:
        """The training pass: whole target, mask, loss."""
        return self._run("training")

    def inference(self, length: int) -> Run:
        """The inference pass over the first ``length`` words of the target."""
        return self._run(f"inference {length}")

    def _run(self, label: str) -> Run:
        if label not in self._runs:
            self._runs[label] = Run(label, self._passes, self.reads)
        return self._runs[label]

    # -- texts ---------------------------------------------------------------------------------

    @property
    def words(self) -> Table:
        """The scene's table in the text file of its language."""
        own = self._entry(self.info.slug)
        return Table(own, self.reads.text, (self.info.slug,))

    def text(self, key: str) -> str:
        """A label's template: ``[08_attention_scores.labels]``, or one shared by all scenes."""
        labels = self.words.get("labels", {})
        if key in labels:
            return str(labels[key])
        return str(self._entry("labels", key))

    def _entry(self, *keys: str) -> Any:
        """A text, or a table of them, by its keys; every text is noted as read."""
        found = texts.entry(self.settings.language, *keys)
        if not isinstance(found, dict):
            self.reads.text(keys, found)
        return found

    def label(self, key: str, facts: Facts | None = None, **options: Any) -> Phrase:
        """A label as a phrase: muted and small by default."""
        template, facts = self.text(key), facts or {}
        if "{unit}" in template:
            facts = texts.with_unit({"unit": unit(self.training).name, **facts}, self._entry)
        return Phrase(template, facts, **{"size": theme.SMALL, "color": theme.MUTED, **options})

    # -- the film ------------------------------------------------------------------------------

    def setup(self) -> None:
        self.camera.background_color = theme.BACKGROUND
        spans = [span(steps) for _, steps in self.beats]
        title = self._entry(self.info.slug, self.title_key())
        parts = stations(self.training)
        self.header = Header(title, spans, self.color, parts, self.lit, size=theme.TITLE)
        self._span = spans[0]

    def title_key(self) -> str:
        """Which of the scene's titles is the model's."""
        return "title"

    @property
    def beat_now(self) -> str:
        """Name of the beat that is playing, or of the last one."""
        return self._beat_now

    @property
    def clock(self) -> float:
        """Seconds of film so far."""
        return float(self.renderer.time)

    @contextmanager
    def beat(self, name: str, facts: Facts | None = None, *, variant: str = "") -> Iterator[None]:
        """One numbered step: show it, say its sentence, and wait until it can be read.

        ``variant`` picks ``name.variant`` among the sentences, for what depends on the weights.
        """
        first, last = self._next_span(name)
        key = f"{name}_{variant}" if variant else name
        template = self._entry(self.info.slug, "beats", key)
        facts = {"unit": unit(self.training).name, **(facts or {})}
        shown = texts.with_unit(facts, self._entry)
        start = self.clock
        said = fill(template, shown)
        self._beat_now = name
        spoken = self.speech(key, template, shown) if self.speech else 0.0
        self._announce(name, (first, last), template, shown)
        yield
        need = texts.reading_time(said, self.settings.language) + theme.FADE
        busy = self.clock - start
        quiet = max(0.6, need - busy)
        self.wait(max(quiet, spoken - busy))
        self.timeline.append(
            Beat(name, first, last, start, self.clock, said, facts, variant, busy, quiet)
        )
        if self.on_beat is not None:
            self.on_beat()

    def _next_span(self, name: str) -> Span:
        position = len(self.timeline)
        planned = self.beats[position] if position < len(self.beats) else ("nothing more", 0)
        if planned[0] != name:
            raise RuntimeError(f"{self.info.slug}: beat {planned[0]!r} is next, not {name!r}")
        return span(planned[1])

    def _announce(self, name: str, steps: Span, template: str, facts: Facts) -> None:
        if name == "question":
            self._ask(template, facts)
            return
        self.next_section(name)
        if steps != self._span:
            badge = self.header.badge_for(steps)
            self.remove(self.header.badge)  # at once: two overlapping step numbers are illegible
            self.add(badge)
            self.header.badge, self._span = badge, steps
        last = name == "takeaway"
        narration = Narration(
            template,
            facts,
            theme.WEIGHT if last else self.color,
            size=theme.HEADING if last else theme.BODY,
            ink=theme.WEIGHT if last else theme.INK,
            bold=last,
        )
        if self._narration is not None:
            self.play(FadeOut(self._narration), run_time=0.2)
        self._narration = narration
        self.play(FadeIn(narration, shift=0.1 * UP), run_time=theme.FADE)

    def _ask(self, template: str, facts: Facts) -> None:
        """Open with the question, alone and large."""
        lines = template.split("\n")
        question = VGroup(*(Phrase(line, facts, size=38, bold=True) for line in lines))
        for index, line in enumerate(question):
            line.place([0, 0.35 * (len(lines) - 1) - 0.75 * index, 0])
        widest = theme.WIDTH - 1
        if question.width > widest:
            question.scale(widest / question.width)
        self._question = question
        self.play(
            FadeIn(self.header),
            FadeIn(self.header.badge),
            FadeIn(question, shift=0.2 * UP),
            run_time=0.7,
        )

    def answer(self) -> FadeOut:
        """The animation that takes the question away; play it with what comes first."""
        return FadeOut(self._question, shift=0.2 * UP)

    def leave(self) -> None:
        """End as every scene does, so that joined scenes flow."""
        self.wait(0.8)
        self.play(*(FadeOut(mobject) for mobject in self.mobjects), run_time=theme.LEAVE)

    # -- the record ----------------------------------------------------------------------------

    def play(self, *animations: Any, **options: Any) -> None:
        start = self.clock
        if self.words_only:
            longest = max((getattr(a, "run_time", 1.0) for a in animations), default=1.0)
            self.renderer.time += float(options.get("run_time", longest))
            return
        super().play(*animations, **options)
        self.record.see(self.mobjects, start, self.clock)

    def update_to_time(self, t: float) -> None:
        if self.on_quarter is not None:
            for share in (0.25, 0.5, 0.75):
                super().update_to_time(t * share)
                self.on_quarter()
        super().update_to_time(t)
