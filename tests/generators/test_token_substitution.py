"""Words that are replaced: by which others, and what happens to the words beside them."""

from __future__ import annotations

import pytest

from graphneg.errors import GeneratorError
from graphneg.generators.base import Context
from graphneg.generators.retrieval import BankEntry
from graphneg.generators.token_substitution import TokenSubstitutionGenerator, known_words
from graphneg.store.connection import Store


class Told(TokenSubstitutionGenerator):
    """Takes its words from a few given texts."""

    texts: tuple[str, ...] = ()

    def bank(self) -> list[BankEntry]:
        return [BankEntry(f"e#{n}", text, "e") for n, text in enumerate(self.texts)]


def substituted(context: Context, right: str, *texts: str, **options: int) -> list[str]:
    store: Store = None  # pyright: ignore[reportAssignmentType]
    generator = Told(store, **options)
    generator.texts = texts
    asked = Context(**{name: getattr(context, name) for name in context.__slots__} | {"positives": (right,)})
    [found] = generator.generate([asked], 1, 0)
    return [candidate.text for candidate in found]


@pytest.mark.parametrize(
    ("right", "told", "becomes"),
    [
        ("It is a pear.", "An apple fell.", "It is an apple."),
        ("An apple!", "pears, pear", "A pear!"),
        ("Bring the  apple, please", "pear", "Bring the  pear, please"),
    ],
)
def test_an_article_and_a_capital_go_with_the_new_word(
    context: Context, right: str, told: str, becomes: str
) -> None:
    assert substituted(context, right, told, most=1) == [becomes]


def test_a_capital_at_the_beginning_stays_there(context: Context) -> None:
    assert substituted(context, "Pears rot.", "apples", most=1) == ["Apples rot."]


def test_forms_of_the_same_word_are_no_substitutes(context: Context) -> None:
    assert substituted(context, "She walked.", "walked") == []


def test_words_are_known_by_all_that_they_can_be(context: Context) -> None:
    source = known_words(["He walks and talks.", "The quick dog barks quickly.", "A car."])
    assert list(source(["", "hikes"], 1)) == ["barks", "talks", "walks"]
    assert list(source(["", "slowly"], 1)) == ["quickly"]
    assert list(source(["", "xqzt"], 1)) == []


def test_no_more_words_than_asked_for_are_replaced(context: Context) -> None:
    right, told = "The farmer met the teacher in the village.", "a baker, an onion, a kitchen"
    for most in (1, 2, 3):
        [text] = substituted(context, right, told, least=most, most=most)
        changed = [a for a, b in zip(right.split(), text.split(), strict=True) if a != b and len(a) > 2]
        assert len(changed) == most


def test_the_least_is_no_more_than_the_most(unused: Store) -> None:
    with pytest.raises(GeneratorError, match="least 4 is greater than most 3"):
        TokenSubstitutionGenerator(unused, least=4)
