"""Replace a quantity or frequency, to contradict a sentence: "many friends" -> "only a few friends".

A quantity can have more words than its node expresses: in "a lot of friends", the node expresses only *lot*.
`set_quantifier` finds all words of the quantity, and replaces them by the words of the new quantity. Each row
of ``quantifiers.tsv`` contains the old words, the new concept and the new words.

Example: "You always drink tea." with ``ever`` (and a negation in the graph) becomes "You never drink tea."
"""

from __future__ import annotations

from functools import cache

from graphneg.decoders.surface.agreement import inflect_finite, person_of
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.decoders.surface.inflection import BE, HAVE, noun_form
from graphneg.decoders.surface.operations.restating import words_of
from graphneg.english.gazetteer import TEMPORAL_UNITS
from graphneg.english.tagging import CLOSED
from graphneg.english.words import table_rows

# Maximum number of words of a quantity: "a great deal of".
_LONGEST = 4


@cache
def _periods() -> frozenset[str]:
    """Return the units of time in the singular and plural: "day", "days"."""
    # Compute the forms at the first use. They need lemminflect, whose import would take half of the time of
    # importing graphneg's commands.
    return frozenset(form for unit in TEMPORAL_UNITS for form in (unit, noun_form(unit, "NNS")))


@cache
def _table() -> dict[tuple[str, str], dict[str, str]]:
    """Read ``quantifiers.tsv``.

    Returns:
        A dictionary such as ``{("much", "few"): {"NN": "only a little"}}``. Its keys are the old words and
        the new concept. Its values contain the new words, keyed by the tag that the following noun must have
        (empty for any tag).
    """
    table: dict[tuple[str, str], dict[str, str]] = {}
    for old, concept, noun, new in table_rows("graphneg.decoders.surface", "quantifiers.tsv"):
        table.setdefault((old, concept), {})[noun] = new
    return table


def is_quantifier(concept: str) -> bool:
    """Return whether a concept is a quantity or frequency that `set_quantifier` can write.

    Args:
        concept: The new concept.

    Returns:
        True if ``quantifiers.tsv`` contains the concept, for example ``ever`` or ``few``.
    """
    return any(concept == other for _, other in _table())


def set_quantifier(source: SentenceDraft, k: int, concept: str) -> None:
    """Replace the words of a quantity or frequency.

    Args:
        source: The sentence, edited in place.
        k: The index of the node of the quantity.
        concept: The new quantity.

    Raises:
        RealisationError: The table contains no words for the new quantity that fit the words around it
            (``no-form``).
    """
    tokens = source.tokens
    # "Never" is *ever* with a negation. It may be aligned with either node.
    never = [index for index, token in enumerate(tokens) if token.lower == "never"]
    head = never[0] if never and source.node(k).concept == "ever" else source.head(k)
    for size in range(_LONGEST, 0, -1):
        for start in range(max(0, head - size + 1), head + 1):
            words = " ".join(token.lower for token in tokens[start : start + size])
            if start + size > head and (words, concept) in _table():
                _write(source, start, start + size, _table()[words, concept])
                return
    raise RealisationError("no-form", f"'{tokens[head].text}' can't become '{concept}' here")


def _write(source: SentenceDraft, start: int, end: int, by_noun: dict[str, str]) -> None:
    """Replace the words of a quantity, and make the verb agree with the new words.

    Raises:
        RealisationError: No new words fit the words around the quantity, or a neighbouring word belongs to
            the quantity (``no-form``).
    """
    tokens = source.tokens
    before, following = tokens.get(start - 1), tokens.get(tokens.run_end(end, ("JJ", "VBG", "RB")))
    if before.lower in words_of("before-quantities"):
        raise RealisationError("no-form", f"'{before.text}' belongs to the quantity")
    if tokens.get(end).lower in words_of("after-quantities"):
        raise RealisationError("no-form", f"'{tokens[end].text}' compares the quantity")
    words = by_noun.get(following.tag, by_noun.get(""))
    if words is None:
        raise RealisationError("no-form", f"no quantity is known before '{following.text}'")
    # Use *no* only in a subject: "I like all kinds of music" must not become "I like no kinds of music".
    if words == "no" and start:
        raise RealisationError("no-form", "'no' fits only the subject")
    # Refuse "a few days", because "a lot of days" does not fit every time: "a lot of days ago".
    if words == "a lot of" and following.lower in _periods():
        raise RealisationError("no-form", f"'{following.text}' measures a time")
    affirmed = tokens[start].lower in words_of("negative-quantities")
    unfit = next((token for token in tokens if token.lower in words_of("negative-contexts")), None)
    perfect = before.expanded in HAVE | BE and tokens.get(end).tag in ("VBN", "VBD", "RB", "JJ")
    if affirmed and (unfit is not None or before.tag == "MD" or perfect):
        raise RealisationError("no-form", f"'{words}' does not fit the rest of the negative clause")
    new = [Token(word, _tag(word, tokens[start].tag)) for word in words.split(" ")]
    source.cut(start, end)
    source.insert(start, *new)
    group = next((group for group in source.parse_verbs() if group.is_main), None)
    if group is not None and group.subject is not None and group.subject[0] == start == 0:
        subject = group.subject_tokens
        person = "they" if any(token.tag == "NNS" for token in subject) else person_of(subject)
        inflect_finite(source, group, person)


def _tag(word: str, default: str) -> str:
    """Return the most frequent tag of a function word, or the default for another word."""
    tags = CLOSED.get(word, {})
    return max(tags, key=tags.__getitem__) if tags else default
