"""Find names of the package that nothing uses: ``python -m tools.dead_code``.

The tool runs vulture on the package, its tests, tools and benchmarks. It prints a line for each unused name
and exits with status 1 if there are any. Entry points and a few exceptions count as used. Attributes are not
checked, because some of them are set on objects of other libraries.
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
"""Names that Python, transformers or users call."""
NAMED_IN_STRINGS = frozenset({"SpeakerAwareBert", "parser_worker", "serve"})
"""Names that the code refers to by strings only."""
IN_TEMPLATES = frozenset({"kept_side"})
"""Fields that only the templates of pages read."""
PARAMETERS = frozenset({"args", "declaration", "kwargs", "model_name_or_path", "tokenizer_class", "trace"})
"""Parameters of signatures that other libraries define."""


def entry_points() -> frozenset[str]:
    """Return the names that the entry points of pyproject.toml load."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = (*project["entry-points"].values(), project["scripts"])
    return frozenset(target.partition(":")[2] for group in groups for target in group.values())


def unused() -> Iterator[str]:
    """Yield a line for each unused name of the package."""
    known = [*CALLED_BY_OTHERS, *NAMED_IN_STRINGS, *IN_TEMPLATES, *PARAMETERS, *entry_points()]
    vulture = Vulture(ignore_names=known)
    # In an editable install, the package contains links to these folders. Skip them, so that no file is read
    # twice.
    links = [str(ROOT / "graphneg" / name / "*") for name in ("loaders", "cypher")]
    vulture.scavenge([str(ROOT / path) for path in PATHS], exclude=links)
    for item in vulture.get_unused_code(min_confidence=60):
        place = Path(item.filename).resolve().relative_to(ROOT.resolve())
        if place.parts[0] in SHIPPED and item.typ != "attribute":
            yield f"{place}:{item.first_lineno}: unused {item.typ} {item.name}"


if __name__ == "__main__":
    lines = list(unused())
    print(*lines, sep="\n", end="\n" if lines else "")
    sys.exit(bool(lines))
