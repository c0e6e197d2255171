"""Tests of the generator ``overlap``: sentences that share words with a context but not its scene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray

from graphneg.dialogue_graph import DialogueGraph
from graphneg.english.tokens import word_count
from graphneg.english.words import content_lemmas
from graphneg.errors import GeneratorError
from graphneg.generators.base import Context, get_generator
from graphneg.generators.overlap.target_profile import (
    ContextTerms,
    OverlapOptions,
    PoolSentence,
    Shortlist,
    TargetProfile,
    shortlist,
    target_profiles,
    terms_of,
)
from graphneg.model import Negative, Turn
from graphneg.store.connection import Store
from tests.overlap_samples import RIGHT, fill, responses, sentences
from tests.servers import wipe


@pytest.fixture(scope="module")
def graph(store: Store, tmp_path_factory: pytest.TempPathFactory) -> DialogueGraph:
    return fill(store, tmp_path_factory.mktemp("overlap"))


@pytest.fixture(scope="module")
def negatives(graph: DialogueGraph) -> list[Negative]:
    return list(graph.generate("overlap", per_context=5))


_SEEN: list[list[tuple[str, str]]] = []


class TestResponses:
    def test_responses_are_the_same_on_every_server(self, negatives: list[Negative]) -> None:
        _SEEN.append(responses(negatives))
        assert _SEEN[0] == _SEEN[-1]

    def test_responses_do_not_depend_on_the_batch_size(
        self, graph: DialogueGraph, negatives: list[Negative]
    ) -> None:
        cut = graph.generate("overlap", per_context=5, batch=3)
        assert responses(list(cut)) == responses(negatives)

    def test_responses_depend_on_the_seed(self, graph: DialogueGraph, negatives: list[Negative]) -> None:
        others = list(graph.generate("overlap", per_context=5, seed=1))
        assert {one.response for one in others} != {one.response for one in negatives}

    def test_every_context_gets_responses(self, negatives: list[Negative]) -> None:
        assert Counter(one.dialogue for one in negatives) == {f"own/test/{n}": 5 for n in range(20)}

    def test_responses_meet_the_conditions(self, negatives: list[Negative]) -> None:
        pool = set(sentences())
        for one in negatives:
            assert one.response in pool
            assert 8 <= word_count(one.response) <= 19
            assert len(content_lemmas(one.response)) >= 4
            assert not one.response.startswith("Yes")

    def test_no_response_is_correct_or_a_turn_of_the_context(self, negatives: list[Negative]) -> None:
        first = [one for one in negatives if one.dialogue == "own/test/0"]
        assert RIGHT not in {one.response for one in first}
        for one in negatives:
            assert one.response not in {turn.text for turn in one.context}

    def test_no_sentence_is_used_more_than_four_times(self, negatives: list[Negative]) -> None:
        assert max(Counter(one.response for one in negatives).values()) <= 4

    def test_the_shared_words_are_recorded(self, negatives: list[Negative]) -> None:
        for one in negatives:
            context = {term for turn in one.context for term in content_lemmas(turn.text)}
            shared = context & set(content_lemmas(one.response))
            assert one.scores["shared"] == len(shared)
            [edit] = one.edits
            assert edit.before == (f"shared: {', '.join(sorted(shared))}" if shared else None)
            assert edit.transform == "overlap" and str(edit.node).startswith(("pool/", "own/test/0#2/r0"))

    def test_most_responses_share_one_or_two_words(self, negatives: list[Negative]) -> None:
        shares = Counter(min(3, int(one.scores["shared"])) for one in negatives)
        assert shares[1] > shares[0] and shares[1] + shares[2] > len(negatives) / 2


class TestConditions:
    def test_a_sentence_is_used_once_with_max_uses_1(self, graph: DialogueGraph) -> None:
        made = list(graph.generate("overlap", per_context=5, max_uses=1))
        assert max(Counter(one.response for one in made).values()) == 1

    def test_missing_responses_are_counted(self, graph: DialogueGraph) -> None:
        made = graph.generate("overlap", per_context=400, max_uses=1, limit=2)
        found = list(made)
        assert made.summary.skipped["used-up"] == 800 - len(found)

    def test_conditions_that_no_sentence_meets_are_an_error(self, graph: DialogueGraph) -> None:
        with pytest.raises(GeneratorError, match=r"none of the .* can be a response"):
            list(graph.generate("overlap", min_words=60, max_words=70))

    def test_an_unknown_source_is_answered_with_the_known_ones(self, graph: DialogueGraph) -> None:
        with pytest.raises(GeneratorError, match=r"'news'; available: own/test, pool"):
            list(graph.generate("overlap", sources=["news"]))

    def test_responses_can_be_limited_to_a_source(self, graph: DialogueGraph) -> None:
        made = list(graph.generate("overlap", sources=["own"]))
        assert made and {one.response for one in made} == {RIGHT}

    def test_sentences_about_usual_shifts_are_left_out(self, graph: DialogueGraph) -> None:
        wanted = {"usual_shift": 2, "limit": 1, "per_context": 20, "max_uses": None}
        before = list(graph.generate("overlap", **wanted))
        mentioned = Counter(term for one in before for term in set(content_lemmas(one.response)))
        graph.cypher_write(
            "MATCH (a:Term {text: 'keep'}), (b:Term {text: 'market'}) "
            "MERGE (a)-[r:SHIFTS_TO]->(b) SET r.count = 2"
        )
        after = list(graph.generate("overlap", **wanted))
        assert mentioned["market"] and after
        assert not any("market" in one.response for one in after)

    @pytest.mark.parametrize(
        ("option", "value", "told"),
        [
            ("least_word", 3, "no option 'least_word'"),
            ("questions", 2, "share from 0 to 1"),
            ("max_overlap_frequency", -1, "share from 0 to 1"),
            ("max_words", 0, "whole number of at least 1"),
            ("openings", "well", "list of texts"),
            ("overlap", [1, 2], "four shares"),
        ],
    )
    def test_invalid_options_are_refused(
        self, graph: DialogueGraph, option: str, value: object, told: str
    ) -> None:
        with pytest.raises(GeneratorError, match=told):
            graph.generate("overlap", **{option: value})

    def test_a_store_without_sentences_says_what_to_load(self, embedded: Store) -> None:
        wipe(embedded)
        with pytest.raises(GeneratorError, match="graphneg load wordnet"):
            get_generator("overlap", embedded).generate((), 1, 0)


class LetterCountEmbedder:
    """Embed a text as its counts of letters."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        counts = [[text.lower().count(chr(97 + at)) for at in range(26)] for text in texts]
        rows = np.array(counts, dtype=float32).reshape(len(texts), 26)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class BoatDenoiser:
    """Score sentences that contain "boat" as fitting."""

    name = "fond of boats"

    def score(self, contexts: Sequence[Context], texts: Sequence[str]) -> Sequence[float]:
        assert len(contexts) == len(texts)
        return [float("boat" in text) for text in texts]


class TestParts:
    def test_an_embedder_limits_the_similarity(self, graph: DialogueGraph) -> None:
        made = graph.generate("overlap", per_context=5, embedder=LetterCountEmbedder(), max_cosine=0.85)
        found = list(made)
        assert found and all(one.scores["cosine"] < 0.85 for one in found)
        assert not any("no embedder" in one for one in made.notes)
        assert "sentences of the store can be responses; load more" in made.notes[-1]

    def test_a_missing_embedder_is_noted(self, graph: DialogueGraph) -> None:
        assert "no embedder" in graph.generate("overlap").notes[0]

    def test_sentences_with_a_high_denoiser_score_are_dropped(
        self, graph: DialogueGraph, negatives: list[Negative]
    ) -> None:
        assert any("boat" in one.response for one in negatives)
        made = graph.generate("overlap", per_context=5, denoiser=BoatDenoiser(), drop_share=0.6)
        assert not any("boat" in one.response for one in made)


def spoken(number: int, text: str, *terms: str) -> PoolSentence:
    return PoolSentence(number, str(number), text, frozenset(terms), False, False, "")


class TestProfiles:
    def test_profiles_follow_the_shares_of_the_options(self) -> None:
        terms = frozenset(f"term{number}" for number in range(12))
        last = frozenset(sorted(terms)[:4])
        profiles = [
            profile
            for number in range(1000)
            for profile in target_profiles(
                ContextTerms(f"own/test/{number}", terms, terms, last, (), frozenset()),
                OverlapOptions(),
                lambda _: 50,
                500,
                ("far",),
                5,
                0,
            )
        ]
        shares = Counter(profile.shared for profile in profiles)
        for amount, share in enumerate(OverlapOptions().overlap):
            assert shares[amount] / len(profiles) == pytest.approx(share, abs=0.02)
        sharing = [profile for profile in profiles if profile.shared]
        assert sum(profile.last for profile in sharing) / len(sharing) == pytest.approx(1 / 3, abs=0.02)
        assert sum(profile.question for profile in profiles) / len(profiles) == pytest.approx(0.09, abs=0.02)

    def test_profiles_of_a_context_begin_with_different_terms(self) -> None:
        terms = frozenset("abcdefgh")
        of_context = ContextTerms("own/test/1", terms, terms, frozenset("abc"), (), frozenset())
        profiles = target_profiles(
            of_context, OverlapOptions(overlap=(0, 1, 0, 0)), lambda _: 9, 99, (), 5, 0
        )
        assert len({profile.query_terms[0] for profile in profiles}) >= 4

    def test_frequent_words_do_not_count_as_shared(self) -> None:
        often = {"know": 900, "boat": 3}
        turns = (Turn("A", "I know the boat."), Turn("B", "Do you?"))
        context = Context("own/test/1#2", "own", "test", "own/test/1", 2, turns, "A")
        of_context = terms_of(context, lambda term: often[term], max_overlap_frequency=100)
        assert (of_context.terms, of_context.informative) == ({"know", "boat"}, {"boat"})
        found = shortlist(
            context,
            of_context,
            TargetProfile(1, False, False, False, (), tie_breaker=5, cosine_draw=0.0),
            [spoken(1, "Nobody will know.", "know"), spoken(2, "A boat was sold.", "boat", "sell")],
            frozenset(),
            OverlapOptions(),
            frozenset(),
        )
        assert [one.sentence.id for one in found] == ["2", "1"]

    def test_a_partly_read_shortlist_can_be_read_again(self) -> None:
        turns = (Turn("A", "I know the boat."),)
        context = Context("own/test/1#1", "own", "test", "own/test/1", 1, turns, "B")
        of_context = terms_of(context, lambda _: 3, max_overlap_frequency=100)
        told = [
            spoken(n, f"Boat {'x' * n} was sold." if n % 2 else "A boat sank.", "boat") for n in range(40)
        ]

        def listed() -> Shortlist:
            profile = TargetProfile(1, True, False, False, (), tie_breaker=5, cosine_draw=0.0)
            return shortlist(context, of_context, profile, told, frozenset(), OverlapOptions(), frozenset())

        whole, half = list(listed()), listed()
        assert len(whole) == len({one.key for one in whole}) == 16
        for amount in (1, 3, 2, 16):
            assert [one for one, _ in zip(half, range(amount), strict=False)] == whole[:amount]
        assert list(half) == whole

    def test_profiles_of_a_context_without_known_words_share_none(self) -> None:
        of_context = ContextTerms(
            "own/test/1", frozenset("ab"), frozenset("ab"), frozenset("a"), (), frozenset()
        )
        profiles = target_profiles(of_context, OverlapOptions(), lambda _: 0, 99, ("far", "off"), 3, 0)
        assert {profile.shared for profile in profiles} == {0}
        assert {profile.query_terms for profile in profiles} <= {("far", "off"), ("off", "far")}


def test_a_resumed_run_remembers_the_used_sentences(embedded: Store, tmp_path: Path) -> None:
    graph = fill(embedded, tmp_path)
    options = {"per_context": 5, "batch": 4, "max_uses": 1}
    graph.generate("overlap", **options).to_jsonl(tmp_path / "once.jsonl")
    stopped = graph.generate("overlap", **options)
    run = stopped.run

    def until_the_second(skip: int, written: object) -> object:
        for number, finished in enumerate(run(skip, written)):  # pyright: ignore
            if number == 2:
                raise KeyboardInterrupt
            yield finished

    stopped.run = until_the_second  # pyright: ignore
    with pytest.raises(KeyboardInterrupt):
        stopped.to_jsonl(tmp_path / "again.jsonl")
    again = graph.generate("overlap", **options)
    again.to_jsonl(tmp_path / "again.jsonl")
    assert again.resumed.dialogues == 8
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "once.jsonl").read_bytes()
