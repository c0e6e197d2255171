"""The learned parts of the dependency parser, in numpy: concepts, arcs, tops, and what *no* denies.

In: a draft as the rules wrote it. Out: the same draft revised. The data are made by
:mod:`tools.parser_training`; without them there are no learned parts.
"""

from __future__ import annotations

from importlib.resources import files

from graphneg.parsers.dependency.learned.reviser import LearnedReviser


def learned_revisers() -> tuple[LearnedReviser, ...]:
    """The reviser whose data come with the package; none where there are no data. Loads nothing yet."""
    folder = files("graphneg.parsers.dependency").joinpath("data", "learned")
    return (LearnedReviser(folder),) if folder.joinpath("VERSION").is_file() else ()
