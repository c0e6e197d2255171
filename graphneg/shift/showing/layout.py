"""Where the drawing of a neighbourhood puts things, in units of rows and columns.

The topic is in the middle, what replies come from on its left, what they move to on its right, each
side in the order of its counts. A shift is a curve that leaves and arrives level; one from the
topic to itself is a loop above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from graphneg.shift.showing.neighbourhood import Neighbourhood, Shift

POINTS = 24
WIDEST, NARROWEST = 18.0, 3.0
FREQUENT = 5
"""Pairs that it takes for the widest curve: where all shifts are rare, none is drawn wide."""
LOOP_WIDTH, LOOP_HEIGHT = 0.16, 1.3
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawn shift: its points, where its other topic stands, its width in pixels; ``side`` is -1
    (left), 0 (a loop) or 1 (right)."""

    shift: Shift
    other: str
    side: int
    points: tuple[Point, ...]
    end: Point
    width: float


def layout(around: Neighbourhood) -> list[Curve]:
    """The curves of a neighbourhood: those that leave the topic, then those that lead to it."""
    every = [*around.moves_to, *around.comes_from]
    most = max([FREQUENT, *(shift.count for shift in every)])
    loops = [shift for shift in around.moves_to if shift.perspective == shift.focus]
    right = [shift for shift in around.moves_to if shift.perspective != shift.focus]
    curves = [_loop(shift, most) for shift in loops]
    curves += _side(right, 1, most)
    curves += _side(around.comes_from, -1, most)
    return curves


def _side(shifts: Sequence[Shift], side: int, most: int) -> list[Curve]:
    top = (len(shifts) - 1) / 2
    curves: list[Curve] = []
    for row, shift in enumerate(shifts):
        end = (float(side), top - row)
        points = [_between((0.0, 0.0), end, i / POINTS) for i in range(POINTS + 1)]
        other = shift.perspective if side > 0 else shift.focus
        curves.append(Curve(shift, other, side, tuple(points), end, _width(shift.count, most)))
    return curves


def _between(a: Point, b: Point, part: float) -> Point:
    """A point of the curve from a to b, which is level at both ends."""
    return a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * (3 * part**2 - 2 * part**3)


def _loop(shift: Shift, most: int) -> Curve:
    angles = [2 * math.pi * i / POINTS for i in range(POINTS + 1)]
    points = [(LOOP_WIDTH * math.sin(angle) / 2, LOOP_HEIGHT * (1 - math.cos(angle)) / 2) for angle in angles]
    return Curve(shift, shift.focus, 0, tuple(points), (0.0, LOOP_HEIGHT), _width(shift.count, most))


def _width(count: int, most: int) -> float:
    return max(NARROWEST, WIDEST * count / most)
