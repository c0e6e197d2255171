"""Tokenize and tag a text, and find the tokens that express each node of its graph.

The graph helps the part-of-speech tagger: a token that is aligned with a frame is a verb or another
predicate, and a capitalised token that is a part of a name is a proper noun. A pronoun node is aligned with
all forms of its pronoun. `AlignmentCache` keeps the aligned texts, because a text is usually edited many
times.

Example: in "I love my dog." with the graph ``(l / love-01 :ARG0 (i / i) :ARG1 (d / dog :poss i))``, the
tokens of the node ``i`` are *I* and *my*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from graphneg.amr.alignment import Aligner, Span, align
from graphneg.amr.concept_words import PRONOUNS
from graphneg.decoders.surface.draft import Token, Tokens, initials
from graphneg.decoders.surface.inflection import pronoun_cases
from graphneg.english.noun_kinds import is_frame, lexeme
from graphneg.english.tagging import tag
from graphneg.english.tokens import TextSpan, tokenize
from graphneg.english.words import readings
from graphneg.model import AmrGraph

# Pattern for the words after an *it* that refers to nothing, as in "It *is time to* go" and "It*'s for that*
# purpose that he came".
_EXPLETIVE = re.compile(r"(?i)(?:is|was|'s|will|would|might) (?:\w+ )*?(?:that|to|for|time|who)\b")
_KEPT = 1024
"""Maximum number of aligned texts in the cache."""


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text with its tokens, their tags, and the alignment of its graph.

    Attributes:
        text: The text that was tokenized.
        graph: The AMR graph of the text.
        words: The tokens with their character positions in the text.
        tags: The part-of-speech tag of each token.
        words_of: The indices of the tokens that express each node, keyed by node index.
    """

    text: str
    graph: AmrGraph
    words: tuple[TextSpan, ...]
    tags: tuple[str, ...]
    words_of: dict[int, tuple[int, ...]]

    def tokens(self) -> tuple[Tokens, dict[int, list[Token]]]:
        """Create tokens that can be edited without changing this object.

        Returns:
            All tokens of the text, and the tokens that express each node, keyed by node index.
        """
        tokens, end = Tokens(), 0
        for index, (word, tagged) in enumerate(zip(self.words, self.tags, strict=True)):
            tokens.append(Token(word.text, tagged, index, self.text[end : word.start]))
            end = word.end
        for token, initial in zip(tokens, initials(tokens), strict=True):
            token.sentence_initial = initial
        return tokens, {k: [tokens[index] for index in indices] for k, indices in self.words_of.items()}


class AlignmentCache:
    """Cache of aligned texts, which keeps the 1,024 texts that were used most recently.

    Args:
        aligner: Function that aligns the nodes of a graph with the tokens of its text.
    """

    def __init__(self, aligner: Aligner = align) -> None:
        self._aligner = aligner
        self._kept: dict[tuple[str, str], AlignedText] = {}

    def get(self, text: str, graph: AmrGraph) -> AlignedText:
        """Tokenize and tag a text, and align its tokens with the nodes of its graph.

        Args:
            text: The text to align.
            graph: The AMR graph of the text.

        Returns:
            The aligned text, taken from the cache if possible.
        """
        known = self._kept.pop((text, graph.id), None)
        if known is None or (known.graph is not graph and known.graph.nodes != graph.nodes):
            known = _read(self._aligner, text, graph)
        self._kept[text, graph.id] = known
        if len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        return known


def with_moved_spans(graph: AmrGraph, text: str, closed: str) -> AmrGraph:
    """Adapt the token spans of a graph to the same text with fewer spaces.

    Spans are token indices. "I ’ m late" has one token more than "I’m late", so all spans after the
    apostrophe must be moved.

    Args:
        graph: The graph of the text.
        text: The text as it was parsed.
        closed: The same text with fewer spaces.

    Returns:
        A copy of the graph with a new id and with spans for ``closed``; the graph itself if the texts are
        equal or it has no spans.
    """
    if text == closed or not graph.spans:
        return graph
    old, new = _offsets(text), _offsets(closed)
    spans = {
        k: (min(inside), max(inside) + 1)
        for k, (first, end) in graph.spans.items()
        if first < end <= len(old)
        and (inside := [i for i, (a, b) in enumerate(new) if a < old[end - 1][1] and b > old[first][0]])
    }
    return replace(graph, id=f"{graph.id}~closed", spans=spans)


def _offsets(text: str) -> list[tuple[int, int]]:
    """Return the start and the end of each token, as character positions in the text without its spaces."""
    found: list[tuple[int, int]] = []
    at = 0
    for token in tokenize(text):
        size = len("".join(token.text.split()))
        found.append((at, at + size))
        at += size
    return found


def _read(aligner: Aligner, text: str, graph: AmrGraph) -> AlignedText:
    """Tokenize a text, align its tokens with the nodes of its graph, and tag the tokens."""
    tokens = tokenize(text)
    words = [token.text for token in tokens]
    spans = aligner(graph, words)
    tags = list(tag(words, _evidence(graph, spans, words)))
    for k, span in spans.items():
        node = graph.nodes[k]
        # A capitalised word that is part of a name in the graph is a proper noun: "Will" in "Will Smith" is
        # not a modal.
        if node.value is not None and node.parent is not None and graph.nodes[node.parent].concept == "name":
            tags[slice(*span)] = ["NNP" if words[i][:1].isupper() else tags[i] for i in range(*span)]
    return AlignedText(text, graph, tokens, tuple(tags), _words_of_nodes(graph, spans, words))


def _evidence(graph: AmrGraph, spans: dict[int, Span], words: list[str]) -> dict[int, str]:
    """Return evidence from the graph about the part of speech of tokens, keyed by token index.

    ``verb`` means that the token is a form of the verb of its frame, as *saw* for ``see-01``. ``predicate``
    means that it expresses a frame but is no verb, as *lucky* for ``lucky-02``. ``plain`` means that it
    expresses a concept that is not a frame.
    """
    kinds: dict[int, str] = {}
    for k, (start, end) in spans.items():
        concept = graph.nodes[k].concept
        if concept is not None and is_frame(concept):
            verbs = readings(words[start].lower()).get("VERB", ())
            kinds[start] = "verb" if lexeme(concept).split(" ")[0] in verbs else "predicate"
        elif concept is not None and end == start + 1:
            kinds.setdefault(start, "plain")
    return kinds


def _words_of_nodes(graph: AmrGraph, spans: dict[int, Span], words: list[str]) -> dict[int, tuple[int, ...]]:
    """Return the indices of the tokens that express each node, keyed by node index.

    All forms of a pronoun express its node, for example both *I* and *my* in "I love my dog". If several
    nodes have the same person, each form expresses the nearest of these nodes.
    """
    mentions = {k: tuple(range(*span)) for k, span in spans.items()}
    by_person: dict[str, list[int]] = {}
    for node in graph.nodes:
        if node.concept in PRONOUNS and node.concept != "one":
            by_person.setdefault(node.concept, []).append(node.position)
    others = (owned for k, owned in mentions.items() if graph.nodes[k].concept not in by_person)
    taken = {index for owned in others for index in owned}
    for index, word in enumerate(words if by_person else ()):
        # If the graph has no node ``it``, *its* refers to a noun ("The dog wagged its tail"), so do not align
        # it with a pronoun node.
        if index in taken or (word.lower() == "its" and "it" not in by_person):
            continue
        # Leave out the pronoun *it* if it refers to nothing: "It is time", "It is for that purpose that he
        # came".
        expletive = word.lower() == "it" and _EXPLETIVE.match(" ".join(words[index + 1 : index + 7]))
        for person in {person for person, _ in pronoun_cases(word)} & by_person.keys():
            k = min(by_person[person], key=lambda k: abs(spans.get(k, (10**6, 0))[0] - index))
            if index not in mentions.get(k, ()) and not expletive:
                mentions[k] = tuple(sorted((*mentions.get(k, ()), index)))
    return mentions
