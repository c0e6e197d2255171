"""Puts right how the dependency parser ties what is said to the verb that says it."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.parsers.dependency.rules.retying import crown, retie
from graphneg.parsers.dependency.words import Word

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_QUOTES = frozenset({'"', "\u201c", "\u201d", "''", "``"})
_ASIDE = frozenset({"parataxis", "ccomp", "advcl", "dep"})
_LONGEST_ASIDE = 9


def mend_quotation(words: Sequence[Word], said: Word) -> None:
    """Changes heads and relations around a verb of saying, in place."""
    _mend_inversion(words, said)
    _mend_aside(words, said)
    _mend_resumed(words, said)


def _mend_inversion(words: Sequence[Word], said: Word) -> None:
    """*"…" asked the prince*: what looks like an object is the subject."""
    kids = [words[k] for k in said.kids]
    early = next((one for one in kids if one.dep in _SUBJECTS and one.i < said.i), None)
    other = next((one for one in kids if one.dep == "nsubj" and one.i > said.i), None)
    if early is not None and other is not None:
        early.dep = "dobj"
        return
    late = next((one for one in kids if one.dep == "dobj" and one.i > said.i), None)
    if early is not None and late is not None and said.i and words[said.i - 1].text in _QUOTES:
        early.dep, late.dep = "ccomp", "nsubj"
        return
    if any(one.dep in _SUBJECTS or one.dep == "aux" for one in kids) or said.i == 0:
        return
    before = words[said.i - 1].text
    quoted = before in _QUOTES or (
        before in {",", "?", "!"} and any(k.dep == "ccomp" and k.i < said.i for k in kids)
    )
    after = next((one for one in kids if one.dep == "dobj" and one.i > said.i), None)
    if quoted and after is not None and said.tag in {"VBD", "VBZ"}:
        after.dep = "nsubj"


def _mend_resumed(words: Sequence[Word], said: Word) -> None:
    """*"…", he said, "and …"*: the second clause is joined to the first, not to *said*."""
    content = next((words[k] for k in said.kids if words[k].dep == "ccomp" and k < said.i), None)
    if content is None:
        _take_rest(words, said)
        return
    for k in list(said.kids):
        one = words[k]
        if one.dep in {"conj", "parataxis", "ccomp"} and one.i > said.i and one.tag[:2] in {"VB", "MD"}:
            first = min([one.i, *one.kids])
            between = words[said.i + 1 : first + 1]
            if any(mark.text in _QUOTES for mark in between):
                retie(words, one, content.i, "conj")
                for cc in [words[j] for j in said.kids if words[j].dep == "cc" and j > said.i]:
                    retie(words, cc, content.i, "cc")


def _take_rest(words: Sequence[Word], said: Word) -> None:
    """*"Yes," he said, "but I can come."*: what is joined to *said* behind the next mark is what he said."""
    for k in list(said.kids):
        one = words[k]
        own = any(words[j].dep in _SUBJECTS for j in one.kids)
        quoted = any(mark.text in _QUOTES for mark in words[said.i + 1 : k])
        if one.dep == "conj" and own and quoted and one.tag[:2] in {"VB", "MD"}:
            one.dep = "ccomp"
            for cc in [words[j] for j in said.kids if words[j].dep == "cc" and said.i < j < k]:
                retie(words, cc, k, "cc")
            return


def _mend_aside(words: Sequence[Word], said: Word) -> None:
    """*"This man," he said, "is busy."*: he said all of it, which the parser took for the main clause."""
    if said.dep not in _ASIDE or said.tag not in {"VBD", "VBZ", "VBP"}:
        return
    subject = next((words[k] for k in reversed(said.kids) if words[k].dep in _SUBJECTS), None)
    root = said
    while root.head != root.i:
        root = words[root.head]
    if subject is None or root.tag in _QUOTES:
        return
    first = min([said.i, subject.i, *subject.kids])
    closing = first > 0 and words[first - 1].text in _QUOTES
    after = range(max(said.i, subject.i) + 1, min(said.i + _LONGEST_ASIDE, len(words)))
    opening = any(words[k].text in _QUOTES and words[k - 1].text in {",", ".", ":"} for k in after)
    if closing and opening:
        inner = [
            k
            for k in said.kids
            if k < first and words[k].dep in {"npadvmod", "nsubj", "advmod", "intj", "cc"}
        ]
        crown(words, root, said)
        for k in inner:
            lacks = not any(words[j].dep in _SUBJECTS for j in root.kids)
            dep = "nsubj" if words[k].dep == "npadvmod" and lacks else words[k].dep
            retie(words, words[k], root.i, dep)
