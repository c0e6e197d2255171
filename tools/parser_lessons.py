"""What the learned parts of the dependency parser are taught: gold graphs, annotated examples, pairs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from graphneg.amr.alignment import align
from graphneg.amr.penman import is_inverted
from graphneg.english.propbank import Fault, FrameEntry, PropBankExample, Roleset, read_rolesets
from graphneg.loaders.propbank import frame_records
from graphneg.model import AmrGraph, AmrNode
from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.learned.arcs import scored_pairs
from graphneg.parsers.dependency.learned.concepts import choose_concepts
from graphneg.parsers.dependency.learned.features import DraftFeatures, expand, plain_role, stem_of
from graphneg.parsers.dependency.learned.tables import Meanings, Model
from graphneg.parsers.dependency.lexicon import ParserLexicon
from graphneg.parsers.dependency.parser import write_draft
from graphneg.parsers.dependency.text import (
    Word,
    read_words,
    readable,
    signature,
    tightened,
)
from graphneg.progress import NoProgress
from tools.parser_tables import phrase_head

# Gold graphs as the trainer sees them: nodes with the words that they come from, arcs from head to argument.
#
# The aligner of :mod:`graphneg.amr.alignment` gives most nodes their words. What it leaves goes to the word
# that
# its label keeps company with over the whole corpus (Brown et al. 1993, model 1, one step), or to a
# neighbour's word.


UNWORDED = frozenset({"multi-sentence"})
_COMPARED = frozenset({"JJR", "JJS", "RBR", "RBS", "VB"})
_WITH_PARENT = frozenset({"more", "most", "you", "amr-unknown", "ever", "so"})
_BY_PUNCTUATION = frozenset(
    {"and", "amr-unknown", "mode=expressive", "request-confirmation-91", "polarity=amr-unknown"}
)


def copy_words(words: Sequence[Word]) -> list[Word]:
    """The same words in a tree of their own, which rules may change."""
    copies: list[Word] = []
    copies.extend(replace(word, kids=list(word.kids), tree=copies) for word in words)
    return copies


@dataclass(frozen=True, slots=True)
class GoldNode:
    """A concept or a constant; ``token`` is the index of its word, ``None`` where it has none."""

    concept: str | None
    value: str | None
    token: int | None

    @property
    def label(self) -> str:
        """The concept, or the value of a constant."""
        return self.concept if self.concept is not None else (self.value or "")


@dataclass(frozen=True, slots=True)
class GoldGraph:
    """``arcs`` are (head, role, argument), never inverse; ``domain`` is ``mod`` from the other side."""

    id: str
    text: str
    nodes: tuple[GoldNode, ...]
    arcs: frozenset[tuple[int, str, int]]
    top: int


def words_of(nlp: Any, texts: Sequence[str]) -> list[list[Word]]:
    """The words of each text, as the parser reads them."""
    cuts = [tightened(readable(text)) for text in texts]
    docs = nlp.pipe((piece for piece, _ in cuts), batch_size=128)
    return [read_words(doc, 0, places) for doc, (_, places) in zip(docs, cuts, strict=True)]


def plain_arcs(graph: AmrGraph) -> Iterator[tuple[int, str, int]]:
    """The graph's relations as (head, role, argument); wiki links are left out."""
    branches = [(node.up, node.role, node.k) for node in graph.nodes]
    branches += [(mention.up, mention.role, mention.target) for mention in graph.mentions]
    for up, role, down in branches:
        if up is None or role is None or role == "wiki":
            continue
        head, dep = (down, up) if is_inverted(role) else (up, down)
        base = role[:-3] if is_inverted(role) else role
        yield (dep, "mod", head) if base == "domain" else (head, base, dep)


class Anchoring:
    """Gives the nodes of a corpus their words; statistics are taken when it is made."""

    def __init__(self, corpus: Sequence[tuple[AmrGraph, Sequence[Word]]]) -> None:
        self.together: Counter[tuple[str, str]] = Counter()
        self.labels: Counter[str] = Counter()
        self.keys: Counter[str] = Counter()
        self.sentences = len(corpus)
        for graph, words in corpus:
            aligned = align(graph, [word.text for word in words])
            keys = {key for word in words for key in _keys(word)}
            self.keys.update(keys)
            for label in {_label(node) for node in graph.nodes if node.k not in aligned}:
                self.labels[label] += 1
                self.together.update((label, key) for key in keys)

    def gold(self, graph: AmrGraph, text: str, words: Sequence[Word]) -> GoldGraph:
        """One graph with its nodes anchored."""
        spans = align(graph, [word.text for word in words])
        anchors = {k: root_of(words, *span) for k, span in spans.items()}
        around = _around(graph)
        for node in graph.nodes:
            if _is_exclaimed(graph, node, words, anchors):
                anchors[node.k] = anchors[node.up or 0]
            elif node.k not in anchors and node.concept not in UNWORDED:
                near = [anchors[other] for other in around[node.k] if other in anchors]
                found = self._companion(_label(node), words, near)
                if found is not None:
                    anchors[node.k] = found
        _hold(graph, words, anchors)
        for _ in range(4):
            _follow(graph, around, anchors)
        dropped = {node.k for node in graph.nodes if node.role == "wiki"}
        number = {k: i for i, k in enumerate(node.k for node in graph.nodes if node.k not in dropped)}
        nodes = tuple(
            GoldNode(node.concept, node.value, anchors.get(node.k))
            for node in graph.nodes
            if node.k not in dropped
        )
        arcs = frozenset((number[h], role, number[d]) for h, role, d in plain_arcs(graph))
        return GoldGraph(graph.id, text, nodes, arcs, 0)

    def _companion(self, label: str, words: Sequence[Word], near: Sequence[int]) -> int | None:
        best, place = 1.0, None
        for word in words:
            for key in _keys(word):
                both = self.together[label, key]
                if both < 3 or (not any(one.isalnum() for one in key) and label not in _BY_PUNCTUATION):
                    continue
                with_key = both / self.keys[key]
                without = (self.labels[label] - both + 0.5) / (self.sentences - self.keys[key] + 1)
                if with_key < 8 * without:
                    continue
                gap = min((abs(word.i - one) for one in near), default=4) / 4
                score = math.log(with_key / without) * math.sqrt(both / self.labels[label]) - gap / 2
                if score > best:
                    best, place = score, word.i
        return place


def _hold(graph: AmrGraph, words: Sequence[Word], anchors: dict[int, int]) -> None:
    """What somebody is *without* he does not have; where something *is*, *be* says."""
    copulas = [word.i for word in words if word.lemma == "be" and word.dep not in {"aux", "auxpass"}]
    for node in graph.nodes:
        if node.k in anchors:
            continue
        below = {child.role: anchors[child.k] for child in graph.children(node.k) if child.k in anchors}
        denied = below.get("polarity")
        if node.concept == "have-03" and denied is not None and words[denied].lower == "without":
            anchors[node.k] = denied
        elif node.concept == "be-located-at-91":
            place = below.get("ARG2", max(below.values(), default=0))
            before = [i for i in copulas if i < place]
            if before:
                anchors[node.k] = before[-1]


def _is_exclaimed(graph: AmrGraph, node: AmrNode, words: Sequence[Word], anchors: Mapping[int, int]) -> bool:
    """Whether it is the mode of an interjection: that comes from the interjection, not from a mark."""
    return (
        node.value == "expressive"
        and node.up is not None
        and node.up in anchors
        and words[anchors[node.up]].tag == "UH"
    )


def root_of(words: Sequence[Word], start: int, end: int) -> int:
    """The word of a range that depends on none of the others."""
    for i in range(start, end):
        head = words[i].head
        if not start <= head < end or head == i:
            return i
    return end - 1


def _keys(word: Word) -> tuple[str, ...]:
    if word.tag in _COMPARED:
        return (word.lemma, "tag:" + word.tag)
    return (word.lemma,)


def _label(node: AmrNode) -> str:
    return node.concept if node.concept is not None else f"{node.role}={node.value}"


def _around(graph: AmrGraph) -> Mapping[int, list[int]]:
    around: defaultdict[int, list[int]] = defaultdict(list)
    for head, _, dep in plain_arcs(graph):
        around[head].append(dep)
        around[dep].append(head)
    return around


def _follow(graph: AmrGraph, around: Mapping[int, Sequence[int]], anchors: dict[int, int]) -> None:
    """Nodes without a word take that of the first child that has one, constants that of the node above."""
    for node in graph.nodes:
        if node.k in anchors or node.concept in UNWORDED:
            continue
        if node.concept is None or node.concept in _WITH_PARENT:
            if node.up is not None and node.up in anchors:
                anchors[node.k] = anchors[node.up]
            continue
        below = [child.k for child in graph.children(node.k) if child.k in anchors]
        for other in (*below[:1], *around[node.k]):
            if other in anchors:
                anchors[node.k] = anchors[other]
                break


# Teaches arcs: which nodes of a draft are which nodes of the gold graph, and what holds between them.


@dataclass(slots=True)
class PairSentence:
    """A sentence's features: of its nodes, and of its pairs with their roles ("" is none)."""

    nodes: list[list[str]]
    heads: list[int]
    deps: list[int]
    pairs: list[list[str]]
    roles: list[str]
    weight: float
    top: int
    lost: int


def match_nodes(draft: GraphDraft, gold: GoldGraph) -> dict[int, int]:
    """Draft nodes to gold nodes: of the same word by label, stem, then any; of other words by label."""
    mine: defaultdict[int | None, list[int]] = defaultdict(list)
    theirs: defaultdict[int | None, list[int]] = defaultdict(list)
    for i, node in enumerate(draft.nodes):
        if not node.gone:
            mine[node.token].append(i)
    for j, node in enumerate(gold.nodes):
        theirs[node.token].append(j)
    found: dict[int, int] = {}
    used: set[int] = set()

    def pair(left: list[int], right: list[int], key: int) -> None:
        for i in left:
            for j in right:
                a, b = draft.nodes[i], gold.nodes[j]
                if i in found or j in used or (a.value is None) != (b.value is None):
                    continue
                same = a.label == b.label if key == 0 else stem_of(a.label) == stem_of(b.label)
                if same or (key == 2 and a.value is None):
                    found[i] = j
                    used.add(j)

    for key in range(2):
        for token, left in mine.items():
            pair(left, theirs[token], key)
    rest = sorted(i for group in mine.values() for i in group if i not in found)
    others = [j for j in range(len(gold.nodes)) if j not in used]
    far: list[tuple[int, int, int]] = []
    for i in rest:
        for j in others:
            a, b = draft.nodes[i], gold.nodes[j]
            if a.label == b.label and (a.value is None) == (b.value is None):
                gap = 50 if a.token is None or b.token is None else abs(a.token - b.token)
                far.append((gap, i, j))
    for _, i, j in sorted(far):
        if i not in found and j not in used:
            found[i] = j
            used.add(j)
    for token, left in mine.items():
        pair(left, theirs[token], 2)
    return found


def pair_sentence(draft: GraphDraft, gold: GoldGraph, meanings: Meanings, weight: float) -> PairSentence:
    """The features and the right roles of one draft."""
    match = match_nodes(draft, gold)
    roles = {(h, d): plain_role(role) for h, role, d in sorted(gold.arcs)}
    seen = DraftFeatures(draft, meanings)
    place = {i: n for n, i in enumerate(seen.alive)}
    heads: list[int] = []
    deps: list[int] = []
    pairs: list[list[str]] = []
    right: list[str] = []
    for h, d in scored_pairs(seen):
        heads.append(place[h])
        deps.append(place[d])
        groups, single = seen.pair(h, d)
        pairs.append([*single, *(feature for group in groups for feature in expand(group))])
        right.append(roles.get((match[h], match[d]), "") if h in match and d in match else "")
    tops = [place[i] for i, j in match.items() if j == gold.top and i in place]
    lost = len(gold.arcs) - sum(role != "" for role in right)
    return PairSentence(
        [seen.node(i) for i in seen.alive], heads, deps, pairs, right, weight, tops[0] if tops else -1, lost
    )


def all_roles(sentences: list[PairSentence], at_least: int) -> Iterator[str]:
    """Roles that are frequent enough to be learned, none first."""
    counts: defaultdict[str, int] = defaultdict(int)
    for one in sentences:
        for role in one.roles:
            counts[role] += 1
    yield ""
    yield from sorted((r for r, n in counts.items() if r and n >= at_least), key=lambda r: (-counts[r], r))


def read_frames(paths: Sequence[Path]) -> list[Roleset]:
    """The rolesets of PropBank's tar archives, folders and XML files that AMR names; faults are left out."""

    def read_file(name: str, data: bytes) -> Iterator[Roleset | Fault]:
        return iter(read_rolesets(data))

    parts = frame_records(paths, "propbank", read_file, NoProgress())
    return [part for part in parts if isinstance(part, Roleset) and part.id is not None]


# PropBank's annotated examples as lessons for the arc scorer: what a frame's numbered arguments look like.
#
# Only pairs that the example's predicate heads are taught; what stands in its adjuncts is left out.


SHORTEST, LONGEST = 3, 25
WEIGHT = 0.1


def example_sentences(
    nlp: Any,
    rolesets: Sequence[Roleset],
    most: int,
    lexicon: ParserLexicon,
    meanings: Meanings,
    chooser: Model,
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
        draft = write_draft(text, copy_words(words), lexicon)
        lexicon.frames[frame] = entry
        choose_concepts(meanings, chooser, draft, sure=inf)
        lesson = _lesson(draft, frame, example, places, meanings)
        if lesson is not None:
            yield lesson


def _usable(roleset: Roleset) -> list[PropBankExample]:
    return [
        example
        for example in roleset.examples
        if SHORTEST <= len(example.words) <= LONGEST
        and example.arguments
        and example.relation is not None
        and "*" not in example.text
    ]


def _places(example: PropBankExample, words: Sequence[Word]) -> list[int] | None:
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


def _without(
    entry: FrameEntry, example: PropBankExample, words: Sequence[Word], places: Sequence[int]
) -> FrameEntry:
    """The frame as it would be known had this example not been counted."""
    seen = {form: dict(counts) for form, counts in entry.seen.items()}
    for role, start, end in example.arguments:
        head = phrase_head(words, places[start], places[end] + 1)
        form = None if head is None else signature(words[places[example.relation]], head)
        number = role.removeprefix("ARG")[:1]
        if form in seen and seen[form].get(number, 0) > 0:
            seen[form][number] -= 1
            if not any(seen[form].values()):
                del seen[form]
    return replace(entry, seen=seen)


def _lesson(
    draft: GraphDraft, frame: str, example: PropBankExample, places: Sequence[int], meanings: Meanings
) -> PairSentence | None:
    rel = places[example.relation]
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
            node = None if head is None else _node_at(draft, head.i, heads[0])
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


def _node_at(draft: GraphDraft, token: int, head: int) -> int | None:
    """The node that stands for a word: the one that hangs on ``head``, else the one that others hang on."""
    mine = [
        i
        for i, node in enumerate(draft.nodes)
        if not node.gone and node.value is None and (node.token == token or token in node.mentions)
    ]
    linked = [arc.dep for arc in draft.arcs if arc.head == head and arc.dep in mine]
    under = {arc.head for arc in draft.arcs if arc.dep in mine and arc.head in mine}
    return next(iter([*linked, *(i for i in mine if i not in under), *mine]), None)
