"""Tests of the rescored decoder, which chooses between the texts of `surface` and of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="the decoder needs the neural extra")
pytest.importorskip("smatch", reason="Smatch needs the evaluation extra")

from graphneg.amr.overlay import apply_edits
from graphneg.amr.penman import parse_graph
from graphneg.decoders.base import get_decoder
from graphneg.decoders.rescored import RescoringDecoder
from graphneg.decoders.t5 import T5Decoder
from graphneg.errors import DecoderError, InputError
from graphneg.model import Edit, EditedUtterance
from tests.tiny_t5 import TinyT5, edited

pytestmark = pytest.mark.slow
TRAINS = parse_graph("(l / like-01~e.1 :ARG0 (i / i~e.0) :ARG1 (t / train~e.2))", "own/test/1#0@penman")


def negated_item() -> EditedUtterance:
    """Return "I like trains." with a negated graph. Only `surface` can write it, not the model."""
    edit = Edit("polarity_flip", "C-neg", "0", "add", TRAINS.id, 0, role="polarity", value="-")
    after = apply_edits(TRAINS, [edit], {})
    return EditedUtterance("own/test/1#0", "A", "I like trains.", TRAINS, after, (edit,))


@pytest.fixture(scope="module")
def decoder(tiny: TinyT5) -> Iterator[RescoringDecoder]:
    decoder = RescoringDecoder(tiny.hugging_face, device="cpu")
    yield decoder
    decoder.close()


def test_round_trip_and_likelihood_are_weighed(tiny: TinyT5) -> None:
    [said] = get_decoder("surface").decode([negated_item()])
    [written] = T5Decoder(tiny.hugging_face).decode([negated_item()])
    assert said.text == "I do not like trains." != written.text
    for weight, margin, expected in ((0, 0, said), (1, 0, written), (1, 100, said)):
        decoder = RescoringDecoder(tiny.hugging_face, device="cpu", loss_weight=weight, margin=margin)
        assert decoder.decode([negated_item()]) == [expected]
        decoder.close()


def test_the_model_writes_what_surface_can_not(decoder: RescoringDecoder, tiny: TinyT5) -> None:
    graph, text = tiny.pairs[0]
    swapped = Edit("other", "C-irr", "0", "graft", "other", 0, from_amr="away", from_position=0)
    item = replace(edited(graph, "Nobody said this."), edits=(swapped,))
    [said] = get_decoder("surface").decode([item])
    assert said.text is None and (said.reason or "").startswith("no-source: ")
    assert decoder.decode([item])[0].text == text


def test_the_original_text_is_never_chosen(decoder: RescoringDecoder, tiny: TinyT5) -> None:
    graph, text = tiny.pairs[0]
    [answer] = decoder.decode([edited(graph, text.upper())])
    assert answer.text is None or answer.text.upper() != text.upper()


def test_texts_do_not_depend_on_the_batch(decoder: RescoringDecoder, tiny: TinyT5) -> None:
    items = [
        negated_item(),
        *(edited(graph, "Nobody said this.", f"own/{n}") for n, (graph, _) in enumerate(tiny.pairs)),
    ]
    together = decoder.decode(items)
    assert decoder.decode(items[::-1]) == together[::-1]
    assert [decoder.decode([item])[0] for item in items[:3]] == together[:3]
    assert decoder.decode([]) == []


def test_ctranslate2_finds_the_same_texts_likely(tiny: TinyT5) -> None:
    pytest.importorskip("ctranslate2")
    graphs, texts = zip(*tiny.pairs, strict=True)
    pairs = [*zip(graphs, texts, strict=True), *zip(graphs, texts[::-1], strict=True)]
    ours, theirs = (
        T5Decoder(tiny.hugging_face, backend=backend, device="cpu").losses(pairs)
        for backend in ("torch", "ctranslate2")
    )
    known = len(graphs)
    assert theirs[:known] == pytest.approx(ours[:known], rel=0.1, abs=0.05)
    # CTranslate2 uses 8-bit weights, so losses differ by up to a fifth.
    assert theirs[known:] == pytest.approx(ours[known:], rel=0.3, abs=0.05)
    assert max(theirs[:known]) < min(theirs[known:])


def test_a_too_long_graph_has_an_infinite_loss(tiny: TinyT5) -> None:
    long = parse_graph(f"(a / and {' '.join(f':op{n} (t{n} / thing)' for n in range(1, 100))})")
    infinite, known = T5Decoder(tiny.amrlib, offline=True).losses([(long, "Things."), tiny.pairs[0]])
    assert infinite == float("inf") > known


def test_missing_requirements_are_named(tiny: TinyT5) -> None:
    with pytest.raises(DecoderError, match="needs a model: a folder or a hub id"):
        get_decoder("rescored")
    with pytest.raises(InputError, match=r"loss_weight and margin must be at least 0, not -1 and 0\.05"):
        get_decoder("rescored", model=tiny.hugging_face, loss_weight=-1)
