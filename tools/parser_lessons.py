"""Make the training examples of the dependency parser from gold graphs and from PropBank's examples.

Training needs to know which word each node comes from. `Anchoring` aligns the nodes of a corpus with words.
The rules of the parser make a draft graph for each sentence: `match_nodes` matches its nodes with the nodes
of the gold graph, and `pair_sentence` makes the examples for the arc scorer. `example_sentences` makes
further examples from annotated sentences of PropBank.
"""

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
from graphneg.english.propbank import FrameEntry, PropBankExample, ReadError, Roleset, read_rolesets
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
    join_contractions,
    read_words,
    readable,
    signature,
)
from graphneg.progress import NoProgress
from tools.parser_tables import phrase_head

# Gold graphs: nodes aligned with words, and arcs from head to argument.
#
# The aligner of :mod:`graphneg.amr.alignment` aligns most nodes. Each other node is aligned with the word
# that co-occurs most strongly with its label over the whole corpus (Brown et al. 1993, one step of model 1),
# or with the word of a neighbouring node.


UNWORDED = frozenset({"multi-sentence"})
"""Concepts that never come from a word."""
_COMPARED = frozenset({"JJR", "JJS", "RBR", "RBS", "VB"})
"""Part-of-speech tags that are counted like words: tags of comparatives, superlatives and base forms. The
concept ``more``, for example, co-occurs with the tag JJR of *taller*."""
_WITH_PARENT = frozenset({"more", "most", "you", "amr-unknown", "ever", "so"})
"""Concepts that are aligned with the word of their parent, because no word expresses them: the ``you`` of *Go
home!* is aligned with *go*."""
_BY_PUNCTUATION = frozenset(
    {"and", "amr-unknown", "mode=expressive", "request-confirmation-91", "polarity=amr-unknown"}
)
"""Labels that can be aligned with a punctuation mark: the comma of *red, green* can express ``and``."""


def copy_words(words: Sequence[Word]) -> list[Word]:
    """Copy words together with their dependency tree, so that rules may change the copied tree.

    Args:
        words: The words of one tree.

    Returns:
        The copies.
    """
    copies: list[Word] = []
    copies.extend(replace(word, dependents=list(word.dependents), tree=copies) for word in words)
    return copies


@dataclass(frozen=True, slots=True)
class GoldNode:
    """A concept or a constant of a gold graph.

    Attributes:
        concept: The concept; None for a constant.
        value: The value of a constant; None for a concept.
        token: Index of the aligned word; None if the node has no word.
    """

    concept: str | None
    value: str | None
    token: int | None

    @property
    def label(self) -> str:
        """The concept, or the value of a constant."""
        return self.concept if self.concept is not None else (self.value or "")


@dataclass(frozen=True, slots=True)
class GoldGraph:
    """A gold graph with aligned nodes.

    Attributes:
        id: The id of the graph.
        text: The sentence.
        nodes: The nodes.
        arcs: Triples of head, role and argument. Inverse roles are normalized, and ``domain`` is stored as an
            inverse ``mod``.
        top: Index of the top node.
    """

    id: str
    text: str
    nodes: tuple[GoldNode, ...]
    arcs: frozenset[tuple[int, str, int]]
    top: int


def words_of(nlp: Any, texts: Sequence[str]) -> list[list[Word]]:
    """Tag and parse texts with spaCy, in the same way as the dependency parser.

    Args:
        nlp: The spaCy model for tagging and parsing.
        texts: The texts.

    Returns:
        The words of each text.
    """
    cuts = [join_contractions(readable(text)) for text in texts]
    docs = nlp.pipe((piece for piece, _ in cuts), batch_size=128)
    return [read_words(doc, 0, places) for doc, (_, places) in zip(docs, cuts, strict=True)]


def plain_arcs(graph: AmrGraph) -> Iterator[tuple[int, str, int]]:
    """Yield the relations of a graph, with inverse roles normalized and without wiki links.

    Args:
        graph: The graph.

    Yields:
        Head, role and argument of each relation.
    """
    branches = [(node.parent, node.role, node.position) for node in graph.nodes]
    branches += [(mention.parent, mention.role, mention.target) for mention in graph.mentions]
    for up, role, down in branches:
        if up is None or role is None or role == "wiki":
            continue
        head, dep = (down, up) if is_inverted(role) else (up, down)
        base = role[:-3] if is_inverted(role) else role
        # AMR defines domain as the inverse of mod: "the boy is small" and "the small boy".
        yield (dep, "mod", head) if base == "domain" else (head, base, dep)


class Anchoring:
    """An aligner of AMR nodes with words, which uses co-occurrence counts over a whole corpus."""

    def __init__(self, corpus: Sequence[tuple[AmrGraph, Sequence[Word]]]) -> None:
        """Count how often words co-occur with the labels of nodes that are not aligned yet."""
        self.together: Counter[tuple[str, str]] = Counter()
        self.labels: Counter[str] = Counter()
        self.keys: Counter[str] = Counter()
        self.sentences = len(corpus)
        for graph, words in corpus:
            aligned = align(graph, [word.text for word in words])
            keys = {key for word in words for key in _keys(word)}
            self.keys.update(keys)
            for label in {_label(node) for node in graph.nodes if node.position not in aligned}:
                self.labels[label] += 1
                self.together.update((label, key) for key in keys)

    def gold(self, graph: AmrGraph, text: str, words: Sequence[Word]) -> GoldGraph:
        """Align the nodes of one graph.

        Args:
            graph: The graph.
            text: The sentence.
            words: The words of the sentence.

        Returns:
            The graph with its aligned nodes.
        """
        spans = align(graph, [word.text for word in words])
        anchors = {k: root_of(words, *span) for k, span in spans.items()}
        around = _around(graph)
        for node in graph.nodes:
            if _is_exclaimed(graph, node, words, anchors):
                anchors[node.position] = anchors[node.parent or 0]
            elif node.position not in anchors and node.concept not in UNWORDED:
                near = [anchors[other] for other in around[node.position] if other in anchors]
                found = self._best_cooccurring_word(_label(node), words, near)
                if found is not None:
                    anchors[node.position] = found
        _align_without_and_be(graph, words, anchors)
        # Each round aligns nodes that are one step further from the nodes aligned before.
        for _ in range(4):
            _align_with_neighbours(graph, around, anchors)
        dropped = {node.position for node in graph.nodes if node.role == "wiki"}
        number = {
            k: i for i, k in enumerate(node.position for node in graph.nodes if node.position not in dropped)
        }
        nodes = tuple(
            GoldNode(node.concept, node.value, anchors.get(node.position))
            for node in graph.nodes
            if node.position not in dropped
        )
        arcs = frozenset((number[h], role, number[d]) for h, role, d in plain_arcs(graph))
        return GoldGraph(graph.id, text, nodes, arcs, 0)

    def _best_cooccurring_word(self, label: str, words: Sequence[Word], near: Sequence[int]) -> int | None:
        """Return the index of the word with which a label co-occurs most strongly, or None."""
        best, place = 1.0, None
        for word in words:
            for key in _keys(word):
                both = self.together[label, key]
                # Fewer than three common sentences may be chance. A punctuation mark is only aligned with
                # labels such as "and", which the comma of "red, green" expresses.
                if both < 3 or (not any(one.isalnum() for one in key) and label not in _BY_PUNCTUATION):
                    continue
                with_key = both / self.keys[key]
                without = (self.labels[label] - both + 0.5) / (self.sentences - self.keys[key] + 1)
                # The label must be at least eight times as likely in sentences with the word.
                if with_key < 8 * without:
                    continue
                # Among several candidates, the word next to an aligned neighbour of the node is preferred.
                gap = min((abs(word.i - one) for one in near), default=4) / 4
                score = math.log(with_key / without) * math.sqrt(both / self.labels[label]) - gap / 2
                if score > best:
                    best, place = score, word.i
        return place


def _align_without_and_be(graph: AmrGraph, words: Sequence[Word], anchors: dict[int, int]) -> None:
    """Align ``have-03`` with the word *without*, and ``be-located-at-91`` with a form of *be*."""
    copulas = [word.i for word in words if word.lemma == "be" and word.dep not in {"aux", "auxpass"}]
    for node in graph.nodes:
        if node.position in anchors:
            continue
        below = {
            child.role: anchors[child.position]
            for child in graph.children(node.position)
            if child.position in anchors
        }
        denied = below.get("polarity")
        # "A man without a hat" is annotated as a negated have-03.
        if node.concept == "have-03" and denied is not None and words[denied].lower == "without":
            anchors[node.position] = denied
        # "The cat is in the house": the last copula before the place is aligned.
        elif node.concept == "be-located-at-91":
            place = below.get("ARG2", max(below.values(), default=0))
            before = [i for i in copulas if i < place]
            if before:
                anchors[node.position] = before[-1]


def _is_exclaimed(graph: AmrGraph, node: AmrNode, words: Sequence[Word], anchors: Mapping[int, int]) -> bool:
    """Return whether a node is the constant ``expressive`` that belongs to an interjection."""
    return (
        # "Oh, he left!": the mode comes from "Oh", not from the exclamation mark.
        node.value == "expressive"
        and node.parent is not None
        and node.parent in anchors
        and words[anchors[node.parent]].tag == "UH"
    )


def root_of(words: Sequence[Word], start: int, end: int) -> int:
    """Return the first word of a span whose syntactic head is outside the span.

    Args:
        words: The words of the sentence.
        start: Index of the first word in the span.
        end: Index after the last word in the span.

    Returns:
        The index of the word, or of the last word in the span if all heads are inside.
    """
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


def _align_with_neighbours(
    graph: AmrGraph, around: Mapping[int, Sequence[int]], anchors: dict[int, int]
) -> None:
    """Align nodes with the word of their first aligned child, and constants with the word of their parent."""
    for node in graph.nodes:
        if node.position in anchors or node.concept in UNWORDED:
            continue
        # "-" of :polarity, without a word such as "not", belongs to the word of its parent: "unhappy".
        if node.concept is None or node.concept in _WITH_PARENT:
            if node.parent is not None and node.parent in anchors:
                anchors[node.position] = anchors[node.parent]
            continue
        below = [child.position for child in graph.children(node.position) if child.position in anchors]
        for other in (*below[:1], *around[node.position]):
            if other in anchors:
                anchors[node.position] = anchors[other]
                break


# Examples for the arc scorer: the nodes of a draft graph that are in the gold graph, and their roles.


@dataclass(slots=True)
class PairSentence:
    """The training examples of one sentence.

    Attributes:
        nodes: Features of each node.
        heads: Index of the head of each pair.
        deps: Index of the argument of each pair.
        pairs: Features of each pair.
        roles: Role of each pair, ``""`` for none.
        weight: Weight of the sentence.
        top: Index of the top node; -1 if it is not among the nodes.
        lost: Number of gold arcs that no pair covers.
    """

    nodes: list[list[str]]
    heads: list[int]
    deps: list[int]
    pairs: list[list[str]]
    roles: list[str]
    weight: float
    top: int
    lost: int


def match_nodes(draft: GraphDraft, gold: GoldGraph) -> dict[int, int]:
    """Match the nodes of a draft graph with the nodes of the gold graph.

    Nodes of the same word are matched first, by label and then by stem. Nodes of different words are matched
    by label, in the order of their distance. The remaining concepts of the same word are matched even if
    their labels differ.

    Args:
        draft: The draft graph that the rules made.
        gold: The gold graph.

    Returns:
        Indices of gold nodes, keyed by the index of the matching node in the draft.
    """
    draft_nodes: defaultdict[int | None, list[int]] = defaultdict(list)
    gold_nodes: defaultdict[int | None, list[int]] = defaultdict(list)
    for i, node in enumerate(draft.nodes):
        if not node.deleted:
            draft_nodes[node.token].append(i)
    for j, node in enumerate(gold.nodes):
        gold_nodes[node.token].append(j)
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
        for token, left in draft_nodes.items():
            pair(left, gold_nodes[token], key)
    rest = sorted(i for group in draft_nodes.values() for i in group if i not in found)
    others = [j for j in range(len(gold.nodes)) if j not in used]
    far: list[tuple[int, int, int]] = []
    for i in rest:
        for j in others:
            a, b = draft.nodes[i], gold.nodes[j]
            if a.label == b.label and (a.value is None) == (b.value is None):
                # The distance to a node without a word is unknown. It counts as 50 words.
                gap = 50 if a.token is None or b.token is None else abs(a.token - b.token)
                far.append((gap, i, j))
    for _, i, j in sorted(far):
        if i not in found and j not in used:
            found[i] = j
            used.add(j)
    for token, left in draft_nodes.items():
        pair(left, gold_nodes[token], 2)
    return found


def pair_sentence(draft: GraphDraft, gold: GoldGraph, meanings: Meanings, weight: float) -> PairSentence:
    """Return the features and correct roles of the nodes and pairs in one draft graph.

    Args:
        draft: The draft graph that the rules made.
        gold: The gold graph.
        meanings: The lexical tables.
        weight: Weight of the sentence.

    Returns:
        The training examples of the sentence.
    """
    match = match_nodes(draft, gold)
    roles = {(h, d): plain_role(role) for h, role, d in sorted(gold.arcs)}
    seen = DraftFeatures(draft, meanings)
    place = {i: n for n, i in enumerate(seen.live_nodes)}
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
        [seen.node(i) for i in seen.live_nodes],
        heads,
        deps,
        pairs,
        right,
        weight,
        tops[0] if tops else -1,
        lost,
    )


def all_roles(sentences: list[PairSentence], at_least: int) -> Iterator[str]:
    """Yield the roles that are frequent enough to be learned.

    Args:
        sentences: The training sentences.
        at_least: Minimum count of a role.

    Yields:
        ``""`` for no role, then the roles by falling frequency.
    """
    counts: defaultdict[str, int] = defaultdict(int)
    for one in sentences:
        for role in one.roles:
            counts[role] += 1
    yield ""
    yield from sorted((r for r, n in counts.items() if r and n >= at_least), key=lambda r: (-counts[r], r))


def read_frames(paths: Sequence[Path]) -> list[Roleset]:
    """Read rolesets from PropBank's frame files: tar archives, folders or XML files.

    Args:
        paths: The archives, folders or files.

    Returns:
        The rolesets with an id. Faulty rolesets are skipped.
    """

    def read_file(name: str, data: bytes) -> Iterator[Roleset | ReadError]:
        return iter(read_rolesets(data))

    parts = frame_records(paths, "propbank", read_file, NoProgress())
    return [part for part in parts if isinstance(part, Roleset) and part.id is not None]


# Examples for the arc scorer from PropBank: the numbered arguments of a frame.
#
# PropBank annotates only the arguments of one predicate per sentence. Pairs with another head, or with a word
# of an adjunct, are left out, because their roles are unknown.


SHORTEST, LONGEST = 3, 25
"""Minimum and maximum number of words of a sentence."""
WEIGHT = 0.1
"""Weight of a sentence of PropBank; a sentence with a gold graph has weight 1."""


def example_sentences(
    nlp: Any,
    rolesets: Sequence[Roleset],
    most: int,
    lexicon: ParserLexicon,
    meanings: Meanings,
    chooser: Model,
) -> Iterator[PairSentence]:
    """Yield the examples of each PropBank sentence in which the parser finds the annotated frame.

    Args:
        nlp: The spaCy model for tagging and parsing.
        rolesets: PropBank's rolesets.
        most: Maximum number of sentences per frame.
        lexicon: The tables of the rules.
        meanings: The tables of the fragment chooser.
        chooser: The trained fragment chooser.

    Yields:
        The training examples of one sentence.
    """
    examples = [
        (roleset.id, one) for roleset in rolesets if roleset.in_amr for one in _usable(roleset)[:most]
    ]
    texts = [" ".join(example.words) for _, example in examples]
    for (frame, example), text, words in zip(examples, texts, words_of(nlp, texts), strict=True):
        places = _parser_indices(example, words)
        entry = lexicon.frames.get(frame)
        if places is None or entry is None:
            continue
        # The counts of the frame include this sentence, so they are reduced while the draft is made.
        lexicon.frames[frame] = _without_counts_of(entry, example, words, places)
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
        and example.predicate is not None
        # PropBank marks traces of moved phrases with "*". A trace is no word.
        and "*" not in example.text
    ]


def _parser_indices(example: PropBankExample, words: Sequence[Word]) -> list[int] | None:
    """Return the parser's index for each word of an example, or None if the tokens differ."""
    starts = {word.start: word.i for word in words}
    places: list[int] = []
    at = 0
    for word in example.words:
        if at not in starts:
            return None
        places.append(starts[at])
        at += len(word) + 1
    return places


def _without_counts_of(
    entry: FrameEntry, example: PropBankExample, words: Sequence[Word], places: Sequence[int]
) -> FrameEntry:
    """Return the entry of a frame without the counts from one example."""
    seen = {form: dict(counts) for form, counts in entry.seen.items()}
    for role, start, end in example.arguments:
        head = phrase_head(words, places[start], places[end] + 1)
        form = None if head is None else signature(words[places[example.predicate]], head)
        number = role.removeprefix("ARG")[:1]
        if form in seen and seen[form].get(number, 0) > 0:
            seen[form][number] -= 1
            if not any(seen[form].values()):
                del seen[form]
    return replace(entry, seen=seen)


def _lesson(
    draft: GraphDraft, frame: str, example: PropBankExample, places: Sequence[int], meanings: Meanings
) -> PairSentence | None:
    rel = places[example.predicate]
    heads = [
        i
        for i, node in enumerate(draft.nodes)
        if not node.deleted and node.concept == frame and node.token == rel
    ]
    # The parser has chosen a different frame, or has the frame twice.
    if len(heads) != 1:
        return None
    roles: dict[int, str] = {}
    unknown: set[int] = set()
    for role, start, end in example.arguments:
        inside = range(places[start], places[end] + 1)
        # Only numbered roles are roles of the frame. AMR annotates adjuncts (ARGM-TMP) with other roles.
        if role[3:].isdigit():
            head = phrase_head(draft.words, inside.start, inside.stop)
            node = None if head is None else _node_of_word(draft, head.i, heads[0])
            if node is not None:
                roles[node] = role
        else:
            unknown.update(inside)
    seen = DraftFeatures(draft, meanings)
    place = {i: n for n, i in enumerate(seen.live_nodes)}
    lesson = PairSentence([seen.node(i) for i in seen.live_nodes], [], [], [], [], WEIGHT, -1, 0)
    for head, dep in scored_pairs(seen):
        if head != heads[0] or (dep not in roles and draft.nodes[dep].token in unknown):
            continue
        groups, single = seen.pair(head, dep)
        lesson.heads.append(place[head])
        lesson.deps.append(place[dep])
        lesson.pairs.append([*single, *(feature for group in groups for feature in expand(group))])
        lesson.roles.append(roles.get(dep, ""))
    return lesson if lesson.pairs and any(lesson.roles) else None


def _node_of_word(draft: GraphDraft, token: int, head: int) -> int | None:
    """Return a node of a word: an argument of the given head, or else the topmost node of the word."""
    word_nodes = [
        i
        for i, node in enumerate(draft.nodes)
        if not node.deleted and node.value is None and (node.token == token or token in node.mentions)
    ]
    linked = [arc.dep for arc in draft.arcs if arc.head == head and arc.dep in word_nodes]
    under = {arc.head for arc in draft.arcs if arc.dep in word_nodes and arc.head in word_nodes}
    return next(iter([*linked, *(i for i in word_nodes if i not in under), *word_nodes]), None)
