"""Tests of the retrieval baselines: random, bm25, semi-hard and token-substitution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import GeneratorError, ModelError
from graphneg.generators.base import Candidate, Context, ContextSelection, get_generator, read_contexts
from graphneg.generators.retrieval import BankEntry, Bm25Generator, NewTexts, read_bank
from graphneg.generators.token_substitution import tags_of
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.store.connection import Store
from tests.loaded_dialogues import loaded
from tests.servers import wipe

BASELINES = ("random", "bm25", "semi-hard", "token-substitution")
FROM_OTHERS = ("random", "bm25", "semi-hard")
PLACES = ("harbour", "garden", "station", "bakery", "library", "museum", "castle", "market")
THINGS = ("boat", "rose", "train", "loaf", "novel", "statue", "tower", "melon")


def dialogues() -> list[dict[str, object]]:
    return [
        {
            "id": f"town/test/{at}",
            "corpus": "town",
            "split": "test",
            "turns": [f"Shall we walk to the {place}?", f"Yes, I want to see a {thing} there."],
            "responses": [
                {"turn": 0, "text": f"The {place} is closed, but the {thing} shop opens.", "label": 1},
                {"turn": 0, "text": f"A {thing} once frightened my uncle.", "label": 0},
            ],
        }
        for at, (place, thing) in enumerate(zip(PLACES, THINGS, strict=True))
    ]


@pytest.fixture(scope="module")
def town(store: Store, tmp_path_factory: pytest.TempPathFactory) -> DialogueGraph:
    return loaded(store, tmp_path_factory.mktemp("town"), "town", dialogues())


def contexts_of(graph: DialogueGraph) -> list[Context]:
    return list(read_contexts(graph.store, ContextSelection()))


def made(graph: DialogueGraph, name: str, amount: int = 3, **options: object) -> list[list[Candidate]]:
    generator = get_generator(name, graph.store, **options)
    return [list(some) for some in generator.generate(contexts_of(graph), amount, 0)]


def texts(some: Sequence[Candidate]) -> list[str]:
    return [one.text for one in some]


class TestEachBaseline:
    @pytest.mark.parametrize("name", BASELINES)
    def test_responses_are_neither_correct_nor_turns_of_the_context(
        self, town: DialogueGraph, name: str
    ) -> None:
        for context, some in zip(contexts_of(town), made(town, name), strict=True):
            said = {turn.text for turn in context.turns}
            assert some
            assert not {*texts(some)} & {*context.positives, *said}
            assert len({*texts(some)}) == len(some) <= 3

    @pytest.mark.parametrize("name", BASELINES)
    def test_the_same_seed_gives_the_same_for_every_batch_size(self, town: DialogueGraph, name: str) -> None:
        def run(batch: int) -> list[Negative]:
            return list(town.generate(name, per_context=2, seed=3, batch=batch))

        assert run(1) == run(5)

    @pytest.mark.parametrize("name", FROM_OTHERS)
    def test_responses_are_correct_responses_of_other_contexts(self, town: DialogueGraph, name: str) -> None:
        right = {text for context in contexts_of(town) for text in context.positives}
        assert {text for some in made(town, name) for text in texts(some)} <= right

    def test_missing_responses_are_counted(self, town: DialogueGraph) -> None:
        stream = town.generate("random", per_context=20)
        assert len(list(stream)) == 8 * 14
        assert sum(stream.summary.skipped.values()) == 8 * 6

    def test_a_store_without_correct_responses_is_refused(self, embedded: Store) -> None:
        wipe(embedded)
        with pytest.raises(GeneratorError, match="the store has no correct responses"):
            read_bank(embedded)


def test_random_responses_depend_on_the_seed(town: DialogueGraph) -> None:
    one, other = (list(town.generate("random", per_context=2, seed=seed)) for seed in (0, 1))
    assert [each.response for each in one] != [each.response for each in other]


def test_a_bank_keeps_the_texts_of_lowest_hash(town: DialogueGraph) -> None:
    whole, part = read_bank(town.store), read_bank(town.store, most=5)
    assert [one.text for one in part] == [one.text for one in whole][:5]
    hashes = [number(0, "bank", one.text.casefold()) for one in whole]
    assert hashes == sorted(hashes)


class TestBm25:
    def test_responses_that_share_rare_words_come_first(self, town: DialogueGraph) -> None:
        some = made(town, "bm25", 1, by="response")
        assert all(text.startswith("Yes, I want") for one in some for text in texts(one))

    def test_scores_are_in_descending_order(self, town: DialogueGraph) -> None:
        for some in made(town, "bm25"):
            scores = [one.scores["bm25"] for one in some]
            assert scores == sorted(scores, reverse=True) and scores[-1] > 0

    def test_an_unknown_query_is_refused(self, town: DialogueGraph) -> None:
        with pytest.raises(GeneratorError, match="choose one of context, response"):
            get_generator("bm25", town.store, by="speaker")


class TestSemiHard:
    def test_cosines_lie_within_the_margin(self, town: DialogueGraph) -> None:
        found = [one for some in made(town, "semi-hard", 5, margin=0.2) for one in some]
        assert found
        for one in found:
            assert one.scores["right"] - 0.2 < one.scores["cosine"] < one.scores["right"]

    def test_the_nearest_responses_come_first(self, town: DialogueGraph) -> None:
        for some in made(town, "semi-hard", 5):
            cosines = [one.scores["cosine"] for one in some]
            assert cosines == sorted(cosines, reverse=True)

    def test_a_margin_of_0_is_refused(self, town: DialogueGraph) -> None:
        with pytest.raises(GeneratorError, match="margin must be a difference of cosines"):
            get_generator("semi-hard", town.store, margin=0)


class TestTokenSubstitution:
    def test_a_few_words_are_replaced_by_words_of_the_same_tag(self, town: DialogueGraph) -> None:
        for context, some in zip(contexts_of(town), made(town, "token-substitution"), strict=True):
            for one in some:
                right = min(context.positives, key=lambda text: word_distance(text, one.text))
                assert 1 <= word_distance(right, one.text) <= 4  # up to three nouns, and an article
                for pair in one.provenance["replaced"].split(", "):
                    before, _, after = pair.partition(" by ")
                    assert tags_of(before) == tags_of(after) and before != after

    def test_substitutes_can_come_from_a_masked_model(self, town: DialogueGraph, tmp_path: Path) -> None:
        model = masked_folder(tmp_path)
        some = made(town, "token-substitution", 2, model=model, most=1)
        replaced = [one.provenance["replaced"].partition(" by ")[2] for each in some for one in each]
        assert replaced and {*replaced} <= {*THINGS, *PLACES}

    def test_another_model_than_a_masked_one_is_refused(self, town: DialogueGraph, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="there is no such model"):
            get_generator("token-substitution", town.store, model=tmp_path / "none")
        (tmp_path / "config.json").write_text('{"model_type": "vit"}')
        with pytest.raises(ModelError, match="no masked model can be read"):
            get_generator("token-substitution", town.store, model=tmp_path)

    def test_least_0_is_refused(self, town: DialogueGraph) -> None:
        with pytest.raises(GeneratorError, match="least must be a whole number of at least 1"):
            get_generator("token-substitution", town.store, least=0)


def word_distance(one: str, other: str) -> int:
    """Return the number of differing words, plus 9 for each word that only the longer text has."""
    pairs = list(zip(one.split(), other.split(), strict=False))
    return sum(a != b for a, b in pairs) + 9 * abs(len(one.split()) - len(other.split()))


def masked_folder(folder: Path) -> Path:
    """Save a masked language model with random weights and a vocabulary of nouns; return its folder."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast, set_seed

    set_seed(0)
    words = ["[PAD]", "[UNK]", "[MASK]", *PLACES, *THINGS]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]"
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=40,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    return folder


class TestNewTexts:
    def test_texts_are_compared_without_case(self, context: Context) -> None:
        new = NewTexts(context)
        assert not new.take("what a pity!") and not new.take("My uncle SOLD it on Friday.")
        assert new.take("A horse?") and not new.take("a horse?")

    def test_texts_of_the_same_dialogue_are_not_new(self, context: Context) -> None:
        new = NewTexts(context)
        assert not new.take_entry(BankEntry("own/test/1#9", "A horse?", context.dialogue))
        assert new.take_entry(BankEntry("own/test/2#9", "A horse?", "own/test/2"))


class BoatBm25Generator(Bm25Generator):
    """Search a hundred texts, of which all but five contain "boat"."""

    def bank(self) -> list[BankEntry]:
        said = ["boat boat" if n % 7 == 0 else "boat" if n % 20 else "car" for n in range(100)]
        return [BankEntry(f"e/{n}#1", f"{words} number {'x' * n}", f"e/{n}") for n, words in enumerate(said)]


def test_bm25_ties_are_in_the_order_of_the_bank(context: Context, unused: Store) -> None:
    asked = replace(context, turns=context.turns[:1], positives=())
    [found] = BoatBm25Generator(unused).generate([asked], 200, 0)
    ranked = [(-one.scores["bm25"], int(one.provenance["source"][2:-2])) for one in found]
    assert ranked == sorted(ranked)
    assert len(ranked) == sum("boat" in entry.text for entry in BoatBm25Generator(unused).bank()) > 64


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "9"])
def test_an_invalid_bank_size_is_refused(unused: Store, wrong: object) -> None:
    with pytest.raises(GeneratorError, match=f"most must be a whole number of at least 1, not {wrong!r}"):
        get_generator("random", unused, most=wrong)
