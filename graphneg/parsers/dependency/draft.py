"""A graph in the making, and the words it is made of."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from graphneg.amr.penman import is_atom
from graphneg.english.lemmas import lemma_of
from graphneg.english.tokens import tokenize

# The words of a text as the rules see them: plain Python, read once from spaCy's arrays.


_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"})
_POS = {
    **dict.fromkeys(("NN", "NNS"), "NOUN"),
    **dict.fromkeys(("NNP", "NNPS"), "PROPN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    **dict.fromkeys(("JJ", "JJR", "JJS", "AFX"), "ADJ"),
    **dict.fromkeys(("RB", "RBR", "RBS", "WRB"), "ADV"),
    **dict.fromkeys(("PRP", "PRP$", "WP", "WP$", "EX"), "PRON"),
    **dict.fromkeys(("DT", "PDT", "WDT"), "DET"),
    **dict.fromkeys(("IN", "RP"), "ADP"),
    **dict.fromkeys(("CC",), "CCONJ"),
    **dict.fromkeys(("CD",), "NUM"),
    **dict.fromkeys(("MD",), "AUX"),
    **dict.fromkeys(("TO", "POS"), "PART"),
    **dict.fromkeys(("UH",), "INTJ"),
    **dict.fromkeys(("FW", "XX", "ADD", "GW", "LS", "NIL"), "X"),
    **dict.fromkeys(("SYM", "$", "#"), "SYM"),
    **dict.fromkeys(("_SP",), "SPACE"),
}


@dataclass(slots=True)
class Word:
    """A token of spaCy's. ``head`` is an index into the same list, its own where it is a root.

    ``start`` and ``end`` are characters of the text; ``kids`` are in order of the text.
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
        head = head - (1 << 64) if head >= 1 << 63 else head
        tag, dep = strings[tag_id], strings[dep_id]
        lower = text.lower().replace("’", "'")
        lemma = lemma_of(lower, tag)
        start = token.idx
        end = start + len(text)
        if places is not None:
            start, end = places[start], places[end - 1] + 1
        words.append(
            Word(
                i,
                text,
                lower,
                lemma,
                tag,
                _pos(tag, dep, lemma),
                dep,
                i + head,
                start + offset,
                end + offset,
                sentence,
            )
        )
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


def subtree(words: Sequence[Word], i: int) -> list[int]:
    """The indices of a word and all under it, in no order."""
    found = [i]
    for one in found:
        found.extend(words[one].kids)
    return found


# A graph in the making: what the rules write, the learned parts revise, and the assembler closes.
#
# A draft is not yet a tree: it holds nodes, directed arcs (always head to argument, never an inverse
# role) and the top of each sentence. Rules and revisers change it in place.


@dataclass(slots=True)
class DraftNode:
    """A concept (``concept``) or a constant (``value``), and the words that it comes from.

    ``token`` is the index in :attr:`Draft.words` of the word that it stands for, ``None`` where no
    word does; ``start`` and ``end`` are its characters in the text, -1 where there are none.
    ``rule`` names the rule that made it. A node that is ``gone`` has been deleted.
    ``mentions`` are further words that mean the same.
    """

    concept: str | None
    value: str | None
    token: int | None
    start: int
    end: int
    sentence: int
    rule: str
    gone: bool = False
    mentions: list[int] = field(default_factory=list[int])

    @property
    def label(self) -> str:
        """The concept, or the value of a constant."""
        return self.concept if self.concept is not None else (self.value or "")


@dataclass(slots=True)
class DraftArc:
    """``head`` and ``dep`` number nodes; the role is never inverse; ``rule`` made it."""

    head: int
    dep: int
    role: str
    rule: str


@dataclass(slots=True)
class Draft:
    """The draft of one piece of text. ``tops`` gives the top node of each sentence, in order."""

    text: str
    words: Sequence[Word]
    nodes: list[DraftNode] = field(default_factory=list[DraftNode])
    arcs: list[DraftArc] = field(default_factory=list[DraftArc])
    tops: dict[int, int] = field(default_factory=dict[int, int])
    warnings: list[str] = field(default_factory=list[str])

    def concept(
        self, concept: str, token: int | None, rule: str, sentence: int = 0, last: int | None = None
    ) -> int:
        """Adds a concept for the words ``token`` to ``last``; returns its number."""
        return self._add(concept, None, token, rule, sentence, last)

    def constant(
        self, value: str, token: int | None, rule: str, sentence: int = 0, last: int | None = None
    ) -> int:
        """Adds a constant as it will be written: ``-``, ``3``, ``"Paris"``."""
        return self._add(None, value, token, rule, sentence, last)

    def _add(
        self,
        concept: str | None,
        value: str | None,
        token: int | None,
        rule: str,
        sentence: int,
        last: int | None,
    ) -> int:
        start = end = -1
        if token is not None:
            word = self.words[token]
            start, end = word.start, self.words[token if last is None else last].end
            sentence = word.sentence
        self.nodes.append(DraftNode(concept, value, token, start, end, sentence, rule))
        return len(self.nodes) - 1

    def tie(self, node: int, token: int) -> None:
        """Notes the word that brings a node in but is no name for it: *?*, an order's verb. No span."""
        self.nodes[node].token = token

    def move(self, node: int, token: int) -> None:
        """Lets another word be what a node stands for."""
        word = self.words[token]
        one = self.nodes[node]
        one.token, one.start, one.end = token, word.start, word.end

    def link(self, head: int, role: str, dep: int, rule: str) -> None:
        """Adds an arc, unless it leads to its own head; the assembler drops what stands twice."""
        if head != dep:
            self.arcs.append(DraftArc(head, dep, role, rule))

    def redirect(self, old: int, new: int) -> None:
        """Lets all arcs of one node, and the tops that it was, be another's; it is gone then."""
        for arc in self.arcs:
            arc.head = new if arc.head == old else arc.head
            arc.dep = new if arc.dep == old else arc.dep
        self.arcs = [arc for arc in self.arcs if arc.head != arc.dep]
        gone, kept = self.nodes[old], self.nodes[new]
        gone.gone = True
        if gone.token is not None and gone.start >= 0:
            kept.mentions.append(gone.token)
        kept.mentions.extend(gone.mentions)
        for sentence, top in self.tops.items():
            if top == old:
                self.tops[sentence] = new

    def drop(self, node: int) -> None:
        """Deletes a node and its arcs; other nodes keep their numbers."""
        self.nodes[node].gone = True
        self.arcs = [arc for arc in self.arcs if arc.head != node and arc.dep != node]


# How an argument hangs on its predicate, in one word: ``nsubj``, ``prep_to``, ``poss``.
#
# The tables count roles by these signatures, and the rules look roles up by them.


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


# Characters to tokens: which tokens a node's words are.


def token_spans(text: str, places: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """The token range of each place ``(start, end)`` in characters; -1 has none.

    >>> token_spans("I can't go.", [(0, 1), (5, 7), (-1, -1)])
    {0: (0, 1), 1: (2, 3)}
    """
    tokens = tokenize(text)
    starts = [token.start for token in tokens]
    ends = [token.end for token in tokens]
    spans: dict[int, tuple[int, int]] = {}
    for k, (start, end) in enumerate(places):
        if start < 0:
            continue
        first, behind = bisect_right(ends, start), bisect_left(starts, end)
        if first < behind:
            spans[k] = (first, behind)
    return spans


# Repairs a draft before it is assembled: labels that can be written, no doubled polarity or mode.


_SINGLE = frozenset({"polarity", "mode", "wiki", "quant", "value"})
_FORBIDDEN = re.compile(r'[\s"()/:~#\\]+')


def repair(draft: Draft) -> None:
    """Makes labels writable and drops what the guidelines forbid, in place."""
    for node in draft.nodes:
        if node.concept is not None:
            node.concept = writable_concept(node.concept)
        elif not is_atom(node.value or "") or _is_variable(node.value or ""):
            node.value = quoted(node.value or "")
    draft.arcs = [arc for arc in draft.arcs if draft.nodes[arc.head].value is None]
    _drop_doubled(draft)
    _fill_names(draft)


def writable_concept(text: str) -> str:
    """The text as a concept that PENMAN can write.

    >>> writable_concept("and/or"), writable_concept("(")
    ('and-or', 'symbol')
    """
    if is_atom(text) and not text.startswith('"'):
        return text
    return _FORBIDDEN.sub("-", text).strip("-") or "symbol"


def quoted(text: str) -> str:
    """The text as a PENMAN string.

    >>> quoted('say "hi"')
    '"say \\\\"hi\\\\""'
    """
    inner = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


def _is_variable(value: str) -> bool:
    return re.fullmatch(r"[a-z]\d*", value) is not None


def _drop_doubled(draft: Draft) -> None:
    """One :polarity, one :mode, … a node, the first one; constants that this leaves alone go."""
    taken: dict[tuple[int, str], DraftArc] = {}
    for arc in list(draft.arcs):
        if arc.role in _SINGLE:
            first = taken.setdefault((arc.head, arc.role), arc)
            if first is not arc:
                if draft.nodes[arc.dep].value is not None:
                    draft.drop(arc.dep)
                else:
                    draft.arcs.remove(arc)
    linked = {arc.dep for arc in draft.arcs}
    for k, node in enumerate(draft.nodes):
        if node.value is not None and k not in linked:
            node.gone = True


def _fill_names(draft: Draft) -> None:
    """A name without :op gets one: its words, or itself."""
    headed = {arc.head for arc in draft.arcs if arc.role.startswith("op")}
    for k, node in enumerate(draft.nodes[:]):
        if node.concept == "name" and not node.gone and k not in headed:
            words = draft.text[node.start : node.end] if node.start >= 0 else "name"
            op = draft.constant(quoted(words), node.token, "repair", node.sentence)
            draft.link(k, "op1", op, "repair")
