"""Names of the package that nothing uses: vulture over all code, but for entry points and a few exceptions.

``python -m tools.dead_code`` prints what nothing in the package, its tests, tools and benchmarks names, and
ends with 1 where there is any. Attributes that are set on objects of other libraries are not looked at.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).parent.parent
PATHS = ("graphneg", "loaders", "tests", "tools", "benchmarks")
SHIPPED = ("graphneg", "loaders")
CALLED_BY_OTHERS = frozenset(
    {"__dir__", "__getattr__", "on_step_end", "on_train_begin", "on_train_end", "to_networkx", "SaidPair"}
)
"""Called by Python, by transformers, or by users."""
NAMED_IN_STRINGS = frozenset({"SpeakerAwareBert", "parser_worker", "serve"})
PARAMETERS = frozenset({"args", "declaration", "kwargs", "model_name_or_path", "tokenizer_class", "trace"})
"""Parameters of signatures that are not ours."""


def entry_points() -> frozenset[str]:
    """Names that pyproject.toml's entry points load."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = (*project["entry-points"].values(), project["scripts"])
    return frozenset(target.partition(":")[2] for group in groups for target in group.values())


def unused() -> Iterator[str]:
    """A line for each name that nothing uses."""
    vulture = Vulture(ignore_names=[*CALLED_BY_OTHERS, *NAMED_IN_STRINGS, *PARAMETERS, *entry_points()])
    links = [str(ROOT / "graphneg" / name / "*") for name in ("loaders", "cypher")]  # of an editable install
    vulture.scavenge([str(ROOT / path) for path in PATHS], exclude=links)
    for item in vulture.get_unused_code(min_confidence=60):
        place = Path(item.filename).resolve().relative_to(ROOT.resolve())
        if place.parts[0] in SHIPPED and item.typ != "attribute":
            yield f"{place}:{item.first_lineno}: unused {item.typ} {item.name}"


if __name__ == "__main__":
    lines = list(unused())
    print(*lines, sep="\n", end="\n" if lines else "")
    sys.exit(bool(lines))
