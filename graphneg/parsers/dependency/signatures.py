"""How an argument hangs on its predicate, in one word: ``nsubj``, ``prep_to``, ``poss``.

The tables count roles by these signatures, and the rules look roles up by them.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.parsers.dependency.words import Word

_CLAUSAL = frozenset({"ccomp", "xcomp", "advcl", "acl", "pcomp"})
_COPULAR = frozenset({"acomp", "attr", "oprd"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})


def signature(words: Sequence[Word], predicate: int, argument: int) -> str | None:
    """How ``argument`` (the head word of a phrase, or its preposition) hangs on ``predicate``.

    ``None`` where they are not within a preposition, a copula or a relative clause of each other.
    """
    pred, arg = words[predicate], words[argument]
    if arg.head == predicate and argument != predicate:
        if arg.dep == "prep" and not arg.kids:
            return f"prep_{arg.lower}"
        return clause_form(words, arg)
    if pred.head == argument and argument != predicate:
        return f"up_{pred.dep}" if pred.dep in {"amod", "relcl", "acl", "compound", "poss"} else None
    over = words[arg.head]
    if over.head == predicate and over.i != argument and arg.dep in {"pobj", "pcomp"}:
        return _under_preposition(pred, over, arg)
    copula = words[pred.head]
    if copula.lemma == "be" and pred.dep in _COPULAR and arg.head == copula.i and arg.dep in _SUBJECTS:
        return "cop_subj"
    return None


def clause_form(words: Sequence[Word], arg: Word) -> str:
    """The relation of a word; a clause's with its mark: ``advcl_if``, ``xcomp_to``, ``ccomp_vbd``."""
    if arg.dep in _CLAUSAL:
        marks = [words[k].lower for k in arg.kids if words[k].dep == "mark" or words[k].tag == "WRB"]
        kind = "to" if any(words[k].tag == "TO" for k in arg.kids) else arg.tag[:3].lower()
        return f"{arg.dep}_{marks[0] if marks else kind}"
    return arg.dep


def _under_preposition(pred: Word, over: Word, arg: Word) -> str | None:
    if over.dep == "agent":
        return "agent"
    if over.dep in {"prep", "dative"}:
        return f"prep_{over.lower}"
    return None


def phrase_head(words: Sequence[Word], start: int, end: int) -> int | None:
    """The word of ``words[start:end]`` that heads the others; below a preposition, its object."""
    for i in range(start, min(end, len(words))):
        head = words[i].head
        if not start <= head < end or head == i:
            if words[i].dep in {"prep", "agent", "dative"} and words[i].tag in {"IN", "TO"}:
                inner = [k for k in words[i].kids if words[k].dep in {"pobj", "pcomp"}]
                return inner[0] if inner else i
            return i
    return None


def word_class(word: Word) -> str:
    """``v``, ``n``, ``j``, ``r`` for open classes, the tag in lower case for the others.

    >>> word_class(Word(0, "Rome", "rome", "rome", "NNP", "PROPN", "ROOT", 0, 0, 4, 0))
    'n'
    """
    first = word.tag[:1] if word.tag[:2] in {"VB", "NN", "JJ", "RB"} else ""
    return first.lower() if first else word.tag.lower()
