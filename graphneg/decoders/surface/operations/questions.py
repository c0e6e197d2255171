"""State a question, so that a reply can repeat it as if its speaker knew the answer.

A question makes no claim, but it shows what its speaker does not know. `state_knowledge` writes a question as
a statement with *know*, and `state_answer` writes a yes/no question as a statement. The words that open a
question and the formulas that ask for nothing ("How are you?") are in ``restating.tsv``.

Examples: "When does the bus leave?" becomes "I know when the bus leaves." The other speaker then repeats the
opposite of what the question shows: "So you know when the bus leaves?" "Are you angry?" becomes "You are
angry.", and a reply is "What do you mean, I am angry?"
"""

from __future__ import annotations

from itertools import pairwise

from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import TIME_NOUNS, VerbGroup
from graphneg.decoders.surface.draft import EDGE, RealisationError, Token
from graphneg.decoders.surface.idioms import refuse_idiom
from graphneg.decoders.surface.inflection import DO
from graphneg.decoders.surface.operations.affirmation import use_affirmative_words
from graphneg.decoders.surface.operations.mood import uninvert
from graphneg.decoders.surface.operations.restating import BROKEN, cut_asides, words_of
from graphneg.decoders.surface.operations.wishes import is_formula, keep_request, state_as_own
from graphneg.decoders.surface.refusals import is_dangling
from graphneg.english.gazetteer import TITLES
from graphneg.english.noun_kinds import is_frame
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import readings, word_class

MIN_ASKED = 3
"""Minimum number of words of a question. "What time?" is too short to be repeated."""
MAX_ASKED = 14
"""Maximum number of words of a question. Readers do not notice a small change before a longer question."""
# Tags of words that can be inside a subject after its auxiliary.
_IN_SUBJECT = NOUNS | {"JJ", "DT", "PS", "CD", "POS", "PN", "EX"}
# Maximum number of words before the verb of a question: "How many of the new students came?"
_MAX_PHRASE = 6


def state_knowledge(source: SentenceDraft, k: int) -> None:
    """Keep only a question, and turn it into the statement that its speaker knows the answer.

    `RealisationError` is raised if a reply cannot repeat the question (``unclear-clause``,
    ``unsupported-edit``).

    Args:
        source: The sentences of a turn, edited in place.
        k: The index of the top node of the question.

    Example:
        "And how much is it, sir?" becomes "I know how much it is."
    """
    polar = _order_as_statement(source, k)
    tokens = source.tokens
    tokens[0].sentence_initial = False
    if tokens[0].tag != "NNP" and tokens[0].text != "I":
        tokens[0].text = tokens[0].lower
    # "You know whether it is far" is a statement. "You know if it is far" can be read as a question.
    state_as_own(source, Token("know", "VBP"), *([Token("whether", "SC")] if polar else []))


def state_answer(source: SentenceDraft, k: int) -> None:
    """Keep only a yes/no question, and turn it into a statement.

    Args:
        source: The sentences of a turn, edited in place.
        k: The index of the top node of the question.

    Raises:
        RealisationError: The words are no yes/no question that a reply can repeat (``unclear-clause``,
            ``unsupported-edit``).

    Example:
        "And are you angry?" becomes "You are angry."
    """
    if not _order_as_statement(source, k):
        raise RealisationError("unsupported-edit", "only a yes/no question can be turned into a statement")
    # "Did you buy any apples?" becomes "You bought some apples." "Have you ever been there?" becomes
    # "You have been there."
    use_affirmative_words(source, 0)
    source.tokens.append(Token(".", "EN"))


def _order_as_statement(source: SentenceDraft, k: int) -> bool:
    """Keep only a question, without its end mark, and give it the word order of a statement.

    Returns:
        True for a yes/no question.

    Raises:
        RealisationError: The sentence is no question that a reply can repeat (``unclear-clause``,
            ``unsupported-edit``).

    Example:
        "And how much is it, sir?" becomes "how much it is".
    """
    keep_request(source, k, "before-questions")
    tokens = source.tokens
    cut_asides(source)
    end = tokens.run_start(len(tokens), ("EN", "PU"))
    if not any("?" in token.text for token in tokens[end:]):
        raise RealisationError("unclear-clause", "the sentence is no question")
    source.cut(end, len(tokens))
    while len(tokens) > 2 and tokens[-1].lower in words_of("after-questions"):
        source.cut(len(tokens) - 1, len(tokens))
    _refuse_formula(source)
    _correct_tags(source, k)
    group = _question_group(source, k)
    polar = group.first == 0
    if group.inverted:
        # Write out a clitic before it moves: "What's your name?" -> "what your name is".
        clitics = {"'s": "has" if group.perfect else "is", "'re": "are", "'ll": "will", "'ve": "have"}
        if group.verb.lower in clitics:
            source.rewrite(group.verb, clitics[group.verb.lower])
        uninvert(source, group)
        _correct_past(source)
    return polar


def _correct_past(source: SentenceDraft) -> None:
    """Correct past forms that depend on the next word: "you lied to me", but "you lay on the sofa"."""
    forms = dict(pair.split(":") for pair in words_of("forms-before"))
    for token, following in pairwise(source.tokens):
        if (form := forms.get(f"{token.lower}_{following.lower}")) is not None and token.tag == "VBD":
            source.rewrite(token, form)


def _correct_tags(source: SentenceDraft, k: int) -> None:
    """Correct tags that are often wrong in questions, so that the subject can be found.

    For example, a tagger often takes *leave* in "When does the bus leave?" for a noun. It gets the tag of a
    verb.
    """
    tokens = source.tokens
    first = next((index for index, token in enumerate(tokens) if token.tag in ("AX", "MD")), None)
    if first is None:
        return
    verb, following = tokens[first], tokens.get(first + 1)
    # In "How much is it?", *much* belongs to the question word and is not the subject.
    if first == 2 and tokens[0].lower == "how" and tokens[1].tag == "PN":
        tokens[1].tag = "RB"
    if following.lower == "there" and verb.is_be:
        following.tag = "EX"
    # In "Is this the office?", the subject is *this*. In "Is this office open?", it is *this office*.
    pointing = following.lower in word_class("demonstratives")
    if pointing and tokens.get(first + 2).tag in ("DT", "PS", "IN", "RB"):
        following.tag = "PRS"
    events = {
        index
        for node in source.graph.nodes
        if node.concept is not None and is_frame(node.concept)
        for index in source.indices(node.position)[:1]
    }
    # The verb of the question is the word of its top node, if this word can be the verb: *go* in "How did the
    # job interview go?"
    heads = {index for index in source.indices(k) if index > first + 1} & events
    events = heads or events
    for index in range(first + 2, len(tokens)):
        token, before = tokens[index], tokens[index - 1]
        # After another auxiliary, *have* and *do* are main verbs: "Do you have a car?", "What did you do?"
        helped = verb.expanded in DO or verb.tag == "MD"
        if helped and token.lower in ("have", "do"):
            token.tag = "VB"
        if token.tag not in (*_IN_SUBJECT, "PRO", "PRS"):
            return
        # A word after *the*, *your* or an adjective is a noun: *test* in "How did your test go?"
        if index not in events or before.tag in ("DT", "PS", "JJ", "CD", "POS"):
            continue
        if verb.is_be and token.lower.endswith("ing"):
            token.tag = "VBG"
            return
        if helped and token.lemma == token.lower and "VERB" in readings(token.lower):
            token.tag = "VB"
            return


def _question_group(source: SentenceDraft, k: int) -> VerbGroup:
    """Return the verb group of the main clause of a question.

    Raises:
        RealisationError: The text is not a single question, or the subject of the question was not found
            (``unclear-clause``).
    """
    tokens = source.tokens
    groups = [group for group in source.parse_verbs() if group.is_main and group.kind == "finite"]
    if not groups:
        raise RealisationError("unclear-clause", "the question has no verb")
    group = groups[0]
    if any(other.inverted for other in groups[1:]):
        raise RealisationError("unclear-clause", "the text consists of several questions")
    refuse_idiom(source, group.main)
    opening = tokens[: group.first]
    first = tokens[0].lower in words_of("question-words") or (
        tokens[0].tag == "IN" and tokens[1].lower in words_of("question-words")
    )
    if group.first == 0:
        if not group.inverted or group.subject is None:
            raise RealisationError("unclear-clause", "the subject of the question was not found")
        # Refuse "Isn't it nice?": the speaker does not want to know the answer.
        if group.negations:
            raise RealisationError("unclear-clause", "a negative question asks for nothing")
        _limit_subject(source, group, k)
        return group
    if not first or len(opening) > _MAX_PHRASE or any(token.tag in (*VERBS, "PRS") for token in opening):
        raise RealisationError("unclear-clause", "the question does not begin with its question word")
    following = next((token for token in tokens[group.first + 1 :] if token.tag != "NEG"), EDGE)
    if group.inverted:
        _limit_subject(source, group, k)
    # Refuse a question with *do* or a modal in which no inversion was found, such as "What does *furnished*
    # mean?", where the subject is not tagged as a noun.
    elif (group.verb.expanded in DO and following.tag in VERBS) or (
        group.verb.tag in ("AX", "MD")
        and (
            following.tag in ("PRS", "PRO", "DT", "PS", "EX")
            or following.lower in words_of("pronoun-subjects") | word_class("demonstratives")
        )
    ):
        raise RealisationError("unclear-clause", "the subject of the question was not found")
    return group


def _limit_subject(source: SentenceDraft, group: VerbGroup, k: int) -> None:
    """Find the last word of the subject in a question such as "Is the account free of charge?".

    Raises:
        RealisationError: The subject is not clear (``unclear-clause``).
    """
    if group.subject is None:
        raise RealisationError("unclear-clause", "the subject of the question was not found")
    tokens, (start, end) = source.tokens, group.subject
    # In "Is it bad news?", the subject is only *it*.
    if tokens[start].lower in words_of("pronoun-subjects"):
        end = start + 1
    # In "How was school today?", the subject is only *school*.
    elif end - start > 1 and tokens[end - 1].lower in TIME_NOUNS and tokens[end - 2].tag in NOUNS:
        end -= 1
    # In "Is the account free of charge?", the subject ends before *free*, the word of the top node.
    elif group.first == 0 and group.verb.is_be and len(group.chain) == 1:
        end = min([index for index in source.indices(k) if start < index < end], default=end)
        if end == len(tokens):
            raise RealisationError("unclear-clause", "the subject of the question was not found")
    # Refuse a question with a second subject: *you* in "When is the last time you saw it?"
    elif any(token.lower in words_of("pronoun-subjects") for token in tokens[start : end + 1]):
        raise RealisationError("unclear-clause", "the subject of the question is not clear")
    group.subject = (start, end)


def _refuse_formula(source: SentenceDraft) -> None:
    """Refuse words that are no question, or that nobody would repeat after "you know".

    Raises:
        RealisationError: The question is incomplete, too short or too long (``unclear-clause``), or it does
            not ask for an answer, such as "How are you?" (``unsupported-edit``).
    """
    tokens = source.tokens
    words = [token.lower for token in tokens]
    if not MIN_ASKED <= len(words) <= MAX_ASKED:
        raise RealisationError("unclear-clause", "the question is too short or too long")
    if any(token.tag in ("EN", "QT", "PU") or BROKEN.search(token.text) for token in tokens):
        raise RealisationError("unclear-clause", "the question contains a quotation, a comma or a break")
    if tokens[-1].lower in TITLES or is_dangling(tokens, 0) or tokens[-1].tag in ("MD", "PS", "DT", "CC"):
        raise RealisationError("unclear-clause", "the question is incomplete")
    if is_formula(source, words_of("question-formulas")):
        raise RealisationError("unsupported-edit", "the question is a formula, an offer or a request")
    # Refuse unreal conditions: "What would you do if you were me?" makes no sense with *I* and *you*
    # exchanged.
    if "if" in words and "were" in words:
        raise RealisationError("unclear-clause", "the question contains a condition that is not true")
    pointer = next((word for word in words if word in words_of("unasked-words")), None)
    if pointer is not None:
        raise RealisationError("unclear-clause", f"'{pointer}' in the question refers to another sentence")
