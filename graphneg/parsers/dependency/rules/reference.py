"""Reentrancy: shared subjects and objects, control, and pronouns that mean the same."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.english.words import word_set_word_sets as word_set
from graphneg.parsers.dependency.draft import Word
from graphneg.parsers.dependency.rules.coordination import SPEECH
from graphneg.parsers.dependency.rules.roles import subject_role
from graphneg.parsers.dependency.rules.sketch import REFLEXIVES, Sketch

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECT_CONTROL = word_set("""
    ask tell want make let help force allow order beg invite teach advise permit persuade enable expect
    see hear watch get have need like require urge command oblige cause leave keep find send set
""")
_PEOPLE = word_set("""
    man woman boy girl child king queen prince princess father mother brother sister son daughter uncle aunt
    friend teacher doctor student player baby lady gentleman guy kid person husband wife boss guest
    geographer astronomer businessman fellow
""")
_REFERS = {
    "it": "thing", "its": "thing", "he": "person", "she": "person", "his": "person", "him": "person",
    "her": "person", "they": "people", "them": "people", "their": "people",
}  # fmt: skip
_SAME = frozenset({"i", "you", "he", "she", "it", "we", "they"})


def write_shared(sketch: Sketch, written: dict[int, list[int]]) -> None:
    """Conjoined verbs share a subject; infinitives and participles take the one above them."""
    for first, members in written.items():
        subject = _subject(sketch, first)
        if subject is None:
            continue
        for member in members[1:]:
            _lend(sketch, member, subject)
    for word in sketch.words:
        if word.dep in {"xcomp", "advcl", "pcomp"} and sketch.speaker(word.i) in sketch.core:
            giver = _controller(sketch, word)
            if giver is not None:
                _lend(sketch, sketch.speaker(word.i), giver)
                for member in written.get(sketch.speaker(word.i), [])[1:]:
                    _lend(sketch, member, giver)


def _subject(sketch: Sketch, verb: int) -> Word | None:
    own = sketch.kid(verb, *_SUBJECTS)
    if own is None:
        head = sketch.words[verb]
        if sketch.stand_in.get(head.head) == verb:
            own = sketch.kid(head.head, *_SUBJECTS)
    return own


def _controller(sketch: Sketch, word: Word) -> Word | None:
    """The word whose referent does what the clause says."""
    if sketch.kid(word.i, *_SUBJECTS) is not None:
        return None
    head = sketch.words[word.head]
    if word.dep == "pcomp":
        head = sketch.words[head.head]
    if word.dep == "advcl" and word.tag not in {"VBG", "VB", "VBN"}:
        return None
    if word.dep == "xcomp":
        given = sketch.kid(head.i, "dobj", "dative")
        if given is not None and head.lemma in _OBJECT_CONTROL and given.i < word.i:
            return given
    for _ in range(8):
        found = _subject(sketch, head.i)
        if found is not None:
            return found
        if head.dep not in {"conj", "xcomp"} or head.head == head.i:
            return None
        head = sketch.words[head.head]
    return None


def _lend(sketch: Sketch, verb: int, subject: Word) -> None:
    """Links a verb that has no subject to another's."""
    word = sketch.words[verb]
    giver = sketch.speaker(subject.i)
    if word.tag[:2] not in {"VB", "JJ"} or giver not in sketch.outer or _subject(sketch, verb) is not None:
        return
    passive = any(one.dep == "auxpass" for one in sketch.kids(verb, "auxpass")) or word.tag == "VBN"
    form = "nsubjpass" if passive else ("cop_subj" if word.tag[:2] == "JJ" else "nsubj")
    role = subject_role(sketch, verb, form, subject.lemma)
    if role is not None:
        sketch.link(sketch.core[verb], role, sketch.outer[giver], "shared")


def merge_speakers(sketch: Sketch) -> None:
    """In *"I know you", she told him*, *I* is she and *you* is he."""
    spoken = quoted_words(sketch.words)
    if not spoken:
        return
    for word in sketch.words:
        if word.lemma in SPEECH and word.tag[:2] == "VB" and word.i in sketch.core and word.i not in spoken:
            roles = {arc.role: arc.dep for arc in sketch.draft.arcs if arc.head == sketch.core[word.i]}
            for pronoun, role in (("i", "ARG0"), ("you", "ARG2")):
                meant = roles.get(role)
                if meant is None or sketch.draft.nodes[meant].gone:
                    continue
                if sketch.draft.nodes[meant].concept not in {None, "amr-unknown"}:
                    _identify(sketch, pronoun, meant, spoken)
            return


def _identify(sketch: Sketch, pronoun: str, meant: int, spoken: set[int]) -> None:
    if sketch.draft.nodes[meant].concept == pronoun and sketch.draft.nodes[meant].token in spoken:
        return
    for k, node in enumerate(sketch.draft.nodes):
        if k != meant and not node.gone and node.concept == pronoun and node.token in spoken:
            redirect(sketch, k, meant)


def quoted_words(words: Sequence[Word]) -> set[int]:
    """The words inside quotation marks; a quotation that does not end goes on to the end."""
    spoken: set[int] = set()
    inside = False
    for word in words:
        if word.text in {'"', "\u201c", "\u201d", "''", "``"}:
            inside = word.text in {"\u201c", "``"} or (word.text not in {"\u201d", "''"} and not inside)
        elif inside:
            spoken.add(word.i)
    return spoken


def merge_reflexives(sketch: Sketch) -> None:
    """*He told himself*: he told him who told."""
    for word in sketch.words:
        node = sketch.core.get(word.i)
        if node is None or word.lower not in REFLEXIVES or sketch.draft.nodes[node].gone:
            continue
        verb = sketch.words[word.head]
        for _ in range(6):
            subject = _subject(sketch, verb.i)
            if subject is not None or verb.head == verb.i:
                break
            verb = sketch.words[verb.head]
        else:
            continue
        if subject is not None and subject.i != word.i:
            meant = sketch.outer.get(sketch.speaker(subject.i))
            if meant is not None and meant != node:
                redirect(sketch, node, meant)


def merge_pronouns(sketch: Sketch) -> None:
    """One node for all mentions of a pronoun in a sentence."""
    first: dict[tuple[str, int], int] = {}
    for k, node in enumerate(sketch.draft.nodes):
        if node.gone or node.concept not in _SAME or node.rule not in {"pronoun", "imperative"}:
            continue
        same = first.setdefault((node.concept, node.sentence), k)
        if same != k:
            redirect(sketch, k, same)


def merge_nouns(sketch: Sketch) -> None:
    """*it* and *its* mean the nearest thing named before in the sentence; *his* the subject's person."""
    words = sketch.words
    named: dict[int, list[Word]] = {}
    for word in words:
        if word.tag in {"NN", "NNP", "NNS"} and word.i in sketch.outer and word.i not in sketch.done:
            named.setdefault(word.sentence, []).append(word)
        elif word.lower in _REFERS and word.i in sketch.core:
            found = _antecedent(sketch, word, named.get(word.sentence, []))
            node = sketch.core[word.i]
            if found is not None and not sketch.draft.nodes[node].gone:
                sketch.draft.nodes[node].rule = "coreference"
                redirect(sketch, node, sketch.outer[found.i])


def _antecedent(sketch: Sketch, pronoun: Word, named: list[Word]) -> Word | None:
    kind = _REFERS[pronoun.lower]
    if kind == "thing" and _is_expletive(sketch, pronoun):
        return None
    best, score = None, 0.0
    for noun in named:
        fits = _fits(sketch, noun, kind)
        if not fits or noun.head in (pronoun.head, _governor(sketch, pronoun)) or pronoun.head == noun.i:
            continue
        weight = 1.0 / (1 + (pronoun.i - noun.i) / 10)
        if noun.dep in {"nsubj", "nsubjpass", "dobj"}:
            weight += 0.5
        if weight > score:
            best, score = noun, weight
    return best


def _governor(sketch: Sketch, pronoun: Word) -> int:
    """What takes a pronoun, also through a preposition: *the boy said to him* speaks of two."""
    over = sketch.words[pronoun.head]
    return over.head if pronoun.dep == "pobj" else over.i


def _is_expletive(sketch: Sketch, pronoun: Word) -> bool:
    """*it is late*, *it seems*, *it is good to …*."""
    head = sketch.words[pronoun.head]
    return pronoun.dep == "nsubj" and (
        head.lemma in {"be", "seem", "rain", "snow", "take", "happen", "matter"}
    )


def _fits(sketch: Sketch, noun: Word, kind: str) -> bool:
    human = noun.lemma in _PEOPLE or sketch.concept_of(noun.i) == "person" or noun.tag == "NNP"
    if kind == "people":
        return noun.tag == "NNS"
    if noun.tag == "NNS":
        return False
    return human if kind == "person" else not human


def redirect(sketch: Sketch, old: int, new: int) -> None:
    """Lets all arcs of one node be another's, and the words that it stood for."""
    sketch.draft.redirect(old, new)
    for places in (sketch.core, sketch.outer):
        for word, node in places.items():
            if node == old:
                places[word] = new
