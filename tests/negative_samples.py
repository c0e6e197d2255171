"""Negatives for tests: an example, and hypothesis strategies that generate random negatives."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.model import EditedPenman, EditRecord, Evidence, Negative, Original, Turn

EXAMPLE = Negative(
    id="own/test/1#2~deam.0",
    corpus="own",
    split="test",
    dialogue="own/test/1",
    turn=2,
    context=(
        Turn("A", "Do you like the café?"),
        Turn("B", "Yes, I like it a lot."),
    ),
    response="I don't like it.",
    speaker="A",
    label=0,
    original=Original(None, "I like it."),
    categories=("C-cont",),
    recipe="deam",
    target="dialogue",
    seed=7,
    decoder="surface",
    edits=(
        EditRecord(
            turn=2,
            transform="polarity_flip",
            category="C-cont",
            node="1",
            before="(like-01 :ARG0 i)",
            after="(like-01 :polarity - :ARG0 i)",
        ),
    ),
    amr={
        "2": EditedPenman(
            before="(l / like-01 :ARG0 (i / i))",
            after="(l / like-01 :polarity - :ARG0 (i / i))",
        )
    },
    scores={"nli": 0.5},
    error_type="polarity_flip",
    evidence=Evidence(1, "Yes, I like it a lot."),
    distance=1,
    pair="own/test/1#2~deam.0",
    proved=True,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(-(2**63), 2**63 - 1)
turns = st.builds(Turn, speaker=texts, text=texts)
contexts = st.lists(turns, max_size=3).map(tuple)
maybe_text = st.none() | texts
edits = st.builds(
    EditRecord,
    turn=numbers,
    transform=texts,
    category=texts,
    node=maybe_text,
    before=maybe_text,
    after=maybe_text,
)
graphs = st.dictionaries(
    st.integers(0, 10**6).map(str),
    st.builds(EditedPenman, before=maybe_text, after=maybe_text),
    max_size=3,
)
negatives = st.builds(
    Negative,
    id=texts,
    corpus=texts,
    split=texts,
    dialogue=texts,
    turn=numbers,
    context=contexts,
    response=texts,
    speaker=texts,
    label=st.integers(0, 1),
    original=st.builds(Original, context=st.none() | contexts, response=maybe_text),
    categories=st.lists(texts, max_size=2).map(tuple),
    recipe=texts,
    target=st.sampled_from(["response", "dialogue"]),
    seed=numbers,
    decoder=texts,
    edits=st.lists(edits, max_size=2).map(tuple),
    amr=graphs,
    scores=st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False), max_size=3),
    error_type=maybe_text,
    evidence=st.none() | st.builds(Evidence, turn=numbers, words=texts),
    distance=st.none() | numbers,
    frame=maybe_text,
    pair=maybe_text,
    proved=st.none() | st.booleans(),
)
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


def some(count: int) -> list[Negative]:
    return [replace(EXAMPLE, id=f"own/test/{i}#2~deam.0", dialogue=f"own/test/{i}") for i in range(count)]
