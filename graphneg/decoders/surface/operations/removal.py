"""Remove the words of a subtree.

`drop` removes the words of a subtree together with the word that introduces them: "I saw it in Rome." -> "I
saw it." A subject or an object is replaced by *someone* or *something*: "My brother saw the dog." -> "My
brother saw something." A comma or conjunction that is no longer needed is also removed.
"""

from __future__ import annotations

from graphneg.decoders.surface.agreement import PEOPLE, agree_with, is_subject
from graphneg.decoders.surface.analysis.phrases import Phrase, phrase
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.decoders.surface.inflection import article, can_lack_article, pronoun_cases
from graphneg.decoders.surface.operations.grafts import splice
from graphneg.decoders.surface.refusal_rules import apply_rules
from graphneg.decoders.surface.refusals import refuse_bare_copula
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_class

# Tags of words that may occur between a determiner and the end of its noun phrase.
_MODIFIERS = frozenset({"JJ", "RB", "CD", "DT", "VBN", "VBG", *NOUNS})
# Maximum number of tokens in a list item.
_LIST_REACH = 7


def drop(sentence: SentenceDraft, k: int) -> None:
    """Remove the words of a subtree, and the word that introduces them, such as a preposition.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the top node of the subtree to remove.

    Raises:
        RealisationError: No word expresses the subtree (``no-alignment``), or the remaining sentence would be
            incomplete (``unclear-clause``).

    Example:
        Without ``plum``, "I like apples, pears, and plums." becomes "I like apples and pears." Without its
        object, "My brother saw the dog." becomes "My brother saw something."
    """
    node, tokens = sentence.node(k), sentence.tokens
    role = node.role or ""
    if role.startswith("snt"):
        indices = sorted(sentence.subtree_indices(k))
        if not indices:
            raise RealisationError("no-alignment", "no words are aligned with the sentence")
        # Find the sentence by the token in the middle of all aligned tokens. Some nodes may be wrongly
        # aligned with another sentence, so the first and the last token are less reliable.
        start, end = sentence.sentence_bounds(indices[len(indices) // 2])
        if end - start >= sum(token.tag != "QT" for token in tokens):
            raise RealisationError("unclear-clause", "the text consists only of this sentence")
        sentence.cut(start, end)
        return
    target = phrase(sentence, k)
    if target.kind == "determiner":
        _drop_determiner(sentence, target)
        return
    above = sentence.indices(node.parent) if node.parent is not None else []
    # True if the phrase to remove contains the word of the parent node. In "boa constrictors" with the graph
    # ``(b / boa :mod (c / constrictor))``, the phrase of ``constrictor`` contains *boa*.
    inner = bool(above) and target.start <= above[0] < target.head
    apply_rules(sentence, "drop", target.start, kind=target.kind, role=role, inner=inner)
    if target.kind == "possessive":
        sentence.rewrite(tokens[target.start], "the", "DT")
    elif target.kind not in ("nominal", "verb") or not _replace_argument(sentence, k, target):
        _remove(sentence, target, role.startswith("op"))


def _drop_determiner(sentence: SentenceDraft, target: Phrase) -> None:
    """Remove or replace a determiner: "this tale" -> "the tale", "six years" -> "years".

    Raises:
        RealisationError: The determiner cannot be removed, or no noun follows it (``unclear-clause``).
    """
    tokens, token = sentence.tokens, sentence.tokens[target.start]
    end = tokens.run_end(target.end, _MODIFIERS)
    if token.lower in word_class("unremovable-determiners") or end == target.end:
        raise RealisationError("unclear-clause", f"'{token.text}' can't be removed")
    head, following = tokens[end - 1], tokens[target.end]
    determined = tokens.get(target.start - 1).tag in ("DT", "PS", "POS") or following.tag in ("DT", "PS")
    if token.lower in word_class("demonstratives"):
        sentence.rewrite(token, "the", "DT")
    elif head.tag in ("NNS", "NNP") or determined or can_lack_article(head.lower):
        sentence.cut(target.start, target.end)
    else:
        sentence.rewrite(
            token, "the" if token.lower in word_class("quantifiers") else article(following.text), "DT"
        )


def _replace_argument(sentence: SentenceDraft, k: int, target: Phrase) -> bool:
    """Replace a subject or an object by an indefinite pronoun, or remove a possessor.

    Returns:
        True if the phrase was replaced or removed; False if it is no subject, no object and no possessor.
    """
    tokens, head = sentence.tokens, sentence.tokens[target.head]
    before, after = tokens.get(target.start - 1), tokens.get(target.end)
    if target.kind == "verb":
        # An infinitive after a verb becomes *something*: "I want to sleep" -> "I want something".
        infinitive = before.tag == "TO" and tokens.get(target.start - 2).tag in VERBS
        if infinitive:
            tokens[target.start - 1 : target.end] = [Token("something", "PN")]
        return infinitive
    if after.tag == "POS":
        # A possessor is removed, but its determiner is kept: "My dog's name is Rex" -> "My name is Rex".
        keeps = tokens[target.start].tag in ("PS", "DT") and target.start < target.head
        sentence.cut(target.start + keeps, target.end + 1)
        return True
    subject = is_subject(sentence, head)
    objective = before.tag in ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "AX", "NEG", "PRO")
    if not (subject or objective) or "CC" in (before.tag, after.tag):
        return False
    known = pronoun_cases(head.text)
    person = sentence.node(k).concept == "person" or head.lower in PEOPLE or (known and known[0][0] != "it")
    replacement = Token("someone" if person else "something", "PN")
    splice(sentence, target, [replacement])
    if subject:
        agree_with(sentence, replacement)
    return True


def _remove(sentence: SentenceDraft, target: Phrase, conjunct: bool) -> None:
    """Remove a phrase, and the preposition or conjunction that introduces the phrase."""
    tokens, start, end = sentence.tokens, target.start, target.end
    if target.kind in ("adjective", "adverb", "other", "nominal"):
        refuse_bare_copula(sentence, target)
    # Remove a preposition before the phrase: "I saw it in Rome" -> "I saw it".
    if target.kind not in ("adjective", "modifier", "adverb"):
        start = tokens.run_start(start, ("IN", "TO", "SC", "WP"))
    # Together with a noun, remove a preposition and a pronoun after it: "of it" in "the name of it".
    if target.kind == "nominal" and tokens.get(end).tag == "IN" and tokens.get(end + 1).tag == "PRO":
        end += 2
    if target.kind in ("verb", "clause", "predicate"):
        end = tokens.run_end(end, ("PRO",))
    if conjunct and _last_of_list(sentence, start, end):
        return
    before, after = tokens.get(start - 1), tokens.get(end)
    # If a conjunct is removed, also remove the conjunction next to it: *and pears* in "apples and pears".
    if conjunct and before.tag == "CC" and after.tag != "CC":
        start -= 1
    elif conjunct and after.tag == "CC" and before.tag not in ("PU", "EN"):
        end += 1
    before, after = tokens.get(start - 1), tokens.get(end)
    # If the phrase is between commas, or between a comma and an end mark, remove one comma.
    if before.text == "," and after.text in (",", ".", "!", "?"):
        start -= 1
    elif after.text == "," and before.tag in ("EN", "QT", "CC", "PU"):
        end += 1
    if start == 0 and end >= len(tokens) - 1:
        raise RealisationError("unclear-clause", "no words would remain")
    sentence.cut(start, end)


def _last_of_list(sentence: SentenceDraft, start: int, end: int) -> bool:
    """Remove the last item of a list: "a, b, and c" -> "a and b".

    Returns:
        True if the phrase is the last item of a list and was removed.
    """
    tokens = sentence.tokens
    if start < 3 or tokens[start - 1].lower not in word_class("conjunctions"):
        return False
    cut = start - 2 if tokens[start - 2].text == "," else start - 1
    reach = range(cut - 1, max(-1, cut - 1 - _LIST_REACH), -1)
    comma = next((index for index in reach if tokens[index].text == ","), None)
    if comma is None or any(token.tag in (*VERBS, "IN", "SC", "QT") for token in tokens[comma + 1 : cut]):
        return False
    tokens[comma].text, tokens[comma].tag, tokens[comma].original_index = tokens[start - 1].text, "CC", -1
    sentence.cut(cut, end)
    return True
