"""Coordination, copulas, and direct speech."""

from __future__ import annotations

from graphneg.english.numbers import number_value
from graphneg.english.words import word_set_word_sets as word_set
from graphneg.parsers.dependency.draft import DraftArc, Word
from graphneg.parsers.dependency.rules.sketch import TIME_NOUNS, Sketch

# Coordination: ``and``, ``or``, ``contrast-01`` over conjuncts, and a conjunction that opens a sentence.


_CONCEPTS = {
    "and": "and",
    "or": "or",
    "nor": "or",
    "&": "and",
    "but": "contrast-01",
    "yet": "contrast-01",
    "plus": "and",
}
_OPENERS = {
    "but": ("contrast-01", "ARG2"),
    "and": ("and", "op2"),
    "or": ("or", "op2"),
    "yet": ("contrast-01", "ARG2"),
}
_PAIRED = frozenset({"both", "either", "neither"})


def groups(sketch: Sketch) -> list[list[int]]:
    """The conjuncts of each coordination, speakers that have a node, in order of the text."""
    found: dict[int, list[int]] = {}
    for word in sketch.words:
        if word.dep != "conj":
            continue
        first = word
        for _ in range(len(sketch.words)):
            if first.dep != "conj" or first.head == first.i:
                break
            first = sketch.words[first.head]
        found.setdefault(first.i, [first.i]).append(word.i)
    return list(found.values())


def write_coordination(sketch: Sketch) -> dict[int, list[int]]:
    """Puts a conjunction over each group of conjuncts; gives each group's speakers by its first."""
    written: dict[int, list[int]] = {}
    for group in reversed(groups(sketch)):
        members = [one for one in dict.fromkeys(sketch.speaker(i) for i in group) if one in sketch.outer]
        if len(members) < 2:
            continue
        concept, anchor = _conjunction(sketch, group)
        node = sketch.draft.concept(concept, anchor, "coordination", sketch.words[members[0]].sentence)
        mark = _mark_between(sketch, group) if anchor is None else None
        if mark is not None:
            sketch.draft.tie(node, mark)
        shared = _shared_modal(sketch, members)
        tops = [sketch.outer[member] for member in members]
        if shared is not None:
            tops[0], shared.dep = shared.dep, node
        else:
            sketch.outer[members[0]] = node
        for n, top in enumerate(tops, 1):
            role = f"ARG{min(n, 2)}" if concept == "contrast-01" else f"op{n}"
            sketch.link(node, role, top, "coordination")
        for member in members[1:]:
            sketch.done.add(member)
        written[members[0]] = members
    return written


def _mark_between(sketch: Sketch, group: list[int]) -> int | None:
    """The comma or other mark that joins the first two conjuncts."""
    between = range(group[0] + 1, group[1])
    return next((i for i in reversed(between) if sketch.words[i].tag in {",", ":"}), None)


def _shared_modal(sketch: Sketch, members: list[int]) -> DraftArc | None:
    """The arc from a modal that holds for all conjuncts: *you should sit and wait*."""
    outer = sketch.outer[members[0]]
    if sketch.draft.nodes[outer].rule != "modal" or outer == sketch.core[members[0]]:
        return None
    for member in members[1:]:
        word = sketch.words[member]
        own = sketch.kid(member, "nsubj", "nsubjpass", "aux", "expl")
        if word.tag not in {"VB", "VBN"} or own is not None:
            return None
    return next((arc for arc in sketch.draft.arcs if arc.head == outer and arc.rule == "modal"), None)


def _conjunction(sketch: Sketch, group: list[int]) -> tuple[str, int | None]:
    found: list[Word] = []
    for one in group:
        found.extend(sketch.kids(one, "cc"))
    for cc in found:
        if cc.lower in _CONCEPTS and cc.lower not in _PAIRED:
            concept = _CONCEPTS[cc.lower]
            if concept == "contrast-01" and len(group) > 2:
                continue
            return concept, cc.i
    if any(cc.lower in {"either", "neither"} for cc in found):
        return "or", found[0].i
    return "and", None


def write_openers(sketch: Sketch, root: Word) -> None:
    """*But …* and *And …* at the start of a sentence: ``contrast-01 :ARG2``, ``and :op2``."""
    speaker = sketch.speaker(root.i)
    if speaker not in sketch.outer:
        return
    found = sketch.kids(root.i, "cc")
    if speaker != root.i:
        found += sketch.kids(speaker, "cc")
    for cc in found[::-1]:
        if cc.i < root.i and cc.lower in _OPENERS and _opens(sketch, cc):
            concept, role = _OPENERS[cc.lower]
            sketch.above(concept, cc.i, speaker, role, "opener")


def write_consequence(sketch: Sketch, root: Word) -> None:
    """*So …*: ``cause-01 :ARG1``; *Because …* alone: ``cause-01 :ARG0``."""
    speaker = sketch.speaker(root.i)
    if speaker not in sketch.outer:
        return
    for one in sketch.kids(root.i, "advmod", "mark", "cc"):
        following = sketch.words[one.i + 1].tag[:2] if one.i + 1 < len(sketch.words) else ""
        then = one.i + 1 < len(sketch.words) and sketch.words[one.i + 1].lower == "then"
        degree = one.lower == "so" and following in {"JJ", "RB"} and not then
        if one.lower in {"so", "therefore", "thus"} and one.i < root.i and _opens(sketch, one) and not degree:
            if one.i in sketch.core:
                node = sketch.core[one.i]
                sketch.draft.drop(node)
                sketch.core.pop(one.i)
                sketch.outer.pop(one.i)
            sketch.above("cause-01", one.i, speaker, "ARG1", "so")
        elif one.lower in {"because", "for"} and one.dep == "mark":
            sketch.above("cause-01", one.i, speaker, "ARG0", "because")


def _opens(sketch: Sketch, cc: Word) -> bool:
    """Whether nothing but marks, interjections and other conjunctions stand before it."""
    place = cc.i - 1
    while place >= 0 and sketch.words[place].sentence == cc.sentence:
        before = sketch.words[place]
        if before.tag not in {"``", "''", "CC", "UH", ",", ":", ".", "-LRB-", "NFP", "HYPH"}:
            return False
        place -= 1
    return True


# Copulas: the predicate speaks for *be*; places, likeness and mere being get a frame of their own.


_PLACES = frozenset(
    {"here", "there", "where", "away", "outside", "inside", "upstairs", "downstairs", "home", "nearby"}
)
_PREDICATES = ("acomp", "attr", "oprd", "ccomp", "xcomp")
_LIGHT = word_set(
    "not also just too now then always never only still already ever indeed really so again yet"
)
_SEEMING = frozenset({"seem", "appear", "happen"})
_AFFECTING = word_set("tire please surprise amuse interest annoy bother hurt help matter pay cost")
_PLACED = {"like": "resemble-01", "from": "be-from-91", "near": "near-02"}
_SPEAKING = frozenset({"like", "near"})
"""Prepositions that the frame is called after."""
_LOCATIVE = word_set("""
    in on at near behind under above below beside between among inside outside around over
""")


def resolve_copulas(sketch: Sketch) -> None:
    """Finds the word that speaks for each *be* that is no auxiliary."""
    for word in sketch.words:
        if word.tag[:2] == "JJ" and word.dep == "ROOT" and sketch.kid(word.i, "nsubj") is None:
            below = sketch.kid(word.i, "xcomp", "advcl", "ccomp")
            if below is not None and any(one.tag == "TO" for one in sketch.kids(below.i, "aux")):
                sketch.forms[below.i] = "cop_subj"
        if word.lemma == "be" and word.tag[:2] == "VB" and word.dep not in {"aux", "auxpass"}:
            _resolve(sketch, word)
        elif word.lemma in _SEEMING or word.lemma in _AFFECTING:
            _resolve_delayed(sketch, word)


def resolve_futures(sketch: Sketch) -> None:
    """*is going to rain*, *let's go*: the verb below speaks for *going* and *let*."""
    for word in sketch.words:
        if word.lower in {"let", "lets"} and word.tag[:2] == "VB":
            below = sketch.kid(word.i, "ccomp", "xcomp")
            us = below is not None and sketch.kid(below.i, "nsubj")
            if below is not None and us and us.lower in {"'s", "us"}:
                sketch.stand_in[word.i] = below.i
        if (
            word.lemma == "go"
            and word.tag in {"VBG", "VB"}
            and sketch.kid(word.i, "dobj", "prep", "prt") is None
        ):
            verb = sketch.kid(word.i, "xcomp")
            to = verb is not None and any(one.tag == "TO" for one in sketch.kids(verb.i, "aux"))
            if verb is not None and to and sketch.kid(word.i, "aux") is not None:
                sketch.stand_in[word.i] = verb.i


def _resolve(sketch: Sketch, be: Word) -> None:
    existential = sketch.kid(be.i, "expl") is not None
    predicate = _predicate(sketch, be)
    if predicate is not None and existential:
        verb = sketch.kid(predicate.i, "acl")
        place = _place(sketch, be)
        if verb is None and place is not None and place.tag != "WRB":
            sketch.add("be-located-at-91", be.i, "copula")
            return
    subject = sketch.kid(be.i, "nsubj")
    if predicate is not None and subject is not None and _is_number(sketch, predicate):
        sketch.stand_in[be.i] = subject.i
        sketch.forms[predicate.i] = "value"
        return
    if predicate is not None:
        sketch.stand_in[be.i] = predicate.i
        _resolve_extraposed(sketch, be, predicate)
        _resolve_naming(sketch, be, predicate)
        return
    place = _place(sketch, be)
    if place is not None:
        node = sketch.add(_PLACED.get(place.lower, "be-located-at-91"), be.i, "copula")
        if place.lower in _SPEAKING:
            sketch.draft.move(node, place.i)
        return
    other = _other(sketch, be)
    if other is not None:
        sketch.stand_in[be.i] = other.i


def _is_number(sketch: Sketch, word: Word) -> bool:
    """Whether the predicate is a bare number: *the code is 2*."""
    node = sketch.core.get(word.i)
    if node is not None:
        return sketch.draft.nodes[node].value is not None
    return word.tag == "CD" and word.i not in sketch.stand_in and number_value(word.lower) is not None


def _resolve_extraposed(sketch: Sketch, be: Word, predicate: Word) -> None:
    """*It is hard to say*: the clause is the subject, *it* is nothing."""
    it = next((one for one in sketch.kids(be.i, "nsubj", "expl") if one.lower == "it"), None)
    if it is None or predicate.tag[:2] not in {"JJ", "NN"}:
        return
    for one in (
        *sketch.kids(predicate.i, "xcomp", "ccomp"),
        *sketch.kids(be.i, "ccomp", "xcomp", "advcl", "csubj"),
    ):
        infinitive = one.tag == "VBG" or any(k.tag == "TO" for k in sketch.kids(one.i, "aux"))
        that = any(k.lower == "that" for k in sketch.kids(one.i, "mark"))
        if one.i > predicate.i and (infinitive or that):
            sketch.forms[one.i] = "cop_subj"
            sketch.done.add(it.i)
            return


def _resolve_delayed(sketch: Sketch, verb: Word) -> None:
    """*It seems that he left*, *it tires me to walk*: *it* is nothing but the clause."""
    it = next((one for one in sketch.kids(verb.i, "nsubj") if one.lower == "it"), None)
    for one in sketch.kids(verb.i, "ccomp", "xcomp", "advcl"):
        infinitive = any(k.tag == "TO" for k in sketch.kids(one.i, "aux"))
        that = any(k.lower == "that" for k in sketch.kids(one.i, "mark"))
        if it is not None and one.i > verb.i and (infinitive or that):
            sketch.done.add(it.i)
            if verb.lemma in _AFFECTING:
                sketch.forms[one.i] = "nsubj"
            return


def _resolve_naming(sketch: Sketch, be: Word, predicate: Word) -> None:
    """*My name is Tom*: I am Tom."""
    name = sketch.kid(be.i, "nsubj")
    owner = sketch.kid(name.i, "poss") if name is not None else None
    if name is not None and owner is not None and name.lemma == "name" and predicate.i in sketch.core:
        sketch.stand_in[name.i] = owner.i


def _other(sketch: Sketch, be: Word) -> Word | None:
    """What speaks for *be* without a predicate: a phrase, an adverb that can be one, the subject."""
    for one in sketch.kids(be.i, "prep"):
        inner = sketch.kid(one.i, "pobj", "pcomp")
        if inner is not None:
            return inner
    for one in sketch.kids(be.i, "npadvmod", "advmod", "advcl"):
        if one.tag not in {"WRB", "RB"} or (one.i > be.i and one.lower not in _LIGHT):
            return one
    return sketch.kid(be.i, "nsubj")


def _predicate(sketch: Sketch, be: Word) -> Word | None:
    found = sketch.kids(be.i, *_PREDICATES)
    for dep in _PREDICATES:
        for one in found:
            if one.dep == dep and one.tag != "WRB" and not (one.lower in _PLACES and dep == "acomp"):
                return one
    return None


def _place(sketch: Sketch, be: Word) -> Word | None:
    """The preposition or adverb that says where."""
    source = next((one for one in sketch.kids(be.i, "prep") if one.lower == "from"), None)
    if source is not None and _has_origin(sketch, be, source):
        return source
    for k in be.kids:
        one = sketch.words[k]
        if one.dep == "prep" and (one.lower in _LOCATIVE or one.lower == "like"):
            inner = sketch.kid(one.i, "pobj")
            if inner is not None and inner.lemma not in TIME_NOUNS:
                return one
        if one.dep in {"advmod", "acomp"} and one.lower in _PLACES:
            return one
    return None


def _has_origin(sketch: Sketch, be: Word, source: Word) -> bool:
    """*is from Oslo*, *Where is she from?*, but not *is from six to eight*."""
    inner = sketch.kid(source.i, "pobj")
    if inner is None:
        return any(one.lower == "where" for one in sketch.kids(be.i, "advmod"))
    return inner.lemma not in TIME_NOUNS and inner.tag != "CD"


def is_copular(sketch: Sketch, word: Word) -> bool:
    """Whether a *be* is linked to its predicate by a stand-in."""
    return word.lemma == "be" and word.i in sketch.stand_in


# Direct speech across sentence marks, and the clauses beside a verb of saying.


SPEECH = word_set("""
    say ask reply answer cry exclaim demand add tell murmur shout whisper repeat call remark continue
    object declare announce begin explain inquire respond sigh think protest insist mutter
    retort remind echo wonder yell snap plead beg admit agree reflect state
""")
ANSWERS = frozenset({"answer-01", "reply-01", "respond-01"})
"""Their ``ARG1`` is who or what is answered, their ``ARG2`` the answer."""
_QUOTES = frozenset({"``", "''", '"'})


def join_speech(sketch: Sketch, roots: list[Word]) -> list[Word]:
    """Makes quoted sentences beside *he said* its ``ARG1``; gives the roots that remain.

    *"Where are they?" he asked.* and *He asked: "Where are they?"*
    """
    left: list[Word] = []
    for root in roots:
        if root.tag in _QUOTES:
            continue
        before = left[-1] if left else None
        if before is not None and _reports_before(sketch, before, root):
            if _take(sketch, root, before):
                left[-1] = root
                continue
        elif before is not None and _reports_after(sketch, before, root) and _take(sketch, before, root):
            continue
        left.append(root)
    return left


def _reports_before(sketch: Sketch, quote: Word, said: Word) -> bool:
    """Whether ``said`` is the *he asked* behind a quotation."""
    if said.lemma not in SPEECH or said.tag[:2] != "VB" or _has_content(sketch, said):
        return False
    first = _first(sketch, said)
    opening = sketch.words[first]
    if opening.tag in _QUOTES and first + 1 < len(sketch.words):
        opening = sketch.words[first + 1]
        return opening.text[:1].islower() or opening.tag in {"NNP", "PRP"}
    return opening.text[:1].islower() and first > 0 and _follows(sketch, quote, said)


def _follows(sketch: Sketch, quote: Word, said: Word) -> bool:
    """Whether nothing but marks stands between the two sentences."""
    between = [word for word in sketch.words if quote.sentence < word.sentence < said.sentence]
    return quote.sentence < said.sentence and all(word.tag in _QUOTES for word in between)


def _reports_after(sketch: Sketch, said: Word, quote: Word) -> bool:
    """Whether a quotation follows *he asked:*."""
    if said.lemma not in SPEECH or said.tag[:2] != "VB" or _has_content(sketch, said):
        return False
    first = _first(sketch, quote)
    marks = {sketch.words[k].text for k in range(max(0, first - 2), min(first + 1, len(sketch.words)))}
    return ":" in marks


def _has_content(sketch: Sketch, said: Word) -> bool:
    return sketch.kid(said.i, "ccomp", "dobj", "parataxis") is not None


def _first(sketch: Sketch, root: Word) -> int:
    first = root.i
    while first > 0 and sketch.words[first - 1].sentence == root.sentence:
        first -= 1
    return first


def _take(sketch: Sketch, said: Word, quote: Word) -> bool:
    head, dep = sketch.speaker(said.i), sketch.speaker(quote.i)
    if head not in sketch.core or dep not in sketch.outer:
        return False
    role = "ARG2" if sketch.concept_of(head) in ANSWERS else "ARG1"
    sketch.link(sketch.core[head], role, sketch.outer[dep], "speech")
    for node in sketch.draft.nodes:
        if node.sentence == quote.sentence:
            node.sentence = said.sentence
    return True
