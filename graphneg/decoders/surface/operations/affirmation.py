"""Remove negation: *not*, negative words and negative prefixes.

In AMR, a negation is always the constant ``:polarity -``. `affirm` removes the words that express it,
whatever form they have. Other words of the clause depend on its polarity, and change with it: *any* becomes
*some*. `negation.negate` does the opposite.

Examples: "I didn't see any birds." -> "I saw some birds."; "I never see it." -> "I see it."; "I am unsure."
-> "I am sure."
"""

from __future__ import annotations

from graphneg.amr.concept_words import NEGATIVE_PREFIX
from graphneg.decoders.surface.agreement import inflect_finite
from graphneg.decoders.surface.analysis.sentence import SentenceDraft, question_tag
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import EDGE, RealisationError, Token
from graphneg.decoders.surface.idioms import refuse_idiom
from graphneg.decoders.surface.inflection import (
    BE,
    DO,
    EXPANDED,
    article,
    can_lack_article,
    noun_form,
)
from graphneg.decoders.surface.operations.negation import ends_clause, turn_tag
from graphneg.decoders.surface.refusals import refuse_affirmation, refuse_answer
from graphneg.english.tagging import NOUNS
from graphneg.english.words import readings, word_class, word_list, word_map

# Affirmative counterpart of each negative word and of each word that is used only in negative clauses. For
# example, the counterpart of *nothing* is *something*, and the counterpart of *any* is *some*.
_POSITIVE = word_map("positive")
# Words that are used only in negative clauses and have no affirmative counterpart: *at all*, *ever*.
_LEFT_OUT = word_class("left-out")
# Tags of words that can follow a determiner in its noun phrase: "a *very old stone* bridge".
_IN_PHRASE = ("JJ", "RB", "CD", "VBN", "VBG", *NOUNS)


def affirm(sentence: SentenceDraft, k: int) -> None:
    """Remove the words that express the polarity constant of a node, such as *not*.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the node of the polarity constant.

    Raises:
        RealisationError: No negative word was found in the clause (code ``no-alignment``), or the negative
            word cannot be removed (other codes), for example because it is part of an idiom.

    Example:
        "I didn't see any birds." becomes "I saw some birds."
    """
    parent = sentence.node(k).parent
    indices = sentence.indices(k)
    group = sentence.predicate(parent) if parent is not None else None
    negations = [*indices[:1], *(group.negations[:1] if group is not None else [])]
    if negations:
        refuse_idiom(sentence, negations[0])
        refuse_answer(sentence, negations[0])
        refuse_affirmation(sentence, negations[0], group)
    tag = question_tag(sentence, group) if group is not None else None
    if indices and sentence.tokens[indices[0]].lower in word_class("nots"):
        own = (other for other in sentence.parse_verbs() if indices[0] in other.negations)
        _remove_not(sentence, indices[0], next(own, group))
    elif indices:
        _make_positive(sentence, indices[0], parent)
    elif group is not None and group.negations:
        _remove_not(sentence, group.negations[0], group)
    elif group is not None and (index := _negative_word(sentence, group)) is not None:
        _make_positive(sentence, index, parent)
    else:
        raise RealisationError("no-alignment", "no negative word is aligned with the negation")
    if tag is not None and tag.negation is None:
        turn_tag(sentence, tag)


def _negative_word(sentence: SentenceDraft, group: VerbGroup) -> int | None:
    """Return the index of the first negative word of a clause, such as *never* or *unhappy*, or None."""
    start = group.subject[0] if group.subject else group.first
    for index, token in enumerate(sentence.tokens[start:], start):
        if token.tag in ("EN", "SC", "WP"):
            return None
        prefixed = NEGATIVE_PREFIX.match(token.lower) and token.tag in ("JJ", "RB", "VBN", "VBD")
        if token.lower in word_class("negative-words") or (
            prefixed and readings(NEGATIVE_PREFIX.sub("", token.lower))
        ):
            return index
    return None


def _remove_not(sentence: SentenceDraft, index: int, group: VerbGroup | None) -> None:
    """Remove *not* or *n't*, and the form of *do* that is only needed with it."""
    tokens, negation = sentence.tokens, sentence.tokens[index]
    inside = group is not None and index in group.negations
    verb, main = (group.verb, tokens[group.main]) if group is not None else (EDGE, EDGE)
    _replace_but(sentence, index, group if inside else None)
    tokens.remove(negation)
    if group is not None:
        use_affirmative_words(sentence, min(group.main, len(tokens) - 1))
    if group is None or not inside:
        verb = tokens.get(index - 1)
    # Write a contracted stem in full: "won't" -> "will", "can't" -> "can".
    if verb.lower in EXPANDED:
        sentence.rewrite(verb, EXPANDED[verb.lower])
    # Without *not*, the clause needs no *do*. Remove it, and give its tense to the main verb: "I did not see
    # it" -> "I saw it".
    supported = inside and verb.lower in DO and main is not verb and main.tag in ("VB", "VBP")
    if supported and group is not None and not group.inverted:
        tag = "VB" if group.kind == "imperative" else verb.tense
        tokens.remove(verb)
        sentence.inflect(main, tag)
        main.sentence_initial = main.sentence_initial or (verb.sentence_initial and main.capital)


def _make_positive(sentence: SentenceDraft, index: int, parent: int | None) -> None:
    """Replace the negative word at an index by its affirmative counterpart, or remove the word.

    Raises:
        RealisationError: The word is *nor*, as in "nor do I" (``unclear-clause``).
    """
    token, following = sentence.tokens[index], sentence.tokens.get(index + 1)
    # A negative adverb is removed: "I never see it" -> "I see it".
    if token.lower in word_class("negative-adverbs"):
        sentence.cut(index, index + 1)
    elif token.lower == "no" and following.text:
        _positive_determiner(sentence, index, following)
    elif token.lower == "without" and following.tag == "VBG":
        # Replace *without* by *while*: "He went without seeing it" -> "He went while seeing it".
        sentence.rewrite(token, "while", "SC")
    elif token.lower == "nor":
        raise RealisationError("unclear-clause", "'nor' can't be made affirmative alone")
    elif token.lower in _POSITIVE:
        # Replace *nor* after *neither* by *and*: "neither tea nor coffee" -> "both tea and coffee".
        for other in sentence.tokens[index:] if token.lower == "neither" else ():
            if other.lower == "nor":
                sentence.rewrite(other, "and")
        _positive_quantity(sentence, token, following)
    else:
        # Remove a negative prefix or suffix: "I am unsure" -> "I am sure".
        concept = sentence.node(parent).label if parent is not None else ""
        sentence.rewrite(token, _without_prefix(token.text, concept))
    use_affirmative_words(sentence, index)


def _positive_quantity(sentence: SentenceDraft, token: Token, following: Token) -> None:
    """Replace a negative quantifier, and make its noun and verb singular or plural.

    Examples: "neither boy is" -> "both boys are", "none of them is" -> "some of them are".
    """
    both = token.lower == "neither"
    several = both or following.lower == "of"
    sentence.rewrite(token, _POSITIVE[token.lower])
    second = sentence.tokens.get(sentence.tokens.index_of(token) + 2)
    if both and following.tag == "NN" and second.lower not in ("and", "nor"):
        sentence.rewrite(following, noun_form(following.lower, "NNS"), "NNS")
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    behind = tokens[index + 2 : index + 6] if following.lower == "of" else []
    counted = any(other.lower in word_class("plural-pronouns") or other.tag == "NNS" for other in behind)
    after = (group for group in sentence.parse_verbs() if group.first > index and group.kind == "finite")
    group = next(after, None)
    if group is None or group.inverted or not (both or (several and counted)):
        return
    if group.subject is None or group.subject[0] <= index + 2:
        inflect_finite(sentence, group, "they")


def _positive_determiner(sentence: SentenceDraft, index: int, following: Token) -> None:
    """Replace or remove *no* before a noun, and replace *no longer* and *no one*.

    Examples: "no longer" -> "still", "no one" -> "someone", "no water" -> "water", "no wigs" -> "some wigs",
    "no wig" -> "a wig".

    Raises:
        RealisationError: *no* is part of a comparison ("no more than") or does not precede a noun
            (``unclear-clause``).
    """
    tokens, token = sentence.tokens, sentence.tokens[index]
    if following.lower in ("longer", "one"):
        sentence.cut(index + 1, index + 2)
        still = following.lower == "longer"
        sentence.rewrite(token, "still" if still else "someone", "RB" if still else "PN")
        return
    if following.lower in word_class("comparative-quantifiers") or following.tag in ("PU", "EN"):
        raise RealisationError("unclear-clause", f"'no {following.lower}' can't be made affirmative")
    end = index + 1
    # Find the end of the noun phrase, which may contain joined adjectives: "no right or wrong answers".
    while end < len(tokens):
        after = tokens[end + 1].tag if end + 1 < len(tokens) else ""
        described = not sentence.is_noun(end - 1) and after in _IN_PHRASE
        joins = tokens[end].lower in ("or", "and") and (described or after == "JJ")
        if not joins and tokens[end].tag not in _IN_PHRASE:
            break
        end += 1
    head = tokens[end - 1]
    # In "There are no fish", only the verb shows that the noun is plural, so look at the verb, too.
    plural = head.tag == "NNS" or tokens.get(index - 1).lower in word_class("be-plural")
    if not plural and (tokens.get(index - 1).lower == "of" or can_lack_article(head.lower)):
        sentence.cut(index, index + 1)
    else:
        sentence.rewrite(token, "some" if plural else article(following.text), "DT")


def _without_prefix(word: str, concept: str) -> str:
    """Return a word without its negative prefix, or with the suffix *-ful* instead of *-less*.

    For example, "unsure" becomes "sure" and "careless" becomes "careful".

    Returns:
        The affirmative word.

    Raises:
        RealisationError: The word has no affirmative form (``unsupported-edit``).
    """
    low = word.lower()
    for prefix in word_list("negative-prefixes"):
        rest = low[len(prefix) :]
        if low.startswith(prefix) and len(rest) > 2 and (readings(rest) or concept.startswith(rest[:4])):
            return rest
    if low.endswith("less") and readings(low[:-4] + "ful"):
        return low[:-4] + "ful"
    raise RealisationError("unsupported-edit", f"the negative word '{word}' has no affirmative form")


def _replace_but(sentence: SentenceDraft, negation: int, group: VerbGroup | None) -> None:
    """Replace *but* by *and* if the negation after it will be removed.

    For example, "He likes her but not me" becomes "He likes her and me". *But* is kept before an adjective,
    because adjectives can contrast without a negation: "small but not cheap" becomes "small but cheap".

    Args:
        sentence: The sentence, edited in place.
        negation: The index of the negation, which the caller removes.
        group: The verb group that is negated; None if only a phrase is negated.

    Raises:
        RealisationError: The sentence makes no sense without its contrast (``unclear-clause``): "but not
            often", "not tea but coffee", "I don't, but he does".
    """
    tokens = sentence.tokens
    _, end = sentence.sentence_bounds(negation)
    for index in range(negation + 1, end - 1):
        if tokens[index].lower != "but":
            continue
        clause = any(index < group.first < end for group in sentence.parse_verbs())
        # Refuse to remove *not* from "not tea but coffee": *but* would then express no contrast.
        if not clause and tokens[index + 1].tag in (*NOUNS, "DT", "CD", "PS"):
            raise RealisationError(
                "unclear-clause", "'but' contrasts two phrases, and one of them is negated"
            )
        words = [token for token in tokens[index + 1 : end] if token.tag not in ("EN", "PU")]
        # Refuse to remove *not* from "I don't, but he does": *but* would then join two equal claims.
        if words and (words[-1].expanded in BE | DO or words[-1].tag in ("AX", "MD")):
            raise RealisationError("unclear-clause", "both clauses around 'but' would claim the same")
    # *But* may directly precede the negation ("but not her") or the verb group ("but does not").
    but = tokens.get((negation if group is None else min(negation, group.first)) - 1)
    following = tokens.get(negation + 1).tag
    if but.lower != "but" or tokens[0] is but:
        return
    if group is None and following in ("RB", "EN"):
        raise RealisationError("unclear-clause", "'but not' negates only an adverb")
    if not following.startswith("JJ"):
        sentence.rewrite(but, "and", "CC")


def use_affirmative_words(sentence: SentenceDraft, start: int) -> None:
    """Replace words for negative clauses, such as *any*, by those for affirmative clauses, such as *some*.

    For example, *any* becomes *some*, *much* becomes *a lot*, and *ever* and *at all* are removed.

    Args:
        sentence: The sentence, edited in place.
        start: The index of the first word that may be replaced.

    Example:
        After *do not* was removed, "I see any birds at all." becomes "I see some birds."
    """
    tokens, index = sentence.tokens, max(start, 0)
    while index < sentence.negation_scope_end(index):
        low = tokens[index].lower
        # Remove words that need a negation: single words such as *ever*, and pairs such as *at all*.
        count = 1 if low in _LEFT_OUT else 2 * (f"{low}_{tokens.get(index + 1).lower}" in _LEFT_OUT)
        sentence.cut(index, index + count)
        index += not count
    for token in tokens[max(start, 0) : index]:
        index = tokens.index_of(token)
        following, last = tokens.get(index + 1).lower, ends_clause(sentence, index)
        # If an exception follows, *any* becomes *every*: "I don't like anyone but her" -> "I like everyone
        # but her".
        if (every := word_map("any-with-exception").get(token.lower)) and following in word_class(
            "exception-words"
        ):
            sentence.rewrite(token, every)
        elif token.lower in _POSITIVE and token.lower.startswith("any"):
            # "I won't miss any call" becomes "I will miss a call".
            noun = sentence.tokens.get(index + 1)
            single = token.lower == "any" and noun.tag == "NN" and not can_lack_article(noun.lower)
            sentence.rewrite(token, article(noun.text) if single else _POSITIVE[token.lower])
        elif token.lower == "either" and last:
            # A final *either* becomes *too*: "I don't like it either" -> "I like it too".
            sentence.rewrite(token, "too")
        elif token.lower == "much" and index and tokens[index - 1].lower not in word_class("before-much"):
            # *much* becomes *a lot*: "I don't follow it much" -> "I follow it a lot". Before a noun, it
            # becomes *a lot of*: "I don't have much time" -> "I have a lot of time".
            noun = sentence.is_noun(index + 1)
            if noun:
                sentence.insert(index + 1, Token("of", "IN"))
            if noun or last:
                sentence.rewrite(token, "lot", "NN")
                sentence.insert(index, Token("a", "DT"))
