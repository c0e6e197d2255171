"""The words of a text as the rules see them: a dependency tree in plain Python, read once from spaCy.

In: a ``Doc``. Out: a list of `Word`, each with its head, its children, and the characters that it stands
for. `signature` names the relation between two words, by which tables count roles and rules look them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphneg.english.lemmas import lemma_of

_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"})
_TAGS = {
    "NOUN": "NN NNS", "PROPN": "NNP NNPS", "VERB": "VB VBD VBG VBN VBP VBZ", "ADJ": "JJ JJR JJS AFX",
    "ADV": "RB RBR RBS WRB", "PRON": "PRP PRP$ WP WP$ EX", "DET": "DT PDT WDT", "ADP": "IN RP", "CCONJ": "CC",
    "NUM": "CD", "AUX": "MD", "PART": "TO POS", "INTJ": "UH", "X": "FW XX ADD GW LS NIL", "SYM": "SYM $ #",
    "SPACE": "_SP",
}  # fmt: skip
_POS = {tag: pos for pos, tags in _TAGS.items() for tag in tags.split()}


@dataclass(slots=True)
class Word:
    """A token of spaCy's. ``head`` is an index into ``tree``, its own where it is a root.

    ``start`` and ``end`` are characters of the text; ``kids`` are in order of the text; ``tree`` is the
    list of all words, this one included.
    """

    i: int
    text: str
    lower: str
    lemma: str
    tag: str
    pos: str
    dep: str
    head: int
    start: int
    end: int
    sentence: int
    kids: list[int] = field(default_factory=list[int])
    tree: Sequence[Word] = field(default=(), repr=False, compare=False)

    @property
    def parent(self) -> Word:
        """The word that it depends on; a root's is itself."""
        return self.tree[self.head]

    @property
    def previous(self) -> Word | None:
        """The word before it in the text."""
        return self.tree[self.i - 1] if self.i else None

    @property
    def following(self) -> Word | None:
        """The word after it in the text."""
        return self.tree[self.i + 1] if self.i + 1 < len(self.tree) else None

    @property
    def is_infinitive(self) -> bool:
        """Whether it has a *to* as its auxiliary."""
        return any(aux.tag == "TO" for aux in self.children("aux"))

    def children(self, *deps: str) -> list[Word]:
        """The words that depend on it by one of these relations (by any, if none is given), in order."""
        tree = self.tree
        return [tree[k] for k in self.kids if not deps or tree[k].dep in deps]

    def child(self, *deps: str) -> Word | None:
        """The first of `children`."""
        tree = self.tree
        for k in self.kids:
            if not deps or tree[k].dep in deps:
                return tree[k]
        return None

    def child_word(self, dep: str, *forms: str) -> Word | None:
        """The first word that depends on it by ``dep`` and is one of these, in lower case."""
        return next((kid for kid in self.children(dep) if kid.lower in forms), None)

    def subtree(self) -> list[Word]:
        """The word and all below it, in order of the text."""
        below: list[Word] = [self]
        for word in below:
            below.extend(word.children())
        return sorted(below, key=lambda word: word.i)


def read_words(doc: Any, offset: int = 0, places: Sequence[int] | None = None) -> list[Word]:
    """The words of a spaCy ``Doc``.

    ``offset`` is the place of the document's text in the whole text; ``places`` says where each of
    its characters stood, where that is not where it stands.
    """
    strings = doc.vocab.strings
    rows = doc.to_array(["TAG", "DEP", "HEAD", "SENT_START"]).tolist()
    words: list[Word] = []
    sentence = -1
    for token, (tag_id, dep_id, head, starts) in zip(doc, rows, strict=True):
        if starts == 1 or sentence < 0:
            sentence += 1
        i, text = token.i, token.text
        head = i + (head - (1 << 64) if head >= 1 << 63 else head)
        tag, dep = strings[tag_id], strings[dep_id]
        lower = text.lower().replace("’", "'")
        lemma = lemma_of(lower, tag)
        start, end = token.idx, token.idx + len(text)
        if places is not None:
            start, end = places[start], places[end - 1] + 1
        pos = _pos(tag, dep, lemma)
        start, end = start + offset, end + offset
        words.append(Word(i, text, lower, lemma, tag, pos, dep, head, start, end, sentence, [], words))
    for word in words:
        if word.head != word.i:
            words[word.head].kids.append(word.i)
    return words


def _pos(tag: str, dep: str, lemma: str) -> str:
    """The universal part of speech; of auxiliaries, only those that depend as such, and ``be``."""
    if tag in _VERBS and (lemma == "be" or dep in {"aux", "auxpass"}):
        return "AUX"
    if tag == "IN" and dep == "mark":
        return "SCONJ"
    return _POS.get(tag, "PUNCT")


def copy_words(words: Sequence[Word]) -> list[Word]:
    """The same words in a tree of their own, which rules may change."""
    copies: list[Word] = []
    copies.extend(replace(word, kids=list(word.kids), tree=copies) for word in words)
    return copies


def word_class(word: Word) -> str:
    """``v``, ``n``, ``j``, ``r`` for open classes, the tag in lower case for the others.

    >>> word_class(Word(0, "Rome", "rome", "rome", "NNP", "PROPN", "ROOT", 0, 0, 4, 0))
    'n'
    """
    first = word.tag[:1] if word.tag[:2] in {"VB", "NN", "JJ", "RB"} else ""
    return first.lower() if first else word.tag.lower()


# How an argument hangs on its predicate, in one word: ``nsubj``, ``prep_to``, ``poss``.

_CLAUSAL = frozenset({"ccomp", "xcomp", "advcl", "acl", "pcomp"})
_COPULAR = frozenset({"acomp", "attr", "oprd"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})


def signature(predicate: Word, argument: Word) -> str | None:
    """How ``argument`` (the head word of a phrase, or its preposition) hangs on ``predicate``.

    ``None`` where they are not within a preposition, a copula or a relative clause of each other.
    """
    above = argument.parent
    if above is predicate and argument is not predicate:
        if argument.dep == "prep" and not argument.kids:
            return f"prep_{argument.lower}"
        return clause_form(argument)
    if predicate.parent is argument and argument is not predicate:
        reverse = predicate.dep in {"amod", "relcl", "acl", "compound", "poss"}
        return f"up_{predicate.dep}" if reverse else None
    if above.parent is predicate and above is not argument and argument.dep in {"pobj", "pcomp"}:
        if above.dep == "agent":
            return "agent"
        return f"prep_{above.lower}" if above.dep in {"prep", "dative"} else None
    copula = predicate.parent
    subject = above is copula and argument.dep in _SUBJECTS
    return "cop_subj" if subject and copula.lemma == "be" and predicate.dep in _COPULAR else None


def clause_form(argument: Word) -> str:
    """The relation of a word; a clause's with its mark: ``advcl_if``, ``xcomp_to``, ``ccomp_vbd``."""
    if argument.dep in _CLAUSAL:
        kids = argument.children()
        marks = [kid.lower for kid in kids if kid.dep == "mark" or kid.tag == "WRB"]
        kind = "to" if any(kid.tag == "TO" for kid in kids) else argument.tag[:3].lower()
        return f"{argument.dep}_{marks[0] if marks else kind}"
    return argument.dep


def phrase_head(words: Sequence[Word], start: int, end: int) -> Word | None:
    """The word of ``words[start:end]`` that heads the others; below a preposition, its object."""
    for word in words[start:end]:
        if not start <= word.head < end or word.head == word.i:
            if word.dep in {"prep", "agent", "dative"} and word.tag in {"IN", "TO"}:
                return word.child("pobj", "pcomp") or word
            return word
    return None
