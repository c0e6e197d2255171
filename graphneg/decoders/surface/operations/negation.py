"""Add negation: do-support, contractions and negative words.

In AMR, a negation is always the constant ``:polarity -``. In English, it may be *not* after an auxiliary, a
determiner (*no*), a pronoun (*nobody*), an adverb (*never*) or a prefix (*un-*). `negate` chooses the form
that the clause needs. `affirmation.affirm` removes the negation, whatever its form.

Other words of the clause depend on its polarity, and change with it. *Some* becomes *any*, *already* becomes
*yet*, and a question tag changes its polarity: "You like some fish, don't you?" -> "You don't like any fish,
do you?" An *and* that joins objects becomes *or*: "I have a cough and a fever." -> "I do not have a cough or
a fever."

Examples: "I saw it." -> "I did not see it."; "There is a way." -> "There is no way."; "Everybody came." ->
"Not everybody came."
"""

from __future__ import annotations

from graphneg.decoders.surface.analysis.sentence import SCOPE_ENDS, QuestionTag, SentenceDraft, question_tag
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import EDGE, RealisationError, Token
from graphneg.decoders.surface.idioms import refuse_idiom
from graphneg.decoders.surface.inflection import (
    BE,
    DO,
    EXPANDED,
    HAVE,
    contracted_stem,
    verb_form,
)
from graphneg.decoders.surface.refusal_rules import apply_rules
from graphneg.decoders.surface.refusals import refuse_answer, refuse_negation
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import readings, word_class, word_map

# Maps words such as *some* to the words that replace them in negative clauses, such as *any*.
_ASSERTIVE = word_map("assertive")
# Subjects such as *everybody* that are negated by *not* before them: "Not everybody came".
_UNIVERSAL = word_class("universal")
# Maps words such as *somebody* to negative words such as *nobody*, which replace them as subjects.
_DENIED = word_map("denied")
# Adverbs of doubt such as *maybe*.
_DOUBTS = word_class("doubts")
# Tags of words that may occur between the first word of an exclamation and its subject: "How *very beautiful*
# you are!"
_BEFORE_QUALITY = frozenset({"JJ", "RB", "NN", "DT", "VBN", "WP", "SC"})


def negate(sentence: SentenceDraft, k: int) -> None:
    """Negate the clause that a node heads.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the node that heads the clause.

    Raises:
        RealisationError: No clause was found, or the clause cannot be negated (``unclear-clause``,
            ``already-negative`` or ``unsupported-edit``).

    Example:
        "I always saw it." becomes "I did not always see it."
    """
    group = sentence.predicate(k)
    # For some infinitives, negate the verb before *to*: "I have to go" -> "I do not have to go".
    if (
        group is not None
        and group.infinitive_marker
        and sentence.tokens[group.infinitive_marker - 1].lower in word_class("before-to")
    ):
        group = sentence.finite(group) or group
    if group is None:
        if not _negate_phrase(sentence, k):
            raise RealisationError("unclear-clause", f"no clause expresses {sentence.node(k).label}")
        return
    refuse_idiom(sentence, group.main)
    refuse_negation(sentence, group, sentence.node(k).label)
    refuse_answer(sentence, group.first)
    if _negate_subject(sentence, group):
        return
    _remove_doubt(sentence, group)
    _use_negative_words(sentence, group)
    _join_objects_by_or(sentence, group, k)
    _undo_exclamation(sentence, group)
    # The new *not* negates only the first of two joined verbs, so *and* becomes *but*: "I sang and danced" ->
    # "I did not sing but danced".
    for verb in sentence.conjuncts(group)[:1] if group.kind == "finite" and group.subject else ():
        index = sentence.tokens.index_of(verb)
        while index and sentence.tokens[index].lower != "and":
            index -= 1
        if sentence.tokens[index + 1].lower == "also":
            raise RealisationError(
                "unclear-clause", "only one of two verbs joined by 'and also' would be negated"
            )
        if verb.tag in ("VBD", "VBZ", "VBP"):
            sentence.rewrite(sentence.tokens[index], "but", "CC")
    tag = question_tag(sentence, group)
    if not _replace_still(sentence, group):
        _insert_not(sentence, group)
    if tag is not None and tag.negation is not None:
        turn_tag(sentence, tag)


def _negate_subject(sentence: SentenceDraft, group: VerbGroup) -> bool:
    """Negate a clause by changing its subject, if the subject is a word such as *everybody* or *somebody*.

    Examples: "Everybody came" -> "Not everybody came", "Somebody came" -> "Nobody came".

    Returns:
        True if the subject was changed and the clause is now negative.
    """
    tokens = sentence.tokens
    at, _ = sentence.sentence_bounds(group.first)
    # "Some of them came" becomes "None of them came". It does not become "Some of them did not come", which
    # may also be true.
    if tokens[at].lower == "some" and tokens.get(at + 1).lower == "of":
        is_first = all(other.first >= group.first for other in sentence.parse_verbs() if other.first > at)
        if is_first:
            sentence.rewrite(tokens[at], "none")
        return is_first
    if group.subject is None or group.kind != "finite":
        return False
    subject = tokens[group.subject[0]]
    if subject.lower in _UNIVERSAL:
        sentence.insert(group.subject[0], Token("not", "NEG"))
        return True
    if (denied := _DENIED.get(subject.lower)) is not None:
        sentence.rewrite(subject, denied)
    return denied is not None


def _remove_doubt(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Remove *maybe* or a similar adverb from a clause before it is negated.

    The reason is that "Maybe I did not see it" would not contradict "Maybe I saw it".

    Raises:
        RealisationError: The sentence contains such an adverb at another position, where it would remain
            (``unclear-clause``).
    """
    start, tokens = group.start, sentence.tokens
    for index in (group.first - 1, start - 1):
        if group.kind == "finite" and tokens.get(index).lower in _DOUBTS and not group.inverted:
            sentence.cut(index, index + 1)
            group.chain[:] = [verb - (verb > index) for verb in group.chain]
            if group.subject:
                first, end = group.subject
                group.subject = (first - (first > index), end - (end > index))
            return
    for token in tokens[sentence.sentence_bounds(start)[0] : start]:
        if token.lower in _DOUBTS:
            raise RealisationError(
                "unclear-clause",
                f"'{token.text}' would remain, so the sentences would not contradict each other",
            )


def _undo_exclamation(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Give an exclamation the word order of a statement: "How nice you are!" -> "You are nice!"."""
    tokens = sentence.tokens
    if group.subject is None or group.inverted or group.kind != "finite" or not tokens[group.main].is_be:
        return
    end = start = group.subject[0]
    while tokens.get(start - 1).tag in _BEFORE_QUALITY and tokens.get(start).lower != "how":
        start -= 1
    moved = tokens[start + 1 : end]
    if not moved or tokens[start].lower != "how" or moved[-1].tag not in ("JJ", "VBN"):
        return
    opened, shift = tokens[start].sentence_initial, end - start
    tokens[group.main + 1 : group.main + 1] = moved
    sentence.cut(start, end)
    group.chain = [index - shift for index in group.chain]
    group.subject = (group.subject[0] - shift, group.subject[1] - shift)
    tokens[start].sentence_initial = tokens[start].sentence_initial and opened


def _insert_not(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Insert a negation in the form and at the position that the verb group of the clause requires."""
    group.undo_quotative_inversion()
    verb, tokens = group.verb, sentence.tokens
    exists = group.subject is not None and tokens[group.subject[0]].tag == "EX"
    determiner = tokens.get(max(group.main + 1, group.subject[1])) if exists and group.subject else EDGE
    if group.kind == "imperative":
        _negate_imperative(sentence, group)
    elif verb.lower in ("'d", "had") and tokens.get(group.first + 1).lower == "better":
        # After *had better*, *not* follows *better*: "You'd better go" -> "You'd better not go".
        sentence.insert(group.first + 2, Token("not", "NEG"))
    elif group.kind != "finite":
        doer = tokens.get(tokens.run_start(group.first, ("RB",)) - 1)
        # In "I always meant to", the tagger may have tagged a finite verb as a participle. Refuse to negate
        # it.
        if group.infinitive_marker is None and doer.lower in word_class("subject-forms"):
            raise RealisationError(
                "unclear-clause", f"'{verb.text}' may be a finite verb instead of a participle"
            )
        sentence.insert(
            group.infinitive_marker if group.infinitive_marker is not None else group.first,
            Token("not", "NEG"),
        )
    elif determiner.lower in word_class("indefinite-determiners"):
        # After *there is*, the determiner becomes *no*: "There is a way" -> "There is no way".
        sentence.rewrite(determiner, "no", "DT")
    elif (
        # Some verbs take *not* without do-support: "I can" -> "I cannot", "I am" -> "I am not", "I have seen"
        # -> "I have not seen", "I do." -> "I do not."
        verb.tag == "MD"
        or verb.is_be
        or verb.lower == "'d"
        or (verb.expanded in DO and tokens.get(group.main + 1).tag in ("EN", "PU"))
        or (verb.expanded in HAVE | DO and len(group.chain) > 1)
    ):
        _add_negation(sentence, verb, group)
    # In "We're completely open", the tagger may take *open* for a verb. Negate *'re*, not *open*.
    elif (
        "ADJ" in readings(verb.lower) and (be := tokens.get(tokens.run_start(group.first, ("RB",)) - 1)).is_be
    ):
        verb.tag = "JJ"
        _add_negation(sentence, be, None)
    else:
        _support_by_do(sentence, group)


def _support_by_do(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Negate a clause with do-support: "I always saw it" -> "I did not always see it"."""
    verb, index, lemma, subject = group.verb, group.first, group.verb.lemma, group.subject_tokens
    tag = verb.tense
    if verb.lower == lemma == verb_form(lemma, "VBD"):
        # *put* and *read* do not show their tense. "She put it there" must be past, because it has no *-s*.
        # In other persons, assume the past only if the text contains another past form.
        third = subject and (
            subject[-1].lower in word_class("third-person") or subject[-1].tag in ("NN", "NNP")
        )
        others = [token for token in sentence.tokens if token is not verb]
        past = any(
            token.tag == "VBD" or token.lower in word_class("past-auxiliary-forms") for token in others
        )
        tag = "VBD" if third or past else "VBP"
    support, outside = Token(verb_form("do", tag), "AX"), word_class("outside-not")
    # Put *do* before adverbs such as *always*, but after those that must precede a negation: "It obviously
    # depends" -> "It obviously does not depend".
    first = group.subject[1] if group.subject else index
    inner = [token.tag == "RB" and token.lower not in outside for token in sentence.tokens[first:index]]
    while inner and inner.pop():
        index -= 1
    sentence.inflect(verb, "VB")
    sentence.insert(index, support)
    _add_negation(sentence, support, None)


def _add_negation(sentence: SentenceDraft, verb: Token, group: VerbGroup | None) -> None:
    """Add a negation to a finite verb: *n't* if the text contains contractions, otherwise *not*.

    In a question, *n't* directly follows the verb, but *not* follows the subject: "Can't you see it?", "Can
    you not see it?"
    """
    second = group.second if group is not None else EDGE
    subject_end = group.subject[1] if group is not None and group.inverted and group.subject else None
    perfect = second.lower == "have" and group is not None and len(group.chain) > 2
    # The clitic *'d* stands for *had* before a past participle ("I'd seen it"), otherwise for *would* ("I'd
    # see it").
    would = "had" if second.tag == "VBN" else "would"
    # Write out clitics: "I'll see it" -> "I will not see it". Before *have*, replace *must* by *can*: "You
    # must have seen it" -> "You cannot have seen it".
    full = {"'ve": "have", "'ll": "will", "'d": would, "must": "can" if perfect else "must"}.get(verb.lower)
    if verb.lower in word_class("modals-of-doubt") and group is not None and subject_end is None:
        full = _certain_modal(sentence, group)
    if full is not None:
        sentence.rewrite(verb, full)
    # Write *cannot* as one word, except in tokenised text: "I can see it" -> "I cannot see it".
    if verb.lower == "can" and not sentence.contracts and not sentence.tokenised and subject_end is None:
        sentence.rewrite(verb, "cannot")
        return
    # After the clitic *'s*, use *not*: "It's not", never "It'sn't".
    stem = contracted_stem(verb.text) if sentence.contracts and verb.lower != "'s" else None
    if stem is not None:
        sentence.rewrite(verb, stem)
    after = sentence.tokens.index_of(verb) + 1
    index = after if stem is not None or subject_end is None else subject_end
    sentence.insert(index, Token("not" if stem is None else "n't", "NEG"))


def _certain_modal(sentence: SentenceDraft, group: VerbGroup) -> str | None:
    """Return the modal that replaces *may* or *might* in a negative clause; None to keep the modal.

    "It might rain" and "It might not rain" can both be true, so *not* alone would contradict nothing. For an
    event, the modal becomes *will*: "It may rain" -> "It will not rain". For a state or a past event, it
    becomes *can*: "It may be true" -> "It cannot be true". A permission keeps its modal: "You may see it" ->
    "You may not see it".
    """
    tokens, main = sentence.tokens, sentence.tokens[group.main]
    low = tokens[group.subject[0]].lower if group.subject else ""
    state = main.is_be or (group.second.is_be and main.tag != "VBG")
    # Do not use *cannot* for "It may be able to", because "cannot be able to" is not English.
    state = state and tokens.get(group.main + 1).lower not in word_class("no-cannot")
    if state or (group.second.expanded == "have" and len(group.chain) > 2):
        return "can"
    asked = group.verb.lower == "may" and low in word_class("asks-permission")
    if asked and main.lemma not in word_class("stative-verbs"):
        return None
    past = any(token.tag == "VBD" for token in tokens[: group.first])
    return "would" if past else "will"


def _negate_imperative(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Negate an imperative: "Go home" -> "Do not go home", "Let's go" -> "Let's not go"."""
    tokens, index = sentence.tokens, group.first
    start, _ = sentence.sentence_bounds(index)
    # Test whether the order has another verb before this one. In "Sit down and listen", it is not clear which
    # of the two verbs to negate.
    continued = any(token.tag in VERBS for token in tokens[start:index])
    apply_rules(sentence, "negative-order", index, continued=continued)
    if tokens.begins_lets(index):
        sentence.insert(index + 2, Token("not", "NEG"))
        return
    while tokens.get(index - 1).lower in word_class("order-adverbs"):
        index -= 1
    sentence.insert(index, Token("do", "AX"), Token("n't" if sentence.contracts else "not", "NEG"))


def _negate_phrase(sentence: SentenceDraft, k: int) -> bool:
    """Negate a noun phrase, or a sentence without a verb.

    Examples: "A queer idea!" -> "No queer idea!", "Queer ideas!" -> "Not queer ideas!"

    Returns:
        True if the phrase is negative now; False if there is no suitable phrase.

    Raises:
        RealisationError: The clause of the phrase is negative already (``already-negative``).
    """
    tokens, indices, inner = sentence.tokens, sentence.indices(k), sentence.subtree_indices(k)
    if indices and sentence.is_noun(indices[0]):
        start, _ = sentence.noun_phrase(indices[0])
        before, clause = tokens.get(start - 1), sentence.finite_before(start)
        # Refuse "I won't say a word": "I won't say no word" would contain two negations.
        if clause is not None and clause.negations:
            raise RealisationError(
                "already-negative", f"the clause of {sentence.node(k).label} is negative already"
            )
        # Do not use *no* in "What a queer idea!" and "such a mess", where it cannot replace the article.
        if before.lower not in word_class("no-blockers"):
            if before.is_be:
                sentence.insert(start, Token("not", "NEG"))
                return True
            if tokens[start].lower in word_class("indefinite-determiners"):
                sentence.rewrite(tokens[start], "no", "DT")
                return True
    if not inner or any(child.value == "expressive" for child in sentence.graph.children(k)):
        return False
    start, end = sentence.sentence_bounds(min(inner))
    clause = any(start <= group.main < end for group in sentence.parse_verbs() if group.is_main)
    start = min(end, tokens.run_end(start, ("QT", "PU", "CC", "UH")))
    first = tokens.get(start)
    # Refuse "Sounds good", which has a verb without a subject. The tagger may take such a verb for a noun.
    negative = first.lower in word_class("negative-words") | {"not"}
    verbal = first.tag in ("WP", "VBZ", "VBP", "VBD") or first.lower in word_class("bare-verbs") | _DOUBTS
    if clause or start >= end or negative or verbal:
        return False
    refuse_idiom(sentence, start)
    sentence.insert(start, Token("not", "NEG"))
    return True


def _use_negative_words(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Replace words for affirmative clauses, such as *some*, by those for negative clauses, such as *any*.

    *Some* becomes *any*, and *and* between nouns after *any* becomes *or*. *Already* becomes *yet*, and *too*
    at the end of the clause becomes *either*. *Also* before the main verb is removed.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause. Its indices are adjusted if a word is removed.

    Example:
        "I saw it too." becomes "I saw it either.", to which the caller then adds *not*: "I did not see it
        either."
    """
    tokens = sentence.tokens
    if group.kind == "finite" and not group.inverted:
        # Remove *also*: "I can also swim" -> "I cannot swim".
        start = group.subject[1] if group.subject else group.first + 1
        near = range(start, min(group.main + 2, len(tokens)))
        for index in [index for index in near if tokens[index].lower == "also"][:1]:
            tokens.pop(index)
            group.chain[:] = [verb - (verb > index) for verb in group.chain]
    for token in tokens[max(0, group.first - 1) : group.main + 2]:
        # *already* becomes *yet*: "I have already seen it" -> "I have not yet seen it".
        if token.lower == "already":
            sentence.rewrite(token, "yet")
    is_any = False
    for index in range(group.main + 1, len(tokens)):
        token = tokens[index]
        # Skip a comma that does not end the clause: in "I like it, too", and in the list "I saw some birds,
        # some cats and a dog".
        final = ends_clause(sentence, index + 1)
        added = final and tokens.get(index + 1).lower in word_class("adding-adverbs")
        if token.text == "," and (added or (is_any and sentence.inside_list(index))):
            continue
        # Stop at the next clause. Its *some* stays *some*, because the negation does not affect it.
        if token.lower == "but" or token.tag in SCOPE_ENDS | {"PU", "AX", "MD", "VBD", "VBZ", "VBP"}:
            return
        if token.lower in _ASSERTIVE:
            sentence.rewrite(token, _ASSERTIVE[token.lower])
            is_any = True
        elif is_any and token.lower == "and" and tokens.get(index + 1).tag in (*NOUNS, "DT", "PS", "JJ"):
            # After *any*, *and* becomes *or*: "I like some tea and cake" -> "I do not like any tea or cake".
            sentence.rewrite(token, "or")
        elif token.lower in word_class("adding-adverbs") and ends_clause(sentence, index):
            # A final *too* or *also* becomes *either*: "I saw it too" -> "I did not see it either".
            sentence.rewrite(token, "either")


def _join_objects_by_or(sentence: SentenceDraft, group: VerbGroup, k: int) -> None:
    """Replace the *and* between the objects of a clause by *or*, if the negation denies each object.

    "I do not have a cough and a fever" may mean that the speaker has either a cough or a fever. "I do not
    have a cough or a fever" means that the speaker has neither.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause.
        k: The index of the node that is negated.
    """
    tokens = sentence.tokens
    # Keep *and* in "Don't you like tea and coffee?", because with *or*, the question would ask for a choice.
    # Keep *and* in "You did not mix the flour and the eggs", because *mix* needs both objects together.
    if group.inverted or tokens[group.main].lemma in word_class("collective-verbs"):
        return
    for child in sentence.graph.children(k):
        joint = [index for index in sentence.indices(child.position) if tokens[index].lower == "and"]
        is_object = child.concept == "and" and (child.role or "").startswith("ARG") and len(joint) == 1
        if is_object and joint[0] > group.main and _denies_each(sentence, group, child.position, joint[0]):
            sentence.rewrite(tokens[joint[0]], "or")


def _denies_each(sentence: SentenceDraft, group: VerbGroup, k: int, joint: int) -> bool:
    """Return whether the negation of a clause denies each of the objects that *and* joins.

    Args:
        sentence: The sentence being edited.
        group: The verb group of the clause.
        k: The index of the ``and`` node in the graph.
        joint: The index of the token *and*.

    Returns:
        True for "I do not have a cough and a fever". False if *and* joins clauses, or objects that belong
        together: "between A and B", "both A and B", "salt and pepper".
    """
    tokens = sentence.tokens
    end = max([joint + 1, *(index for index in sentence.subtree_indices(k) if index > joint)]) + 1
    inside = tokens[group.main + 1 : end]
    if any(token.tag in (*VERBS, "AX", "MD", "TO") or token.tag in SCOPE_ENDS for token in inside):
        return False
    if any(token.lower in word_class("joint-words") for token in inside):
        return False
    if tokens.get(end).lower == "together":
        return False
    before, after = (
        tokens[joint - 1],
        next((token for token in tokens[joint + 1 : end] if token.tag in NOUNS), EDGE),
    )
    # In "more and more" and "years and years", the repetition emphasizes the word, so *and* is kept.
    if before.lower == tokens[joint + 1].lower or tokens[joint + 1].lower in ("so", "all"):
        return False
    return word_map("joint-pairs").get(before.lemma) != after.lemma or after is EDGE


def _replace_still(sentence: SentenceDraft, group: VerbGroup) -> bool:
    """Negate a clause that contains *still* by replacing *still* with *no longer*.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause.

    Returns:
        True if *still* was replaced, so that the clause is negative now; False if the clause contains no
        *still* that can be replaced.

    Example:
        "I still live there." becomes "I no longer live there."
    """
    if group.kind != "finite" or group.subject is None or group.inverted:
        return False
    linked = sentence.tokens[group.main].expanded in BE
    for index in range(group.subject[1], min(group.main + 1 + linked, len(sentence.tokens))):
        if sentence.tokens[index].lower == "still":
            sentence.rewrite(sentence.tokens[index], "no", "NEG")
            sentence.insert(index + 1, Token("longer", "RB"))
            return True
    return False


def ends_clause(sentence: SentenceDraft, index: int) -> bool:
    """Return whether a word is the last word of its clause.

    Args:
        sentence: The sentence being edited.
        index: The index of the word.

    Returns:
        True if a punctuation mark follows the word.
    """
    return sentence.tokens.get(index + 1).tag in ("EN", "PU", "QT")


def turn_tag(sentence: SentenceDraft, tag: QuestionTag) -> None:
    """Change the polarity of a question tag: "do you?" <-> "don't you?".

    Args:
        sentence: The sentence, edited in place.
        tag: The question tag at the end of the sentence.

    Raises:
        RealisationError: The auxiliary cannot be contracted with *n't* (``unclear-clause``): "am I?".
    """
    verb = tag.verb
    if tag.negation is not None:
        sentence.tokens.remove(tag.negation)
        sentence.rewrite(verb, EXPANDED.get(verb.lower, verb.text))
    elif (stem := contracted_stem(verb.text)) is None:
        raise RealisationError(
            "unclear-clause", f"'{verb.text}' in the question tag can't be contracted with n't"
        )
    else:
        sentence.rewrite(verb, stem)
        sentence.insert(sentence.tokens.index_of(verb) + 1, Token("n't", "NEG"))
