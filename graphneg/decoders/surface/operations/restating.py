"""Repeat a sentence of an earlier turn in a reply frame.

A speaker who repeats a sentence of the other speaker says *you* for the other's *I*, leaves out words that
belong only to the earlier turn ("Well, ..., you know"), and says why the sentence is repeated (see
`graphneg.english.reply_frames`). The functions of this module do this with the words of the earlier turn.
They refuse sentences that nobody would repeat in this way: hedged sentences, sentences that refer to other
sentences, formulas, and sentences of several clauses. The rules are those of the set ``claim`` in
``refusals.tsv``, and the words are those of ``restating.tsv``.

Example: "Well, I want to get my car washed on Friday." in the frame ``why`` becomes "Why do you want to get
your car washed on Friday?"
"""

from __future__ import annotations

import re
from functools import cache

from graphneg.amr.concept_words import PRONOUNS
from graphneg.decoders.surface.agreement import case_of, person_of
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import EDGE, RealisationError, Token
from graphneg.decoders.surface.inflection import DO, HAVE, Case, agree, contracted_stem, pronoun_cases
from graphneg.decoders.surface.operations.mood import invert
from graphneg.decoders.surface.operations.pronouns import change_persons
from graphneg.decoders.surface.refusals import apply_rules, is_dangling, refuse_idiom, refuse_person
from graphneg.english.reply_frames import ReplyFrame
from graphneg.english.tagging import NOUNS
from graphneg.english.words import table_rows, unique_rows, word_class

MAX_WORDS = 16
"""Maximum number of words in a sentence that a reply repeats."""
# Maximum number of words behind the last comma of a sentence that can be left out.
_ASIDE = 3
# Full forms that a text with contractions would contract. If a dialogue writes them out, replies do so, too.
_WRITTEN_OUT = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|were|can|could|will|would|should|have|has|had) ?not"
    r"|i (?:am|have been|will)|(?:you|we|they) are|it is)\b",
    re.IGNORECASE,
)
_EXCHANGED = {"i": "you", "you": "i"}
# Tags of words that can follow a determiner in its noun phrase.
_IN_PHRASE = NOUNS | {"JJ", "CD", "VBG", "VBN", "RB"}
_THIRD = frozenset({"he", "she", "it"})
# Marks of sentences that are not written as one plain sentence: "(a joke)", "I like - love - it", "I ...".
_BROKEN = re.compile(r"[()\[\]{}*/\"“”:;«»…_]|--|\.\.|^[-–—]$")


@cache
def words_of(name: str) -> frozenset[str]:
    """Return a class of words in ``restating.tsv``.

    Args:
        name: Name of the class.

    Returns:
        The words.
    """
    rows = unique_rows(table_rows("graphneg.decoders.surface", "restating.tsv"), "restating.tsv")
    return frozenset(rows[name].split())


def keep_sentence(source: SentenceDraft, k: int) -> None:
    """Keep only the words of the sentence with the top ``k``, without openings such as "Yes, and".

    Args:
        source: The sentences of a turn, edited in place.
        k: The number of the top node of a sentence.

    Raises:
        RealisationError: No word expresses the sentence (``no-alignment``).
    """
    tokens = source.tokens
    if k:
        firsts = [
            index
            for inner in range(k, source.node(k).subtree_last + 1)
            for index in source.indices(inner)[:1]
        ]
        if not firsts:
            raise RealisationError("no-alignment", "no words are aligned with the sentence to repeat")
        start, end = source.sentence_bounds(min(firsts))[0], source.sentence_bounds(max(firsts))[1]
        tokens[:] = tokens[start:end]
    openings = word_class("interjections") | word_class("openings")
    while len(tokens) > 2 and (
        tokens[0].tag in ("UH", "CC")
        or (tokens[0].lower in openings and tokens[1].text in (",", ".", "!"))
    ):
        source.cut(0, 2 if tokens[1].text in (",", ".", "!", "...") else 1)


def keep_claim(source: SentenceDraft, k: int) -> VerbGroup:
    """Keep only the clause that a sentence asserts, and refuse sentences that a reply cannot repeat.

    Args:
        source: The sentences of a turn, edited in place.
        k: The number of the top node of a sentence.

    Returns:
        The verb group of the clause.

    Raises:
        RealisationError: The sentence cannot be repeated in a reply frame.

    Example:
        "Well, I like it, you know." becomes "I like it."
    """
    _keep_clause(source, k)
    _cut_openings(source)
    _cut_reason(source)
    _cut_asides(source)
    tokens = source.tokens
    words = [token for token in tokens if token.tag not in ("EN", "PU", "QT")]
    groups = [group for group in source.parse_verbs() if group.is_main]
    group = groups[0] if groups else None
    opened = (
        group is not None
        and group.kind == "finite"
        and group.subject is not None
        and group.subject[0] == 0
        and not group.inverted
        and group.subject[1] <= group.first
    )
    # "I'll come in May" is not hedged.
    hedge = next((token for token in words if token.lower in words_of("hedges") and token.tag != "NNP"), EDGE)
    last = words[-1] if words else EDGE
    pointers = words_of("pointers") | (words_of("last-pointers") & {last.lower})
    # In "I like that", *that* refers to something that the sentence does not name.
    pointer = next(
        (
            token
            for index, token in enumerate(tokens)
            if token.lower in pointers
            or (
                token.lower in word_class("definite-determiners") - {"the"}
                and token.tag in ("DT", "PN", "PRO", "PRS")
                and tokens.get(index + 1).tag not in _IN_PHRASE
            )
        ),
        EDGE,
    )
    apply_rules(
        source,
        "claim",
        0,
        asks=any(token.tag == "EN" and token.text[:1] in "?!" and "?" in token.text for token in tokens),
        marked=any(_BROKEN.search(token.text) for token in tokens)
        or any(token.tag == "EN" for token in tokens[: max(0, len(tokens) - 1)]),
        long=len(words) > MAX_WORDS,
        opened=opened,
        # "I like it, it is nice", "I like it and you hate it": one of the clauses would stay true.
        several=any(
            other.subject is not None
            and (before := tokens.get(other.subject[0] - 1)).tag in ("PU", "CC", "EN")
            and before.lower not in ("or", "nor")
            for other in groups[1:]
        ),
        # "I stayed because it rained": it is not clear which of the clauses a reader takes to be denied.
        parts=any(
            (token.lower in word_class("clause-openings") and token.tag in ("SC", "WP", "CC"))
            or (token.text == "," and not source.inside_list(index) and not _is_last_verb(source, index))
            for index, token in enumerate(tokens)
        ),
        hedge=hedge.text,
        hedged=hedge is not EDGE,
        pointer=pointer.text,
        pointing=pointer is not EDGE,
        breaks_off=is_dangling(tokens, 0)
        or last.tag in ("MD", "TO", "NEG", "PS")
        or last.lower in word_class("indefinite-articles") | {"the"}
        or (last.expanded in DO | HAVE and len(words) < 4),
        # "She must be tired" is a conclusion, "She must go" is not.
        modal=group.verb.text if group is not None else "",
        concludes=group is not None
        and group.verb.lower in ("must", "should", "ought")
        and (tokens[group.main].is_be or group.second.expanded in HAVE),
        # "I haven't seen you for ages" has no affirmative counterpart.
        lasting=group is not None
        and bool(group.negations)
        and group.verb.expanded in HAVE
        and any(token.lower in ("for", "since") for token in tokens[group.main :]),
        # "A teacher doesn't live next door" does not contradict "A teacher lives next door".
        indefinite=tokens.get(0).lower in word_class("indefinite-determiners"),
        courteous=any(token.lower in word_class("courtesies") for token in words),
        joined=group is not None and bool(source.conjuncts(group)),
    )
    assert group is not None
    refuse_idiom(source, group.main)
    return group


def _is_last_verb(source: SentenceDraft, comma: int) -> bool:
    """Return whether a sentence has verbs before a comma, and none behind it: "It stops there, at the bank"."""
    groups = source.parse_verbs()
    return bool(groups) and all(group.main < comma for group in groups)


def _keep_clause(source: SentenceDraft, k: int) -> None:
    """Keep only the words of the sentence that contains the words of a clause.

    Raises:
        RealisationError: The words of the clause are in several sentences, or there are none
            (``no-alignment``).
    """
    # A pronoun node may have its first word in another sentence: "I'm late. I'm sorry."
    indices = [
        index
        for inner in range(k, source.node(k).subtree_last + 1)
        if source.node(inner).concept not in PRONOUNS
        for index in source.indices(inner)[:1]
    ]
    # The clause may refer to a node whose word is in another sentence. Its head is in its own sentence.
    bounds = {source.sentence_bounds(index) for index in source.indices(k)[:1] or indices}
    if len(bounds) != 1:
        raise RealisationError("no-alignment", "the words of the sentence to repeat are not clear")
    start, end = bounds.pop()
    source.tokens[:] = source.tokens[start:end]
    for token in [token for token in source.tokens if token.lower in words_of("left-out")]:
        source.tokens.remove(token)


def _cut_reason(source: SentenceDraft) -> None:
    """Remove a clause behind the first one: "I like it because it is warm" -> "I like it"."""
    tokens = source.tokens
    for group in [group for group in source.parse_verbs() if group.is_main][1:]:
        start = group.start - 1
        if tokens.get(start).lower in words_of("reasons") and start > 2 and group.subject is not None:
            source.cut(start - (tokens[start - 1].text == ","), tokens.run_start(len(tokens), ("EN",)))
            return


def state_wish(source: SentenceDraft, group: VerbGroup) -> None:
    """Replace a polite form by a plain one: "I'd like a coffee" -> "I want a coffee".

    Args:
        source: The sentence, edited in place.
        group: The verb group of its clause.
    """
    tokens, main = source.tokens, source.tokens[group.main]
    wish = _wishes().get(main.lower)
    if wish is None or len(group.chain) != 2 or group.negations:
        return
    if not (group.would or group.verb.lower == "would") or group.main != group.first + 1:
        return
    person = person_of(group.subject_tokens)
    tokens.remove(group.verb)
    source.rewrite(main, agree(wish, "VBP", person), "VBZ" if person in _THIRD else "VBP")


@cache
def _wishes() -> dict[str, str]:
    """Return the plain verb for each verb of a polite wish."""
    return dict(pair.split(":") for pair in words_of("wishes"))


def _cut_openings(source: SentenceDraft) -> None:
    """Remove words at the start that belong to the earlier turn: "Well, Tom, I like it" -> "I like it"."""
    tokens = source.tokens
    while len(tokens) > 3:
        comma = next((index for index in (1, 2) if tokens[index].text == ","), 0)
        spoken = [token for token in tokens[:comma] if token.tag != "NNP"]
        if comma and all(token.lower in words_of("openings") or token.tag == "UH" for token in spoken):
            source.cut(0, comma + 1)
        elif not comma and tokens[0].lower in words_of("links") and tokens[1].tag in ("PRS", "DT", "PS"):
            source.cut(0, 1)
        else:
            return


def _cut_asides(source: SentenceDraft) -> None:
    """Remove a phrase behind the last comma that belongs to the earlier turn: ", you know", ", Tom"."""
    tokens = source.tokens
    while True:
        end = tokens.run_start(len(tokens), ("EN",))
        comma = next((index for index in range(end - 1, 0, -1) if tokens[index].text == ","), 0)
        aside = tokens[comma + 1 : end]
        if not comma or not 0 < len(aside) <= _ASIDE:
            return
        if any(token.tag != "NNP" and token.lower not in words_of("asides") for token in aside):
            return
        # "I have been to Paris, Rome": a name behind a name may be a further item of a list.
        if aside[-1].tag == "NNP" and tokens[comma - 1].tag == "NNP":
            return
        source.cut(comma, end)


def contract_like(source: SentenceDraft, reply: SentenceDraft) -> None:
    """Decide whether the repeated sentence is written with contractions: "don't" or "do not".

    Speakers contract. Only if the two texts write out what can be contracted, and contract nothing, does the
    reply write it out as well.

    Args:
        source: The sentence to repeat, edited in place.
        reply: The text that the reply replaces.
    """
    written_out = any(_WRITTEN_OUT.search(draft.original) for draft in (source, reply))
    source.contracts = source.contracts or reply.contracts or not written_out


def exchange_speakers(source: SentenceDraft) -> None:
    """Let the other speaker say a sentence: *I* becomes *you*, and *you* becomes *I*.

    Args:
        source: The sentence, edited in place.

    Raises:
        RealisationError: The sentence says *we*, which may include the other speaker or not
            (``kind-mismatch``), or a pronoun cannot be exchanged.

    Example:
        "I'll call you at my office." becomes "You'll call me at your office."
    """
    changes: list[tuple[Token, str, Case]] = []
    for token in source.tokens:
        persons = {person for person, _ in pronoun_cases(token.text)}
        if "we" in persons:
            raise RealisationError("kind-mismatch", f"'{token.text}' may include the other speaker or not")
        for person in persons & _EXCHANGED.keys():
            case = case_of(source, token, person)
            if case is None:
                raise RealisationError("no-alignment", f"the case of '{token.text}' is not clear")
            changes.append((token, _EXCHANGED[person], case))
    for token, person, case in changes:
        refuse_idiom(source, source.tokens.index_of(token))
        refuse_person(source, token, person, case)
    change_persons(source, changes)


def put_into_frame(source: SentenceDraft, form: ReplyFrame) -> None:
    """Write the opening words, the word order and the end mark of a reply frame.

    Args:
        source: The sentence, edited in place.
        form: The frame.

    Raises:
        RealisationError: The clause cannot be inverted (``unclear-clause``).

    Example:
        With the frame ``check``, "You don't like it." becomes "So you don't like it?"
    """
    tokens = source.tokens
    end = tokens.run_start(len(tokens), ("EN",))
    source.cut(end, len(tokens))
    if form.order == "inverted":
        group = next((group for group in source.parse_verbs() if group.is_main), None)
        if group is None or group.subject is None or group.inverted or group.subject[0] != 0:
            raise RealisationError("unclear-clause", "the clause does not begin with its subject")
        _join_negation(source, group)
        invert(source, group)
    words = [Token(word, "UH") for word in _OPENING_WORD.findall(form.opening)]
    if words and not source.capitals:
        words[0].text = words[0].text if words[0].text == "I" else words[0].text.lower()
    # The end mark keeps the style of the text: "I like it ." or "I like it."
    source.insert(len(tokens), Token(form.mark, "EN"))
    source.insert(0, *words)


_OPENING_WORD = re.compile(r"'\w+|\w+|,")


def _join_negation(source: SentenceDraft, group: VerbGroup) -> None:
    """Join *not* to the auxiliary before it is moved: "you're not late" -> "you aren't late"."""
    verb, negation = group.verb, source.tokens.get(group.first + 1)
    full = {"'re": "are", "'s": "has" if group.perfect else "is"}.get(verb.lower, verb.expanded)
    stem = contracted_stem(full)
    if source.contracts and negation.lower == "not" and stem is not None:
        source.rewrite(verb, stem)
        source.rewrite(negation, "n't")
        negation.original_index = -1
