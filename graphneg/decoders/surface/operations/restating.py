"""Repeat a sentence of an earlier turn in a reply frame.

A speaker who repeats a sentence of the other speaker replaces *I* by *you*, and leaves out words that belong
only to the earlier turn ("Well, ..., you know"). The words of the reply frame, such as "Why ...?", show why
the sentence is repeated (see `graphneg.english.reply_frames`). The functions of this module make these
changes. They refuse sentences that nobody would repeat in this way: guesses ("Maybe he came"), sentences that
refer to another sentence ("I think so"), polite formulas ("Nice to meet you"), and sentences of several
clauses ("I like it and you hate it"). The rules are in the set ``claim`` of
``refusals.tsv``, and the words in ``restating.tsv``.

Example: "Well, I want to get my car washed on Friday." in the frame ``why`` becomes "Why do you want to get
your car washed on Friday?"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise, takewhile

from graphneg.amr.concept_words import PRONOUNS
from graphneg.decoders.surface.agreement import agree_with, case_of, follow, head_of, person_of, third_person
from graphneg.decoders.surface.analysis.phrases import phrase
from graphneg.decoders.surface.analysis.sentence import SentenceDraft, question_tag
from graphneg.decoders.surface.analysis.verb_groups import TIME_NOUNS, VerbGroup
from graphneg.decoders.surface.draft import EDGE, RealisationError, Token, Tokens
from graphneg.decoders.surface.inflection import (
    DO,
    HAVE,
    Case,
    agree,
    can_lack_article,
    contracted_stem,
    pronoun_cases,
)
from graphneg.decoders.surface.operations.mood import invert
from graphneg.decoders.surface.operations.pronouns import change_persons
from graphneg.decoders.surface.operations.tense import TENSES
from graphneg.decoders.surface.refusals import apply_rules, is_dangling, refuse_idiom, refuse_person
from graphneg.english.gazetteer import TEMPORAL_UNITS, TITLES
from graphneg.english.noun_kinds import kind_of, lexeme
from graphneg.english.reply_frames import ReplyFrame
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import readings, table_rows, unique_rows, word_class

MAX_WORDS = 18
"""Maximum number of words in a sentence that a reply repeats."""
MIN_WORDS = 3
"""Minimum number of words in a sentence that a reply repeats. Shorter sentences are answers or formulas: "I
know." """
# Maximum number of words after the last comma of a sentence that can be left out: ", you know".
_ASIDE = 3
# Pattern for full forms such as "do not". If a text contains one of them and no contraction, the reply to it
# contains no contractions either.
_WRITTEN_OUT = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|were|can|could|will|would|should|have|has|had) ?not"
    r"|i (?:am|have been|will)|(?:you|we|they) are|it is)\b",
    re.IGNORECASE,
)
# *Such* may refer to an earlier sentence ("I never do such things"). Before a word with one of these tags, it
# does not: "such *a* nice day". The same is true for *rather*: "rather *cold*".
_AFTER_DEGREES = {"such": ("DT",), "rather": ("JJ", "RB")}
# The number of hours on a clock face.
_HOURS = 12
_EXCHANGED = {"i": "you", "you": "i"}
# Tags of words that can follow a determiner in its noun phrase.
_IN_PHRASE = NOUNS | {"JJ", "CD", "VBG", "VBN", "RB"}
# The question words that ask for a time or place, keyed by its AMR role.
_PLACES_AND_TIMES = {"time": "when", "location": "where", "destination": "where"}
_SOME_TIME = frozenset({"sometime", "later", "soon", "half", "past", "o'clock"})
_THIRD = frozenset({"he", "she", "it"})
BROKEN = re.compile(r"[()\[\]{}*/\"“”:;«»…_]|--|\.\.|^[-–—]$")
"""Punctuation that shows an interruption or insertion, so that the text cannot be restated as one sentence:
"(a joke)", "I like - love - it", "I ..."."""


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
    """Remove all words of a turn except for one sentence, and openings of this sentence such as "Yes, and".

    Args:
        source: The sentences of a turn, edited in place.
        k: The index of the top node of the sentence to keep.

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
        tokens[0].tag in ("UH", "CC") or (tokens[0].lower in openings and tokens[1].text in (",", ".", "!"))
    ):
        source.cut(0, 2 if tokens[1].text in (",", ".", "!", "...") else 1)


def keep_claim(source: SentenceDraft, k: int) -> VerbGroup:
    """Shorten a sentence to its main clause, so that a reply can repeat the clause.

    Raises `RealisationError` if a reply cannot repeat the sentence, for example because it is a question.

    Args:
        source: The sentences of a turn, edited in place.
        k: The index of the top node of a sentence.

    Returns:
        The verb group of the clause.

    Example:
        "Well, I like it, you know." becomes "I like it."
    """
    keep_text(source, k)
    cut_openings(source)
    _cut_opening_phrase(source)
    _cut_question_tag(source)
    _keep_main_clause(source, k)
    _cut_reason(source)
    cut_asides(source)
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
    # Words such as *may* show that a sentence is hedged, unless they are names: "I'll come in May".
    # A condition is no hedge: "I'll come if it rains" can be denied.
    hedges = (
        token
        for token in words
        if token.lower in words_of("hedges")
        and not _is_name(token)
        and not (
            token.lower in words_of("conditions")
            and group is not None
            and group.main < tokens.index_of(token)
        )
    )
    hedge = next(hedges, EDGE)
    last = words[-1] if words else EDGE
    pointers = words_of("pointers") | (words_of("last-pointers") & {last.lower})
    # Find a word that refers to another sentence, such as *so* in "I think so". Accept *that* in "I like
    # that": the transforms repeat such a sentence only in the next turn, where *that* is clear.
    pointer = next(
        (
            token
            for index, token in enumerate(tokens)
            # Skip *such* and *rather* if they do not refer to an earlier sentence: "such a nice day", "rather
            # cold".
            if token.lower in pointers
            and tokens.get(index + 1).tag not in _AFTER_DEGREES.get(token.lower, ())
        ),
        EDGE,
    )
    apply_rules(
        source,
        "claim",
        0,
        asks=any(token.tag == "EN" and token.text[:1] in "?!" and "?" in token.text for token in tokens),
        marked=any(BROKEN.search(token.text) for token in tokens)
        or any(token.tag == "EN" for token in tokens[: max(0, len(tokens) - 1)]),
        long=len(words) > MAX_WORDS,
        short=len(words) < MIN_WORDS,
        opened=opened,
        # Refuse sentences of several main clauses, because an edit would change only one of them: "I like it,
        # it is nice", "I like it and you hate it".
        several=any(
            other.subject is not None
            and (before := tokens.get(other.subject[0] - 1)).tag in ("PU", "CC", "EN")
            and before.lower not in ("or", "nor")
            for other in groups[1:]
        ),
        # The sentence has a subordinate clause: "I stayed because it rained". Such sentences are refused,
        # because "I did not stay because it rained" may deny either clause.
        parts=any(
            (
                token.lower in word_class("clause-openings") - words_of("later-clauses")
                and token.tag in ("SC", "WP", "CC")
                # "since" opens a clause in "since you left", but not in "since Friday", where no verb
                # follows.
                and any(other.first > index for other in groups)
            )
            or (token.text == "," and not source.inside_list(index) and not _is_last_verb(source, index))
            for index, token in enumerate(tokens)
        ),
        hedge=hedge.text,
        hedged=hedge is not EDGE,
        pointer=pointer.text,
        pointing=pointer is not EDGE,
        breaks_off=is_dangling(tokens, 0)
        or last.tag in ("MD", "TO", "NEG", "PS")
        # Refuse a sentence that ends in a title: in "I'd like to see Mr . Chen .", the first full stop seems
        # to end it.
        or last.lower in TITLES
        or last.lower in word_class("indefinite-articles") | {"the"}
        # Refuse a sentence that ends in a single letter. In "I want to change some U . S . dollars", the
        # first full stop seems to end the sentence.
        or (len(last.text) == 1 and last.capital and last.text != "I")
        or (last.expanded in DO | HAVE and len(words) < 4),
        # "must be" and "must have" express a conclusion ("She must be tired"), but "must go" does not.
        modal=group.verb.text if group is not None else "",
        concludes=group is not None
        and group.verb.lower in ("must", "should", "ought")
        and (any(tokens[index].is_be for index in group.chain) or group.second.expanded in HAVE),
        # Refuse "I haven't seen you for ages", because "I have seen you for ages" is not English.
        lasting=group is not None
        and bool(group.negations)
        and group.verb.expanded in HAVE
        and any(token.lower in ("for", "since") for token in tokens[group.main :]),
        # "Nice to meet you" is courteous, "It's a nice day" is not.
        courteous=any(
            token.lower in word_class("courtesies")
            and not (token.tag == "JJ" and tokens.get(tokens.index_of(token) + 1).tag in NOUNS)
            for token in words
        ),
        # Refuse "You sing and dance", because only one of the verbs would change. In "I will get up and get
        # ready", both verbs depend on *will*, so both change.
        joined=group is not None
        and bool(joined := source.conjuncts(group))
        and (len(group.chain) == 1 or any(verb.tag != "VB" for verb in joined)),
    )
    assert group is not None
    refuse_idiom(source, group.main)
    # A first word that is a singular noun without an article is a name ("Bob is here"). Change its tag to
    # that of a name, so that it keeps its capital letter inside a sentence.
    first, alone = tokens[0], group.subject == (0, 1) and not can_lack_article(tokens[0].lower)
    named = any((node.value or "").strip('"') == first.text for node in source.graph.nodes)
    adjective = not named and "ADJ" in readings(first.lower)
    if alone and first.capital and first.tag in ("NN", "VB", "VBP", "JJ") and not adjective:
        first.tag = "NNP"
    # A first word that was tagged as a name is an adjective if the graph contains no such name: "Green tea is
    # good."
    elif first.tag == "NNP" and first.sentence_initial and adjective:
        first.tag = "JJ"
    return group


def negates_clause(source: SentenceDraft) -> bool:
    """Return whether the main clause of a sentence is negative.

    Args:
        source: The sentence.

    Returns:
        False for "There are banks that don't lend money", in which only the relative clause is negative.
    """
    group = next((group for group in source.parse_verbs() if group.is_main), None)
    if group is None:
        return False
    # Check the verb, all words before it and two words after it: *not* follows the verb in "There are not
    # many banks".
    words = source.tokens[: group.main + 3]
    return bool(group.negations) or any(
        token.tag == "NEG" or token.lower in word_class("negative-words") | {"cannot"} for token in words
    )


def refuse_indefinite(source: SentenceDraft) -> None:
    """Refuse to negate a sentence with an indefinite subject, or with words that people do not negate.

    "A teacher doesn't live next door" does not contradict "A teacher lives next door". Nobody says "I won't
    call you sometime next week".

    Args:
        source: The sentence.

    Raises:
        RealisationError: The subject has an indefinite determiner, or the sentence contains a word of the
            class ``not-negated`` (``unclear-clause``).
    """
    if source.tokens.get(0).lower in word_class("indefinite-determiners"):
        raise RealisationError("unclear-clause", "a negation would not contradict a sentence about 'a ...'")
    text = "_" + "_".join(token.lower for token in source.tokens) + "_"
    if (words := next((one for one in words_of("not-negated") if f"_{one}_" in text), None)) is not None:
        raise RealisationError("unclear-clause", f"'{words.replace('_', ' ')}' is not used with a negation")


def refuse_merged_verb(source: SentenceDraft) -> None:
    """Refuse to change the modality or tense of a sentence with *wanna*, *gonna* or *gotta*.

    Args:
        source: The sentence.

    Raises:
        RealisationError: The sentence contains a word of the class ``merged-verbs`` (``unsupported-edit``).
    """
    if merged := next(
        (token.text for token in source.tokens if token.lower in words_of("merged-verbs")), None
    ):
        raise RealisationError("unsupported-edit", f"'{merged}' can't follow a modal")


def refuse_fixed_phrase(source: SentenceDraft, k: int) -> None:
    """Refuse to replace a word of a fixed phrase: *pull* in "You're pulling my leg".

    Args:
        source: The sentence.
        k: The index of the node of the word.

    Raises:
        RealisationError: The word is in a phrase of the class ``fixed-phrases`` (``unsupported-edit``).
    """
    tokens, own = source.tokens, source.indices(k)
    for phrase_words in (entry.split("_") for entry in words_of("fixed-phrases")):
        for start in range(len(tokens) - len(phrase_words) + 1):
            window = tokens[start : start + len(phrase_words)]
            # "X" stands for any word: "pull X leg".
            fits = all(
                word in ("X", token.lower, token.lemma)
                for word, token in zip(phrase_words, window, strict=True)
            )
            if fits and any(start <= index < start + len(window) for index in own):
                words = " ".join(token.lower for token in window)
                raise RealisationError("unsupported-edit", f"'{words}' is a fixed phrase")


def _is_name(token: Token) -> bool:
    """Return whether a token is a name: it has a capital letter, but does not begin a sentence."""
    return token.tag == "NNP" or (token.capital and not token.sentence_initial and token.text != "I")


def _is_last_verb(source: SentenceDraft, comma: int) -> bool:
    """Return whether all verbs come before a comma, as in "It stops there, at the bank"."""
    groups = source.parse_verbs()
    return bool(groups) and all(group.main < comma for group in groups)


def keep_text(source: SentenceDraft, k: int) -> None:
    """Remove the sentences of a turn that do not contain a given clause.

    Raises:
        RealisationError: The words of the clause are in several sentences, or there are none
            (``no-alignment``).
    """
    _join_titles(source)
    # Ignore pronouns. In "I'm late. I'm sorry.", both "I" express the same node, so the pronoun does not show
    # which of the two sentences is meant.
    indices = [
        index
        for inner in range(k, source.node(k).subtree_last + 1)
        if source.node(inner).concept not in PRONOUNS
        for index in source.indices(inner)[:1]
    ]
    # Find the sentence by the word of the clause's head, such as *barks* in "I have a dog. It barks." Other
    # words may be misleading: in the graph, the subject of *barks* is ``dog``, whose word is in the first
    # sentence.
    bounds = {source.sentence_bounds(index) for index in source.indices(k)[:1] or indices}
    if len(bounds) != 1:
        raise RealisationError("no-alignment", "the words of the sentence to repeat are not clear")
    start, end = bounds.pop()
    source.tokens[:] = source.tokens[start:end]
    for token in [token for token in source.tokens if token.lower in words_of("left-out")]:
        index = source.tokens.index_of(token)
        before, after = source.tokens.get(index - 1), source.tokens.get(index + 1)
        # In "He is really busy", *busy* may be tagged as a verb, because it follows an adverb. Without
        # *really*, it follows *is*, so tag it as an adjective.
        if before.is_be and after.tag in ("VB", "VBP") and "ADJ" in readings(after.lower):
            after.tag = "JJ"
        source.tokens.remove(token)
    # Without *actually*, "Actually, I like it." becomes ", I like it." Remove the comma at the start.
    source.cut(0, source.tokens.run_end(0, ("PU", "EN")))


def _join_titles(source: SentenceDraft) -> None:
    """Join a title to its full stop, which ends no sentence: "I met Mr . Chen ." -> "I met Mr. Chen ."."""
    tokens = source.tokens
    for token in [token for token in tokens if token.lower in TITLES]:
        index = tokens.index_of(token)
        name = tokens.get(index + 2)
        if tokens.get(index + 1).text == "." and name.capital and name.tag in NOUNS:
            source.cut(index + 1, index + 2)
            token.text, name.sentence_initial, name.original_index = f"{token.text}.", False, -1


def _cut_opening_phrase(source: SentenceDraft) -> None:
    """Remove a phrase without a verb before the subject: "By the way, I like it" -> "I like it".

    A place or time is removed, too: "At school, I like it" -> "I like it".
    """
    tokens = source.tokens
    comma = next((index for index, token in enumerate(tokens) if token.text == ","), 0)
    opening = tokens[:comma]
    group = next((group for group in source.parse_verbs() if group.is_main), None)
    if group is None or group.subject is None or group.inverted or group.subject[0] != comma + 1:
        return
    fixed = "_".join(token.lower for token in opening) in words_of("opening-phrases")
    # A prepositional phrase can be removed ("In my car, I sing"), but not the first item of a list ("In Rome,
    # Paris and Oslo, I sang").
    phrase_of = opening[:1] and opening[0].tag in ("IN", "TO") and not source.inside_list(comma)
    changed = words_of("hedges") | word_class("negative-words") | word_class("clause-openings")
    plain = all(token.tag not in (*VERBS, "MD", "AX", "WP", "NEG") for token in opening)
    if comma and (fixed or (phrase_of and plain and all(token.lower not in changed for token in opening))):
        source.cut(0, comma + 1)


def _cut_question_tag(source: SentenceDraft) -> None:
    """Remove a question tag: "It's cold, isn't it?" and "It's cold, right?" -> "It's cold."."""
    tokens = source.tokens
    group = next((group for group in source.parse_verbs() if group.is_main), None)
    end = tokens.run_start(len(tokens), ("EN",))
    if group is None or group.inverted or not tokens.get(end).text.startswith("?"):
        return
    comma = next((index for index in range(end - 1, 0, -1) if tokens[index].text == ","), 0)
    words = tokens[comma + 1 : end]
    if not comma or group.main >= comma or not words:
        return
    if question_tag(source, group) is not None or all(token.lower in words_of("tags") for token in words):
        source.cut(comma, len(tokens))


def _keep_main_clause(source: SentenceDraft, k: int) -> None:
    """Keep only the main clause that a node heads: "I'm tired, but I have to go" -> "I have to go".

    If another clause contains words for nodes below ``k``, nothing is removed.
    """
    tokens = source.tokens
    groups = [group for group in source.parse_verbs() if group.is_main and group.kind == "finite"]
    starts = [
        group.start
        for group in groups[1:]
        if group.subject is not None
        and not group.inverted
        # Leave out relative and subordinate clauses, such as ", which is in dollars".
        and tokens[group.start].tag not in ("WP", "SC")
        and tokens[group.start].lower not in words_of("relative-subjects")
        and tokens.get(group.start - 1).lower in words_of("between-clauses")
    ]
    if not starts:
        return
    own = source.indices(k)[:1]
    bounds = [0, *starts, tokens.run_start(len(tokens), ("EN",))]
    spans = pairwise(bounds)
    kept = next(((start, end) for start, end in spans if own and start <= own[0] < end), None)
    if kept is None:
        return
    outside = [
        inner
        for inner in range(k, source.node(k).subtree_last + 1)
        if source.node(inner).concept not in PRONOUNS
        for index in source.indices(inner)[:1]
        if not kept[0] <= index < kept[1]
    ]
    if outside:
        return
    start, end = kept
    # Also remove the words between the clauses, such as *but* in "I'm tired, but I have to go".
    while end < bounds[-1] and tokens.get(end - 1).lower in words_of("between-clauses"):
        end -= 1
    source.cut(end, bounds[-1])
    source.cut(0, start)


def _cut_reason(source: SentenceDraft) -> None:
    """Remove a clause after the main clause: "I like it because it is warm" -> "I like it"."""
    tokens = source.tokens
    for group in [group for group in source.parse_verbs() if group.is_main][1:]:
        start = group.start - 1
        if tokens.get(start).lower in words_of("reasons") and start > 2 and group.subject is not None:
            source.cut(start - (tokens[start - 1].text == ","), tokens.run_start(len(tokens), ("EN",)))
            return


def replace_polite_wish(source: SentenceDraft, group: VerbGroup) -> None:
    """Replace a polite form by a plain one: "I'd like a coffee" -> "I want a coffee".

    Args:
        source: The sentence, edited in place.
        group: The verb group of the main clause.
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
    """Map the verbs of polite wishes to plain verbs: *like* in "I'd like a coffee" to *want*."""
    return dict(pair.split(":") for pair in words_of("wishes"))


def cut_openings(source: SentenceDraft) -> None:
    """Remove introductory words such as *well*: "Well, Tom, I like it" -> "I like it"."""
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


def cut_asides(source: SentenceDraft) -> None:
    """Remove short phrases such as ", you know" and ", Tom" from the end of a sentence to repeat."""
    tokens = source.tokens
    while True:
        end = tokens.run_start(len(tokens), ("EN",))
        # Remove *though*, also without a comma: "I'm having a few problems though." It refers to an earlier
        # sentence.
        if end > 2 and tokens[end - 1].lower == "though":
            source.cut(end - 1, end)
            end -= 1
        comma = next((index for index in range(end - 1, 0, -1) if tokens[index].text == ","), 0)
        aside = tokens[comma + 1 : end]
        if not comma or not 0 < len(aside) <= _ASIDE:
            return
        if any(token.tag != "NNP" and token.lower not in words_of("asides") for token in aside):
            return
        # Keep a name after another name, because it may be a further item of a list: "I've been to Paris,
        # Rome".
        if aside[-1].tag == "NNP" and tokens[comma - 1].tag == "NNP":
            return
        source.cut(comma, end)


def contract_like(source: SentenceDraft, reply: SentenceDraft) -> None:
    """Decide whether the repeated sentence is written with contractions: "don't" or "do not".

    By default, the reply uses contractions, as people do when they speak. It writes out "do not" only if one
    of the two texts contains such a full form and neither text contains a contraction.

    Args:
        source: The sentence to repeat, edited in place.
        reply: The text that the reply replaces.
    """
    written_out = any(_WRITTEN_OUT.search(draft.original) for draft in (source, reply))
    source.contracts = source.contracts or reply.contracts or not written_out


def exchange_speakers(source: SentenceDraft, persons: Mapping[str, str] | None = None) -> None:
    """Change a sentence so that the other speaker can say it: *I* becomes *you*, and *you* becomes *I*.

    Args:
        source: The sentence, edited in place.
        persons: Replacements for other pronouns, or other replacements for *I* and *you*: ``{"i": "he"}``
            changes *I* to *he* instead of *you*.

    Raises:
        RealisationError: The sentence contains *we*, which may or may not include the other speaker
            (``kind-mismatch``), or a pronoun cannot be exchanged.

    Example:
        "I'll call you at my office." becomes "You'll call me at your office." With ``{"i": "i", "you":
        "you"}``, it stays as it is.
    """
    exchanged = {**_EXCHANGED, **(persons or {})}
    changes: list[tuple[Token, str, Case]] = []
    for token in source.tokens:
        known = {person for person, _ in pronoun_cases(token.text)}
        if "we" in known:
            raise RealisationError("kind-mismatch", f"'{token.text}' may include the other speaker or not")
        following = source.tokens.get(source.tokens.index_of(token) + 1).lower
        if "you" in known and following in words_of("after-plural-you"):
            raise RealisationError(
                "kind-mismatch", f"'{token.text} {following}' is addressed to several people"
            )
        for person in known & exchanged.keys():
            case = case_of(source, token, person)
            if case is None:
                raise RealisationError("no-alignment", f"the case of '{token.text}' is not clear")
            if exchanged[person] != person:
                changes.append((token, exchanged[person], case))
    for token, person, case in changes:
        refuse_idiom(source, source.tokens.index_of(token))
        refuse_person(source, token, person, case)
    change_persons(source, changes)


def refuse_other_person(source: SentenceDraft, old: str, new: str) -> None:
    """Refuse a change of person in a repeated sentence if nobody would ask the changed sentence.

    Args:
        source: The sentence before its pronouns are exchanged ("I have to go").
        old: The person to change, as a subject pronoun.
        new: The new person. If it equals ``old``, the other speaker also says *I*. This is natural only for a
            duty or a plan: "So I have to go?", but not "So I'm hungry?"

    Raises:
        RealisationError: The pronoun is not the subject, or ``new`` equals ``old`` in a sentence without a
            duty or a plan (``unclear-clause``).
    """
    first = source.tokens.get(0)
    if old not in {person for person, _ in pronoun_cases(first.text)} or first.tag == "PS":
        raise RealisationError("unclear-clause", "the person is not the subject of the sentence")
    group = next((group for group in source.parse_verbs() if group.is_main), None)
    verbs = [] if group is None else [source.tokens[index] for index in group.chain]
    planned = any(
        verb.tag == "MD" or not words_of("duties-and-plans").isdisjoint((verb.expanded, verb.lemma))
        for verb in verbs
    )
    if old == new and not planned:
        raise RealisationError("unclear-clause", "speakers know what they are and have done")


def replace_subject(source: SentenceDraft, k: int, person: str) -> None:
    """Replace the subject of a sentence by a pronoun: "Tom lost his key" -> "You lost your key".

    Args:
        source: The sentence, edited in place.
        k: The index of the node of the subject.
        person: The new subject, as a subject pronoun.

    Raises:
        RealisationError: The node is not the subject (``no-alignment``), the subject is indefinite, or the
            rest of the sentence contains *I* or *you* (``unclear-clause``).
    """
    tokens = source.tokens
    group = next((group for group in source.parse_verbs() if group.is_main), None)
    if group is None or group.subject is None or group.subject[0] != 0:
        raise RealisationError("unclear-clause", "the clause does not begin with its subject")
    subject = group.subject_tokens
    head = subject[head_of(subject)]
    if tokens.index_of(head) not in source.subtree_indices(k):
        raise RealisationError("no-alignment", "the node is not the subject of the sentence")
    named = all(token.tag in ("NNP", "POS") for token in subject) or subject[0].tag == "PS"
    # Refuse compounds such as "my mp3 player": *player* alone may be a person, but the compound is not.
    compound = head.tag != "NNP" and subject[-2:-1] and subject[-2].tag in NOUNS
    if compound or (not named and subject[0].lower != "the"):
        raise RealisationError("unclear-clause", "the subject is indefinite")
    rest = tokens[group.subject[1] :]
    if any({"i", "you", "we"} & {one for one, _ in pronoun_cases(token.text)} for token in rest):
        raise RealisationError("unclear-clause", "the sentence is about a speaker elsewhere")
    old = third_person(subject, "he")
    # Infer the gender of a name from a pronoun of the sentence: in "Anna lost her key", *Anna* is *she*.
    others = {one for token in rest for one, _ in pronoun_cases(token.text)} & {"he", "she"}
    if head.tag == "NNP" and len(others) == 1:
        old = others.pop()
    source.cut(0, group.subject[1])
    pronoun_token = Token(person, "PRS")
    source.insert(0, pronoun_token)
    follow(source, rest, old, person)
    agree_with(source, pronoun_token)
    # Write *you're* if the sentence contains other contractions: "My niece is allergic" -> "You're allergic".
    if source.contracts and tokens[1].lower == "are" and tokens.get(2).lower != "n't":
        source.rewrite(tokens[1], "'re")


def ask_for(source: SentenceDraft, k: int, role: str) -> None:
    """Ask for a phrase of a sentence: "you want a coffee" -> "what do you want".

    Args:
        source: The sentence, edited in place.
        k: The index of the node that the phrase expresses.
        role: The role of the node.

    Raises:
        RealisationError: The phrase cannot be asked for.
    """
    refuse_fixed_phrase(source, k)
    tokens, target = source.tokens, phrase(source, k)
    start, end = target.start, max([target.end - 1, *source.subtree_indices(k)]) + 1
    group = next(group for group in source.parse_verbs() if group.is_main)
    assert group.subject is not None
    if target.kind != "nominal" and role not in _PLACES_AND_TIMES:
        raise RealisationError("unsupported-edit", "only a noun phrase, a time or a place can be asked for")
    words = tokens[start:end]
    # Refuse to ask for "tea" in "I like tea and coffee", because "and coffee" would remain.
    if any(token.tag in ("CC", "WP", "SC", "EN") or token.text == "," for token in words) or "CC" in (
        tokens.get(start - 1).tag,
        tokens.get(end).tag,
    ):
        raise RealisationError("unclear-clause", "the phrase to ask for is only a part of a longer phrase")
    if any(token.tag in VERBS for token in words):
        raise RealisationError("unclear-clause", "the phrase to ask for contains a clause")
    if start < group.main:
        raise RealisationError("unsupported-edit", "a subject can't be asked for")
    kind, before = kind_of(lexeme(source.node(k).concept or "")), tokens[start - 1]
    place = kind == "place" and before.lower in words_of("place-prepositions")
    word = _PLACES_AND_TIMES.get(role, "where" if place else "who" if kind == "person" else "what")
    _refuse_unnatural_question(source, group, word, start)
    if role in _PLACES_AND_TIMES or place:
        _refuse_circumstance(source, word, start, end)
        # In "in the first half", the node may be aligned only with "half", so extend the phrase to the left.
        wider = tokens.run_start(start, ("DT", "PS", "JJ", "CD"))
        start = wider if tokens.get(wider - 1).tag == "IN" and wider > group.main + 1 else start
        before = tokens[start - 1]
        # The question word also replaces the preposition of a time or place: *when* replaces "on Friday". A
        # particle before the time is kept: in "check out tomorrow", *when* replaces only *tomorrow*.
        start -= before.tag in ("IN", "TO", "SC") and before.lower not in words_of("particles")
    elif (before.tag != "VBP" and before.lower in words_of("closed-prepositions")) or (
        before.lower == "of" and tokens.get(start - 2).tag in NOUNS
    ):
        raise RealisationError("unclear-clause", "the phrase to ask for is a part of a longer phrase")
    elif before.tag not in (*VERBS, "AX", "IN", "TO", "RP", "PRO"):
        raise RealisationError("unclear-clause", "the phrase to ask for is not the object of a verb")
    # Refuse the object of a subordinate clause: *tea* in "I know he likes tea".
    elif before.tag in VERBS and start - 1 != group.main and tokens.get(start - 2).tag != "TO":
        raise RealisationError("unclear-clause", "the phrase to ask for is the object of another clause")
    if tokens.get(start - 1).tag in ("DT", "CD", "PS", "CC"):
        raise RealisationError("unclear-clause", "the phrase to ask for is a part of a longer phrase")
    # Refuse to ask for "a table" in "I have a table for four": in "What do you have for four?", it is not
    # clear that "for four" belongs to "a table".
    if word in ("what", "who") and tokens.get(end).tag in (
        "IN", "TO", "VBN", "VBG", "JJ", *NOUNS, "DT", "POS", "WP", "SC",
    ):  # fmt: skip
        raise RealisationError("unclear-clause", "more words belong to the phrase to ask for")
    source.cut(start, end)
    group = next(group for group in source.parse_verbs() if group.is_main)
    _join_negation(source, group)
    invert(source, group)
    # Keep *since* before *when*: "I have been here since Monday" -> "Since when have you been here?"
    is_since = word == "when" and "since" in (before.lower, words[0].lower)
    since = [Token("since", "IN")] if is_since else []
    source.insert(0, *since, Token(word, "WP"))


def _refuse_unnatural_question(source: SentenceDraft, group: VerbGroup, word: str, start: int) -> None:
    """Refuse to ask for a phrase of a sentence if nobody would ask this question.

    Args:
        source: The sentence before a phrase is replaced by the question word.
        group: The verb group of the main clause.
        word: The question word.
        start: The index of the first word of the phrase.

    Raises:
        RealisationError: The question would not be natural (``unclear-clause``).
    """
    tokens = source.tokens
    # Refuse to ask about a thing that the sentence introduces: "A pipe burst in my wall" -> "Where did a pipe
    # burst?", "There are stores in Paris" -> "Where are there stores?"
    refuse_indefinite(source)
    if tokens[0].lower in ("there", "here"):
        raise RealisationError("unclear-clause", "the sentence says only that something exists")
    # Refuse sentences with *and*, because the question would ask only for one of the joined parts: "What will
    # you send a message and take?"
    if any(token.tag == "CC" for token in tokens):
        raise RealisationError(
            "unclear-clause", "the sentence has joined parts, of which only one is asked for"
        )
    # Refuse to ask for the object of an infinitive after a noun: "I need a manager to be my spokesperson"
    # would become "Who do you need a manager to be?"
    loose = any(
        token.tag == "TO"
        and tokens.get(index + 1).tag == "VB"
        and tokens.get(index - 1).tag not in (*VERBS, "AX")
        for index, token in enumerate(tokens[:start])
    )
    if loose:
        raise RealisationError("unclear-clause", "a noun governs the infinitive of the phrase to ask for")
    if word not in ("what", "who"):
        return
    # Refuse questions about *it*, such as "What does it fit?", because the listener may not know what *it*
    # is.
    if tokens[0].lower in words_of("thing-subjects"):
        raise RealisationError("unclear-clause", "the question would not say what it is about")
    before = tokens[start - 1]
    # In "I prefer a room with a bath", the preposition does not belong to the verb. In "I want to apply for a
    # card", it does.
    verb = before if before.tag in (*VERBS, "AX") else tokens.get(start - 2)
    if verb.tag not in (*VERBS, "AX"):
        raise RealisationError("unclear-clause", "the phrase to ask for does not belong to the verb")
    # Refuse to ask for what follows *be* or *have*: "What do you have?" is no natural question for "I have a
    # headache".
    if verb.is_be or tokens[group.main].is_be or verb.expanded in HAVE:
        raise RealisationError("unclear-clause", f"nobody asks for what follows '{verb.text}'")


def _refuse_circumstance(source: SentenceDraft, word: str, start: int, end: int) -> None:
    """Refuse to ask *when* or *where* unless the time or place is unique and at the end of the sentence.

    Raises:
        RealisationError: The question would be strange (``unclear-clause``), for example because another time
            remains in it: "When will you call me sometime?"
    """
    tokens = source.tokens
    phrase_words = tokens[start:end]
    others = [token for token in tokens if token not in phrase_words]
    if tokens.get(end) is not EDGE and tokens[end].tag != "EN":
        raise RealisationError("unclear-clause", "the time or place is not the end of the sentence")
    # Ask *where* only for a phrase after a verb or a preposition of place: "next door" in "She lives next
    # door", but not "on this sweater" in "I want a refund on this sweater".
    before = tokens[start - 1]
    if word == "where" and before.lower not in words_of("place-prepositions") and before.tag not in VERBS:
        raise RealisationError("unclear-clause", "the phrase may not be a place")
    if word == "where" and any(token.lower in words_of("unasked-places") for token in phrase_words):
        raise RealisationError("unclear-clause", "nobody asks for such a place with 'where'")
    if word != "when":
        return
    if any(token.lower in words_of("unasked") for token in phrase_words):
        raise RealisationError("unclear-clause", "nobody asks for a frequency or a duration with 'when'")
    # Refuse to ask *when* for a duration: "When is the offer valid?" does not ask for "for five days" in "The
    # offer is valid for five days".
    if "for" in (before.lower, tokens[start].lower):
        raise RealisationError("unclear-clause", "nobody asks for a duration with 'when'")
    # Refuse a phrase that contains more than the time, such as "18 last month" in "I turned 18 last month".
    if any(token.lower in words_of("time-openings") for token in phrase_words[1:] if token.tag != "IN"):
        raise RealisationError("unclear-clause", "the phrase contains more than the time")
    # Refuse a time that may belong to a noun: in "I'm nervous about my presentation on Friday", it is the
    # presentation that is on Friday.
    group = next(group for group in source.parse_verbs() if group.is_main)
    if (
        before.tag == "IN"
        and tokens[group.main].is_be
        and any(token.tag in ("IN", "TO") for token in tokens[group.main : start - 1])
    ):
        raise RealisationError("unclear-clause", "the time may belong to another phrase")
    # Refuse to ask *when* if the sentence contains a second time, which would remain in the question: "When
    # will you call me *sometime*?", "When does it leave *at half past seven*?"
    if any(token.tag == "CD" or token.lower in TIME_NOUNS | _SOME_TIME for token in others):
        raise RealisationError("unclear-clause", "another time would remain")
    # Refuse to ask a perfect with *when* alone: "When have you been here?" is not English, but "Since when
    # have you been here?" is.
    if "since" not in (before.lower, tokens[start].lower) and any(
        group.verb.expanded in HAVE and len(group.chain) > 1 for group in source.parse_verbs()[:1]
    ):
        raise RealisationError("unclear-clause", "a perfect does not fit a question with 'when'")
    if tokens[start].tag == "RB" and phrase_words[0].lower not in TIME_NOUNS:
        raise RealisationError("unclear-clause", "the adverb gives no time that could be asked for")


def correct_changed_sentence(source: SentenceDraft) -> None:
    """Correct a sentence in which an edit has replaced a word, or refuse it if the new word does not fit.

    *Less* becomes *fewer* before a plural: "two less days" -> "two fewer days".

    Args:
        source: The sentence, edited in place.

    Raises:
        RealisationError: A new word does not fit its position ("I yesterday came"), a duration ("for two days
            yesterday"), an hour ("at 72 pm") or another word of the sentence (``unclear-clause``).
    """
    tokens = source.tokens
    group = next((group for group in source.parse_verbs() if group.is_main), None)
    for index, token in enumerate(tokens):
        is_new = token.lower in TENSES and group is not None and group.start < index < group.main
        after = tokens.get(index + 1)
        related = token.lower in words_of("time-relations") and (after.tag == "EN" or after.lower == "than")
        if is_new or related:
            raise RealisationError("unclear-clause", f"'{token.text}' does not fit its place in the sentence")
        # Refuse a new time in a sentence with a duration: "It was leaking for a couple of days yesterday".
        if token.lower in TENSES and _has_duration(tokens):
            raise RealisationError("unclear-clause", f"'{token.text}' does not go with a duration")
    for token, following in pairwise(tokens):
        if following.lower in words_of("hundredths") and re.fullmatch(r"\d{3,}", token.text):
            raise RealisationError("unclear-clause", f"nobody says '{token.text} {following.text}'")
        # Refuse an hour above 12, such as "at 72 pm".
        late = re.fullmatch(r"\d+", token.text) and int(token.text) > _HOURS
        if late and following.lower in words_of("after-hours"):
            raise RealisationError("unclear-clause", f"there is no hour '{token.text} {following.text}'")
        # Refuse *better* with any other form than a plain verb: "I'd better give" must not become "I would
        # better have given".
        changed = following.lower == "have" or (following.tag in VERBS and following.lower != following.lemma)
        if token.lower == "better" and changed:
            raise RealisationError("unclear-clause", "'had better' has no other tense")
    for index, token in enumerate(tokens):
        if (
            token.lower == "less"
            and source.tokens.get(source.tokens.run_end(index + 1, ("JJ", "VBG", "NN"))).tag == "NNS"
        ):
            source.rewrite(token, "fewer")


def _has_duration(tokens: Tokens) -> bool:
    """Return whether a sentence says how long something lasts: "for a couple of days"."""
    for index, token in enumerate(tokens):
        if token.lower != "for":
            continue
        rest = takewhile(lambda one: one.tag in ("DT", "JJ", "CD", "RB", "IN", *NOUNS), tokens[index + 1 :])
        if any(one.lemma in TEMPORAL_UNITS or one.lower in TEMPORAL_UNITS for one in rest):
            return True
    return False


def put_into_frame(source: SentenceDraft, form: ReplyFrame) -> None:
    """Turn a statement into a reply such as "So ...?" or "Why ...?".

    Args:
        source: The sentence, edited in place.
        form: The reply frame: its first words, its word order and its end mark.

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
