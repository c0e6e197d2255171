"""Remove the words of a subtree, and put a sentence under a new predicate.

`drop` removes the words of a subtree together with the word that introduces them: "I saw it in Rome." -> "I
saw it." If the verb needs the subject or object that is removed, *someone* or *something* replaces it. `wrap`
makes the sentence the complement of a verb such as *agree*, *doubt* or *refuse*: "You like it." becomes "I
doubt that you like it."

Input: the top node of the subtree, or the concept of the predicate and its subject. The sentence is edited in
place.
"""

from __future__ import annotations

from graphneg.decoders.surface.agreement import PEOPLE, agree_with, is_subject
from graphneg.decoders.surface.clauses import VerbGroup
from graphneg.decoders.surface.draft import Token, Tokens
from graphneg.decoders.surface.forms import Case, agree, article, may_be_bare, pronoun, pronoun_cases
from graphneg.decoders.surface.grafts import splice
from graphneg.decoders.surface.mood import assertion, end_plain, strip_to_base, uninvert
from graphneg.decoders.surface.sentence import Phrase, RealisationError, SentenceDraft, phrase
from graphneg.english.noun_kinds import lexeme
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_class, word_map

# If one of these determiners is removed from a singular noun, *the* replaces it, and not *a*.
_QUANTIFIERS = frozenset({"every", "each", "all", "both", "another", "either"})
# Tags of words that may occur between a determiner and the end of its noun phrase.
_MODIFIERS = frozenset({"JJ", "RB", "CD", "DT", "VBN", "VBG", *NOUNS})
# Tags of words that can begin another complement. If such a word follows, the verb still has a predicate
# after one complement is removed.
_COMPLEMENTS = frozenset({"JJ", "VBN", "VBG", "DT", "PS", "NN", "NNS", "PRO", "CD"})
# Maximum number of tokens of an item in a list.
_LIST_REACH = 7
# "I doubt that" is inserted after these adverbs and not before them: "So I doubt that ..."
_LEAD_ADVERBS = frozenset({"so", "then", "now", "therefore", "however", "thus", "well", "for"})
# Tags of words that can begin an adverbial before the subject. Such an adverbial is part of the clause.
_OPEN_CLAUSE = frozenset({"IN", "SC", "WP", "RB", "DT", "PS", "PRS", "PRO", "VBG", "NNP", "CD"})


def drop(sentence: SentenceDraft, k: int) -> None:
    """Remove the words of a subtree and the word that introduces them.

    Args:
        sentence: The sentence, edited in place.
        k: The number of the top node of the subtree.

    Raises:
        RealisationError: No word expresses the subtree (``no-alignment``), or the rest would be incomplete
            (``unclear-clause``).

    Example:
        Without ``plum``, "I like apples, pears, and plums." becomes "I like apples and pears." Without its
        object, "My brother saw the dog." becomes "My brother saw something."
    """
    node, tokens = sentence.node(k), sentence.tokens
    role = node.role or ""
    if role.startswith("snt"):
        indices = sorted(sentence.subtree_indices(k))
        if not indices:
            raise RealisationError("no-alignment", "no word stands for the sentence")
        # Take the sentence around the middle word, because some words may be wrongly aligned with tokens of
        # another sentence.
        start, end = sentence.sentence_bounds(indices[len(indices) // 2])
        if end - start >= sum(token.tag != "QT" for token in tokens):
            raise RealisationError("unclear-clause", "the sentence is all there is")
        sentence.cut(start, end)
        return
    target = phrase(sentence, k)
    if target.kind == "determiner":
        _drop_determiner(sentence, target)
        return
    above = sentence.indices(node.parent) if node.parent is not None else []
    # In "boa constrictors", the word *boa* of the subtree is part of a compound with the word of its parent.
    inner = bool(above) and target.start <= above[0] < target.head
    sentence.refuse("drop", target.start, kind=target.kind, role=role, inner=inner)
    if target.kind == "possessive":
        sentence.rewrite(tokens[target.start], "the", "DT")
    elif target.kind not in ("nominal", "verb") or not _replace_argument(sentence, k, target):
        _remove(sentence, target, role.startswith("op"))


def _drop_determiner(sentence: SentenceDraft, target: Phrase) -> None:
    """Remove or replace a determiner: "this tale" -> "the tale", "six years" -> "years".

    Raises:
        RealisationError: The noun needs its determiner, or there is no noun (``unclear-clause``).
    """
    tokens, token = sentence.tokens, sentence.tokens[target.start]
    end = tokens.over(target.end, _MODIFIERS)
    if token.low in ("a", "an", "the", "such", "what", "which") or end == target.end:
        raise RealisationError("unclear-clause", f"{token.text} can't be left out")
    head, following = tokens[end - 1], tokens[target.end]
    determined = tokens.at(target.start - 1).tag in ("DT", "PS", "POS") or following.tag in ("DT", "PS")
    if token.low in ("this", "that", "these", "those"):
        sentence.rewrite(token, "the", "DT")
    elif head.tag in ("NNS", "NNP") or determined or may_be_bare(head.low):
        sentence.cut(target.start, target.end)
    else:
        sentence.rewrite(token, "the" if token.low in _QUANTIFIERS else article(following.text), "DT")


def _replace_argument(sentence: SentenceDraft, k: int, target: Phrase) -> bool:
    """Replace a subject or an object by an indefinite pronoun, or remove a possessor.

    Returns:
        True if the phrase was replaced; False if it is none of these.
    """
    tokens, head = sentence.tokens, sentence.tokens[target.head]
    before, after = tokens.at(target.start - 1), tokens.at(target.end)
    if target.kind == "verb":
        # An infinitive after a verb becomes *something*: "I want to sleep" -> "I want something".
        infinitive = before.tag == "TO" and tokens.at(target.start - 2).tag in VERBS
        if infinitive:
            tokens[target.start - 1 : target.end] = [Token("something", "PN")]
        return infinitive
    if after.tag == "POS":
        # A possessor is removed: "My dog's name is Rex" -> "My name is Rex".
        keeps = tokens[target.start].tag in ("PS", "DT") and target.start < target.head
        sentence.cut(target.start + keeps, target.end + 1)
        return True
    subject = is_subject(sentence, head)
    objective = before.tag in ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "AX", "NEG", "PRO")
    if not (subject or objective) or "CC" in (before.tag, after.tag):
        return False
    known = pronoun_cases(head.text)
    person = sentence.node(k).concept == "person" or head.low in PEOPLE or (known and known[0][0] != "it")
    replacement = Token("someone" if person else "something", "PN")
    splice(sentence, target, [replacement])
    if subject:
        agree_with(sentence, replacement)
    return True


def _remove(sentence: SentenceDraft, target: Phrase, conjunct: bool) -> None:
    """Remove a phrase, and the preposition or conjunction that introduces it."""
    tokens, start, end = sentence.tokens, target.start, target.end
    if target.kind in ("adjective", "adverb", "other", "nominal"):
        _check_copula(sentence, target)
    # Remove a preposition before the phrase: "I saw it in Rome" -> "I saw it".
    if target.kind not in ("adjective", "modifier", "adverb"):
        start = tokens.back(start, ("IN", "TO", "SC", "WP"))
    # Remove a preposition and a pronoun after a noun: "of it" in "the name of it".
    if target.kind == "nominal" and tokens.at(end).tag == "IN" and tokens.at(end + 1).tag == "PRO":
        end += 2
    if target.kind in ("verb", "clause", "predicate"):
        end = tokens.over(end, ("PRO",))
    if conjunct and _last_of_list(sentence, start, end):
        return
    before, after = tokens.at(start - 1), tokens.at(end)
    # Remove the conjunction together with a conjunct: the *and* of "apples and pears".
    if conjunct and before.tag == "CC" and after.tag != "CC":
        start -= 1
    elif conjunct and after.tag == "CC" and before.tag not in ("PU", "EN"):
        end += 1
    before, after = tokens.at(start - 1), tokens.at(end)
    # If the phrase is between commas, or between a comma and an end mark, remove one comma.
    if before.text == "," and after.text in (",", ".", "!", "?"):
        start -= 1
    elif after.text == "," and before.tag in ("EN", "QT", "CC", "PU"):
        end += 1
    if start == 0 and end >= len(tokens) - 1:
        raise RealisationError("unclear-clause", "nothing would be left")
    sentence.cut(start, end)


def _last_of_list(sentence: SentenceDraft, start: int, end: int) -> bool:
    """Remove the last item of a list: "a, b, and c" -> "a and b".

    Returns:
        True if the phrase is the last item of a list and was removed.
    """
    tokens = sentence.tokens
    if start < 3 or tokens[start - 1].low not in ("and", "or"):
        return False
    cut = start - 2 if tokens[start - 2].text == "," else start - 1
    reach = range(cut - 1, max(-1, cut - 1 - _LIST_REACH), -1)
    comma = next((index for index in reach if tokens[index].text == ","), None)
    if comma is None or any(token.tag in (*VERBS, "IN", "SC", "QT") for token in tokens[comma + 1 : cut]):
        return False
    tokens[comma].text, tokens[comma].tag, tokens[comma].home = tokens[start - 1].text, "CC", -1
    sentence.cut(cut, end)
    return True


def _check_copula(sentence: SentenceDraft, target: Phrase) -> None:
    """Refuse to remove the only complement of a linking verb: "She is happy" must not become "She is"."""
    tokens, index = sentence.tokens, target.start
    while index and (tokens[index - 1].tag in ("RB", "NEG") or tokens[index - 1].text == ","):
        index -= 1
    verb, complete = tokens.at(index - 1), tokens.at(target.end).tag in _COMPLEMENTS
    links = verb.is_be or verb.lemma in ("become", "seem")
    if links and not complete and any(group.main == index - 1 for group in sentence.groups()):
        raise RealisationError("unclear-clause", "the verb would have no predicate")


def wrap(sentence: SentenceDraft, concept: str, person: str) -> None:
    """Put a sentence under a new predicate.

    Args:
        sentence: The sentence, edited in place.
        concept: The concept of the predicate.
        person: The subject of the predicate as a subject pronoun in lower case.

    Raises:
        RealisationError: The sentence cannot be embedded under a verb (``unclear-clause``,
            ``unsupported-edit``).

    Example:
        With ``agree-01``, "You like it." becomes "I agree that you like it." With ``refuse-01``, "Draw a
        sheep." becomes "I refuse to draw a sheep."
    """
    group, tokens = _first_clause(sentence, assertion(sentence, 0)), sentence.tokens
    start, _ = sentence.sentence_bounds(group.first)
    if group.asks and any(token.tag == "WP" for token in tokens[start : group.first]):
        raise RealisationError("unclear-clause", "a question with a question word can't stand under a verb")
    index = min(group.first, tokens.over(start, ("CC", "UH", "PU", "QT")))
    # Insert the new predicate after an introducing adverb: "So I like it" -> "So I doubt that I like it".
    while index < group.first and tokens[index].low in _LEAD_ADVERBS:
        if tokens[index + 1].tag in ("SC", "JJ", "RB"):
            break
        index += 2 if tokens[index + 1].text == "," else 1
    # Refuse sentences that begin with an apology ("Sorry, I like it"), an answer or thanks, and incomplete
    # sentences.
    answers = any(token.low in word_class("no-clauses") for token in tokens[start : index + 1])
    before = tokens[index : group.subject[0]] if group.subject is not None and not group.quotative else []
    marked = any(token.tag in ("PU", "EN") for token in before) and before[0].tag not in _OPEN_CLAUSE
    if answers or marked or tokens[index].tag == "TO" or is_dangling(tokens, index):
        raise RealisationError("unclear-clause", "something that is no clause can't stand under a verb")
    opener = _opener_of(concept, person)
    own = [token.low for token in group.said_of] == [person]
    # Refuse "I agree that I stayed", which nobody says.
    if own and concept in word_class("about-others"):
        raise RealisationError("kind-mismatch", f"nobody would {lexeme(concept)} with a claim about himself")
    if group.quotative and index == group.first:
        group.straighten()
    # A question becomes a statement first: "Do you like it?" -> "I doubt that you like it."
    if group.asks and group.subject is not None:
        uninvert(sentence, group)
        end_plain(sentence, tokens[index])
    elif group.kind == "imperative":
        _order_under(sentence, group, concept, person)
        return
    elif concept in ("order-01", "command-02", "demand-01", "recommend-01", "suggest-01", "propose-01"):
        if group.subject is None or group.quotative:
            raise RealisationError("unclear-clause", "no subject that could be ordered")
        # After these verbs, the clause has a plain verb form: "I demand that he go".
        strip_to_base(sentence, group)
    elif (
        concept == "refuse-01"
        and own
        and not group.negations
        and group.subject == (group.first - 1, group.first)
    ):
        # If both clauses have the same subject, use an infinitive: "I like it" -> "I refuse to like it".
        subject = group.said_of
        if len(group.chain) > 1 and tokens[group.main].tag == "VBG":
            raise RealisationError("unsupported-edit", "nobody refuses what he is doing")
        strip_to_base(sentence, group)
        tokens.remove(subject[0])
        opener = [*opener[:2], Token("to", "TO")]
    sentence.insert(index, *opener)


def is_dangling(tokens: Tokens, start: int) -> bool:
    """Return whether the text contains a *to* without its verb: "I'd love to, ...".

    Args:
        tokens: The tokens of the text.
        start: The index where the search begins.

    Returns:
        True if a mark or a conjunction follows a *to*.
    """
    ends = ("EN", "PU", "QT", "CC", "SC")
    return any(tokens[i].tag == "TO" and tokens.at(i + 1).tag in ends for i in range(start, len(tokens)))


def _first_clause(sentence: SentenceDraft, default: VerbGroup) -> VerbGroup:
    """Return the first main clause of the sentence, before which a new predicate is inserted."""
    start, end = sentence.sentence_bounds(default.first)
    for group in sentence.groups():
        if start <= group.first < end and group.is_main:
            opens = group.subject[0] if group.subject else group.first
            if opens == start or sentence.tokens.at(opens - 1).tag not in ("SC", "WP"):
                return group
    return default


def _opener(words: str, person: str) -> list[Token]:
    """Return tokens for a subject, its verb and the words after it: "I agree that".

    Args:
        words: The verb and the words after it: ``agree that``.
        person: The subject as a pronoun in lower case.

    Returns:
        The tokens; the verb agrees with the subject.
    """
    verb, *rest = words.split(" ")
    tags = {"that": "SC", "to": "TO"}
    subject = [Token(pronoun(person, Case.SUBJECT), "PRS"), Token(agree(verb, "VBP", person), "VBP")]
    return [*subject, *(Token(word, tags.get(word, "NN")) for word in rest)]


def _opener_of(concept: str, person: str) -> list[Token]:
    """Return the tokens that express a new predicate before its clause: "It is possible that"."""
    words = word_map("clause-openers").get(concept, f"{lexeme(concept)} that").replace("_", " ")
    if concept in ("possible-01", "obligate-01"):
        return [Token("it", "PRS"), Token("is", "AX"), Token(words, "JJ"), Token("that", "SC")]
    return _opener(words, person)


def _order_under(sentence: SentenceDraft, group: VerbGroup, concept: str, person: str) -> None:
    """Put an order under a predicate.

    Examples: "I order you to draw a sheep", "I refuse to draw a sheep", "I agree that you should draw a
    sheep".

    Raises:
        RealisationError: The order begins with "let us" or consists only of "please" (``unclear-clause``).
    """
    tokens, index = sentence.tokens, group.first
    negations, main = [tokens[negation] for negation in group.negations], tokens[group.main]
    if main.low == "let" and tokens[index + 1].low in ("'s", "us"):
        raise RealisationError("unclear-clause", "let us can't stand under a verb")
    if main.low == "please":
        raise RealisationError("unclear-clause", "please is no order")
    # Remove the negation and its *do*, and add *not* to the new clause: "Don't go" -> "I order you not to
    # go".
    for token in negations:
        tokens.remove(token)
    if negations and tokens[index].low == "do" and tokens[index] is not main:
        tokens.pop(index)
    no = [Token("not", "NEG")] if negations else []
    verb = _opener(lexeme(concept).split(" ")[0], person)
    if concept in ("order-01", "command-02", "ask-02", "tell-01", "advise-01"):
        opener = [*verb, Token("you", "PRO"), *no, Token("to", "TO")]
    elif concept in ("refuse-01", "promise-01"):
        opener = [*verb, *no, Token("to", "TO")]
    else:
        opener = [*_opener_of(concept, person), Token("you", "PRS"), Token("should", "MD"), *no]
    sentence.insert(index, *opener)
