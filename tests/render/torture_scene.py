"""One scene with all that is awkward to draw: order, gradients, joins, updaters, odd families."""

from __future__ import annotations

import manim as m
import numpy as np


class Torture(m.Scene):
    def construct(self) -> None:
        title = m.Text("gradient", gradient=(m.RED, m.BLUE, m.GREEN)).to_edge(m.UP)
        square = m.Square(color=m.RED, fill_opacity=0.5)
        square.shift(m.LEFT * 4).z_index = 3
        circle = m.Circle(fill_color=m.BLUE, fill_opacity=0.7, stroke_width=10).shift(m.LEFT * 3.4)
        behind = m.Text("behind", font_size=60).set_stroke(m.BLACK, 8, background=True)
        behind.shift(m.RIGHT * 3)
        box = m.BackgroundRectangle(behind, color=m.GREEN, fill_opacity=0.6)
        round_ends = m.VMobject(
            stroke_width=20, joint_type=m.LineJointType.ROUND, cap_style=m.CapStyleType.ROUND
        ).set_points_as_corners([m.LEFT * 2 + m.DOWN, m.DOWN * 3, m.RIGHT * 2 + m.DOWN])
        spike = m.VMobject(stroke_width=16).set_points_as_corners(
            [m.LEFT * 6 + m.DOWN * 2, m.LEFT * 3 + m.DOWN * 2.2, m.LEFT * 6 + m.DOWN * 2.4]
        )
        self.add(title, circle, square, box, behind, round_ends, spike)
        top = m.Dot(radius=0.3, color=m.RED).shift(m.RIGHT * 3)
        self.add_foreground_mobject(top)
        self.play(square.animate.shift(m.RIGHT * 2), run_time=0.4)
        self.play(
            circle.animate.set_z_index(5).shift(m.RIGHT),
            behind.animate.set_opacity(0.3),
            run_time=0.4,
        )
        self.play(m.Rotate(round_ends, m.PI / 3), spike.animate.shift(m.UP), run_time=0.4)
        moving = m.Dot(color=m.YELLOW).add_updater(lambda dot, dt: dot.shift(m.RIGHT * dt))
        self.add(moving)
        self.wait(0.4)
        other = m.Text("match gradient").to_edge(m.DOWN)
        self.play(
            m.Write(m.Text("write").shift(m.UP * 1.5)),
            title.animate.set_color_by_gradient(m.YELLOW, m.PURPLE),
            run_time=0.5,
        )
        self.play(m.TransformMatchingShapes(title, other), run_time=0.5)
        self.play(m.Circumscribe(behind), m.FocusOn(top), run_time=0.5)
        self.play(m.ApplyWave(behind), m.Wiggle(square), run_time=0.5)
        self.odd_ones(other)
        self.play(m.FadeOut(*self.mobjects, shift=m.DOWN), run_time=0.3)
        self.wait(0.2)

    def odd_ones(self, other: m.VMobject) -> None:
        """Members in two families, orders that change, points that are no numbers,
        things of several colours or not made of curves, another background."""
        shared = m.Square(color=m.TEAL, fill_opacity=0.8).scale(0.5)
        pair = m.VGroup(m.VGroup(shared, m.Circle()), shared)
        ring = m.Annulus(fill_opacity=0.4).shift(m.LEFT)
        broken = m.Line(m.LEFT, m.RIGHT)
        broken.points = broken.points * np.nan
        tracker = m.ValueTracker(0)
        follower = m.always_redraw(lambda: m.Arc(angle=1 + tracker.get_value()).shift(m.UP))
        self.add(pair, ring, broken, follower)
        self.play(tracker.animate.set_value(2), m.Indicate(pair), run_time=0.4)
        self.bring_to_back(ring)
        self.wait(0.2)
        shaded = m.Square(color=[m.RED, m.YELLOW], fill_opacity=0.5).set_sheen(0.5, m.UR)
        self.play(m.FadeIn(shaded.shift(m.LEFT * 2)), m.Rotate(ring), run_time=0.2)
        self.remove(shaded)
        self.add(m.Point(color=m.RED).shift(m.UP * 2))
        self.play(m.Create(m.Star().shift(m.RIGHT)), other.animate.shift(m.UP), run_time=0.4)
        self.camera.background_color = m.DARK_BLUE
        self.play(m.Swap(ring, pair), run_time=0.3)
        self.remove(broken)
        ring.points[0] += 0.2  # behind Manim's back
        self.wait(0.2)
