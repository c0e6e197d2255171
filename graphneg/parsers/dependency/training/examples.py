"""PropBank's annotated examples as lessons for the arc scorer: what a frame's numbered arguments look like.

Only pairs that the example's predicate heads are taught; what stands in its adjuncts is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.arcs import scored_pairs
from graphneg.parsers.dependency.learned.choosing import choose_concepts
from graphneg.parsers.dependency.learned.features import DraftFeatures, expand
from graphneg.parsers.dependency.learned.meanings import Meanings
from graphneg.parsers.dependency.learned.network import Model
from graphneg.parsers.dependency.lexicon import FrameEntry, Lexicon
from graphneg.parsers.dependency.rules import write_draft
from graphneg.parsers.dependency.signatures import phrase_head, signature
from graphneg.parsers.dependency.training.corpus import fresh, words_of
from graphneg.parsers.dependency.training.pairs import PairSentence
from graphneg.parsers.dependency.training.propbank import Example, Roleset
from graphneg.parsers.dependency.words import Word

SHORTEST, LONGEST = 3, 25
WEIGHT = 0.1


def example_sentences(
    nlp: Any, rolesets: Sequence[Roleset], most: int, lexicon: Lexicon, meanings: Meanings, chooser: Model
) -> Iterator[PairSentence]:
    """A lesson for each example whose predicate the parser takes for the right frame, ``most`` a frame."""
    examples = [
        (roleset.id, one) for roleset in rolesets if roleset.in_amr for one in _usable(roleset)[:most]
    ]
    texts = [" ".join(example.words) for _, example in examples]
    for (frame, example), text, words in zip(examples, texts, words_of(nlp, texts), strict=True):
        places = _places(example, words)
        entry = lexicon.frames.get(frame)
        if places is None or entry is None:
            continue
        lexicon.frames[frame] = _without(entry, example, words, places)
        draft = write_draft(text, fresh(words), lexicon)
        lexicon.frames[frame] = entry
        choose_concepts(meanings, chooser, draft, sure=inf)
        lesson = _lesson(draft, frame, example, places, meanings)
        if lesson is not None:
            yield lesson


def _usable(roleset: Roleset) -> list[Example]:
    found = [
        one
        for one in roleset.examples
        if SHORTEST <= len(one.words) <= LONGEST
        and one.arguments
        and not any("*" in word for word in one.words)
    ]
    return found


def _places(example: Example, words: Sequence[Word]) -> list[int] | None:
    """The place among ``words`` of each word of the example; ``None`` if they are cut otherwise."""
    starts = {word.start: word.i for word in words}
    places: list[int] = []
    at = 0
    for word in example.words:
        if at not in starts:
            return None
        places.append(starts[at])
        at += len(word) + 1
    return places


def _without(entry: FrameEntry, example: Example, words: Sequence[Word], places: Sequence[int]) -> FrameEntry:
    """The frame as it would be known had this example not been counted."""
    seen = {form: dict(counts) for form, counts in entry.seen.items()}
    for role, start, end in example.arguments:
        head = phrase_head(words, places[start], places[end] + 1)
        form = None if head is None else signature(words, places[example.rel], head)
        number = role.removeprefix("ARG")[:1]
        if form in seen and seen[form].get(number, 0) > 0:
            seen[form][number] -= 1
            if not any(seen[form].values()):
                del seen[form]
    return replace(entry, seen=seen)


def _lesson(
    draft: Draft, frame: str, example: Example, places: Sequence[int], meanings: Meanings
) -> PairSentence | None:
    rel = places[example.rel]
    heads = [
        i
        for i, node in enumerate(draft.nodes)
        if not node.gone and node.concept == frame and node.token == rel
    ]
    if len(heads) != 1:
        return None
    roles: dict[int, str] = {}
    unknown: set[int] = set()
    for role, start, end in example.arguments:
        inside = range(places[start], places[end] + 1)
        if role[3:].isdigit():
            head = phrase_head(draft.words, inside.start, inside.stop)
            node = None if head is None else _node_at(draft, head, heads[0])
            if node is not None:
                roles[node] = role
        else:
            unknown.update(inside)
    seen = DraftFeatures(draft, meanings)
    place = {i: n for n, i in enumerate(seen.alive)}
    lesson = PairSentence([seen.node(i) for i in seen.alive], [], [], [], [], WEIGHT, -1, 0)
    for head, dep in scored_pairs(seen):
        if head != heads[0] or (dep not in roles and draft.nodes[dep].token in unknown):
            continue
        groups, single = seen.pair(head, dep)
        lesson.heads.append(place[head])
        lesson.deps.append(place[dep])
        lesson.pairs.append([*single, *(feature for group in groups for feature in expand(group))])
        lesson.roles.append(roles.get(dep, ""))
    return lesson if lesson.pairs and any(lesson.roles) else None


def _node_at(draft: Draft, token: int, head: int) -> int | None:
    """The node that stands for a word: the one that hangs on ``head``, else the one that others hang on."""
    mine = [
        i
        for i, node in enumerate(draft.nodes)
        if not node.gone and node.value is None and (node.token == token or token in node.mentions)
    ]
    linked = [arc.dep for arc in draft.arcs if arc.head == head and arc.dep in mine]
    under = {arc.head for arc in draft.arcs if arc.dep in mine and arc.head in mine}
    return next(iter([*linked, *(i for i in mine if i not in under), *mine]), None)
