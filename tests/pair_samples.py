"""Records of correct and wrong responses to a few contexts, for tests of training pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.model import Negative, Original, Turn
from graphneg.records.files import write_jsonl
from tests.negative_samples import EXAMPLE


def right(context: int, text: str, split: str = "train") -> Negative:
    return _record(context, text, 1, "", "", split)


def wrong(context: int, text: str, source: str = "edits", category: str = "C-cont") -> Negative:
    return _record(context, text, 0, source, category, "train")


def _record(context: int, text: str, label: int, source: str, category: str, split: str) -> Negative:
    return replace(
        EXAMPLE,
        id=f"own/{split}/{context}#2~{source}.{text}",
        split=split,
        dialogue=f"own/{split}/{context}",
        context=(
            Turn("A", f"Is it {context}?"),
            Turn("B", f"No, more than {context}."),
        ),
        response=text,
        label=label,
        original=Original(None, None),
        categories=(category,) if category else (),
        recipe=source,
        edits=(),
        amr={},
        pair=None,
    )


def some(contexts: int = 6, negatives: int = 4) -> list[Negative]:
    """Return, for each context, two correct responses, and ``negatives`` wrong ones from two sources."""
    return [
        record
        for context in range(contexts)
        for record in (
            right(context, f"It is {context + 1}."),
            right(context, f"Make it {context + 2}."),
            *(
                wrong(context, f"Wrong {context} {k}.", *(("edits", "C-cont"), ("overlap", "C-ent"))[k % 2])
                for k in range(negatives)
            ),
        )
    ]


def written(records: Sequence[Negative], path: Path) -> Path:
    write_jsonl(records, path)
    return path


anyhow = (
    st.lists(
        st.tuples(st.integers(1, 3), st.lists(st.sampled_from(["edits", "overlap"]), max_size=5)),
        min_size=2,
        max_size=8,
    )
    .map(
        lambda contexts: [
            record
            for place, (positives, sources) in enumerate(contexts)
            for record in (
                *(right(place, f"Right {place} {k}.") for k in range(positives)),
                *(wrong(place, f"Wrong {place} {k}.", source) for k, source in enumerate(sources)),
            )
        ]
    )
    .flatmap(st.permutations)
)
"""Strategy for shuffled records of contexts that have one to three correct and up to five wrong responses."""
