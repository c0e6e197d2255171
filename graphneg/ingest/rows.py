"""Convert records into rows, which are the parameters of the Cypher statements in ``cypher/load/``.

A row is a dict with the properties of a node or relationship. Ids are derived from the data, so equal input
gives equal ids. A row refers to another row by the position of that row in the batch, so that the server can
connect the two nodes without looking up their ids.

>>> from graphneg.amr.penman import parse_graph
>>> rows = GraphRows()
>>> rows.add(parse_graph("(w / want-01 :ARG0 (b / boy))", "chats/all/1#0@penman"), "chats/all/1#0", GOLD, "")
>>> rows.roles
[{'from': 0, 'to': 1, 'inverted': False, 'branch': 0, 'role': 'ARG0'}]
>>> rows.lexeme_rows()
[{'text': 'boy', 'kind': 'person', 'nodes': [1]}, {'text': 'want', 'kind': 'other', 'nodes': [0]}]
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from graphneg.amr.echoes import repetitions
from graphneg.amr.facts import Analysis, analyse
from graphneg.amr.penman import is_inverted
from graphneg.english.lexicon import Lexicon, english, surface_form
from graphneg.english.noun_kinds import is_frame, kind_of, lexeme
from graphneg.english.selectional_preferences import noun_cluster
from graphneg.english.tokens import WORD, detokenize, one_line, word_count
from graphneg.english.words import CLOSED, content_lemmas, is_foreign, is_past, word_class
from graphneg.hashing import number
from graphneg.ids import natural_order
from graphneg.model import AmrGraph, Dialogue, Frame, Opposite, Rejected, Sentence

Row = dict[str, Any]

GOLD = "penman"
"""The property ``source`` of graphs that were loaded with a corpus. For other graphs, it names the parser."""

_KEY = re.compile(r"[a-z][a-z0-9_]*")
# Names of properties that graphneg itself sets. Attributes must not overwrite them.
_RESERVED = {
    *("id", "corpus", "split", "turn", "speaker", "text", "key", "order", "digest", "attributes"),
    # "shifts" marks dialogues whose shifts were counted, and "pooled" dialogues whose sentences were
    # collected as possible responses.
    *("shifts", "pooled"),
}


def utterance_id(dialogue: str, turn: int) -> str:
    """Return the id of an utterance, such as ``dailydialog/test/12#3``.

    Args:
        dialogue: The id of the dialogue.
        turn: The index of the turn in the dialogue, from 0.

    Returns:
        The id of the utterance.
    """
    return f"{dialogue}#{turn}"


def response_id(dialogue: str, turn: int, number: int) -> str:
    """Return the id of a response, such as ``dailydialog/test/12#3/r0``.

    Args:
        dialogue: The id of the dialogue.
        turn: The number of the turn that the response answers.
        number: The position of the response among the responses of the dialogue, from 0.

    Returns:
        The id of the response.
    """
    return f"{utterance_id(dialogue, turn)}/r{number}"


def is_response(id: str) -> bool:
    """Return whether an id belongs to a response rather than to an utterance.

    >>> is_response("dailydialog/test/12#3/r0"), is_response("dailydialog/test/12#3")
    (True, False)

    Args:
        id: The id of an utterance or a response.

    Returns:
        True for the id of a response.
    """
    return "/r" in id.rpartition("#")[2]


def amr_id(utterance: str, source: str) -> str:
    """Return the id of an utterance's AMR graph, such as ``dailydialog/test/12#3@penman``.

    Args:
        utterance: The id of the utterance or response.
        source: Where the graph comes from, such as `GOLD` or the name of a parser.

    Returns:
        The id of the graph.
    """
    return f"{utterance}@{source}"


def text_key(text: str) -> str:
    """Return a key that is equal for utterances with equal texts.

    Args:
        text: The text. White space is normalized.

    Returns:
        The `digest` of the normalized text.
    """
    return digest(one_line(text))


def digest(value: Any) -> str:
    """Return a digest of a value.

    Args:
        value: A string, or a value that JSON can represent. The order of keys in objects does not matter.

    Returns:
        24 hexadecimal digits.
    """
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(written.encode(), digest_size=12).hexdigest()


def graph_digest(penman: str) -> str:
    r"""Return a digest of a graph. It does not depend on the layout of the PENMAN text.

    >>> graph_digest("(r / run-02 :ARG0 (d / dog))") == graph_digest("(r / run-02\n   :ARG0 (d / dog))\n")
    True

    Args:
        penman: The PENMAN text, including its comment lines.

    Returns:
        The `digest` of the text, with each run of white space replaced by a space.
    """
    return digest(" ".join(penman.split()))


@lru_cache(maxsize=65536)
def term_of(concept: str) -> str | None:
    """Return the term to which AMR nodes with a certain concept are connected in the store.

    Args:
        concept: An AMR concept, such as ``give-up-07``.

    Returns:
        The lemma or phrase, such as ``give up``. None for a concept that only builds structure, such as
        ``and`` or ``be-located-at-91``.
    """
    # Structural concepts such as "and", "name", "be-located-at-91" and "distance-quantity" have no term.
    if concept in word_class("structural-concepts") or concept.endswith(("-91", "-quantity")):
        return None
    return lexeme(concept)


def attributes_row(attributes: Mapping[str, Any]) -> Row:
    """Convert attributes into node properties.

    >>> attributes_row({"topic": "food", "tags": ["a", "b"], "ratings": [1, 2]})
    {'topic': 'food', 'tags': ['a', 'b'], 'attributes': '{"ratings": [1, 2]}'}

    Args:
        attributes: Attributes of a dialogue or an utterance.

    Returns:
        Strings, numbers and lists of strings under their own names. All other values are written into one
        JSON string under ``attributes``, and so are values whose names are reserved or not lower-case
        identifiers.
    """
    row: Row = {}
    rest: Row = {}
    for name, value in attributes.items():
        texts: list[Any] = value if isinstance(value, list) else []
        # Neo4j cannot store nested values, and all items of a list must have the same type. Values that it
        # cannot store are written as JSON below.
        plain = isinstance(value, str | int | float) or (texts and all(isinstance(x, str) for x in texts))
        (row if plain and _KEY.fullmatch(name) and name not in _RESERVED else rest)[name] = value
    if rest:
        row["attributes"] = json.dumps(rest, ensure_ascii=False, sort_keys=True)
    return row


@dataclass(slots=True)
class DialogueRows:
    """The rows for a batch of dialogues, for ``load/dialogues`` and ``load/responses``.

    Attributes:
        dialogues: The rows of dialogues. Their key ``more`` contains the attributes of the dialogue.
        utterances: The rows of utterances. Their key ``dialogue`` contains an index into ``dialogues``.
        next: Pairs of consecutive utterances, as indices into ``utterances``.
        responses: The rows of responses. Each has the id of the utterance that it answers.
    """

    dialogues: list[Row] = field(default_factory=list[Row])
    utterances: list[Row] = field(default_factory=list[Row])
    next: list[list[int]] = field(default_factory=list[list[int]])
    responses: list[Row] = field(default_factory=list[Row])

    def add(self, dialogue: Dialogue) -> None:
        """Add the rows of a dialogue, its utterances and its responses.

        Args:
            dialogue: The dialogue whose rows are added.
        """
        place = len(self.dialogues)
        turns = [[said.speaker, said.text, dict(said.attributes)] for said in dialogue.utterances]
        responses = [[said.turn, said.text, said.label, said.source] for said in dialogue.responses]
        self.dialogues.append(
            {
                "more": attributes_row(dialogue.attributes),
                "id": dialogue.id,
                "corpus": dialogue.corpus,
                "split": dialogue.split,
                # Dialogues are sorted by this key, which puts "chats/all/9" before "chats/all/10".
                "order": natural_order(dialogue.id),
                # By comparing digests, a later load recognizes that a stored dialogue has the same content.
                "digest": digest([turns, responses, dict(dialogue.attributes)]),
            }
        )
        for i, utterance in enumerate(dialogue.utterances):
            if i:
                self.next.append([len(self.utterances) - 1, len(self.utterances)])
            self.utterances.append(
                {
                    "more": attributes_row(utterance.attributes),
                    "dialogue": place,
                    "id": utterance_id(dialogue.id, utterance.turn),
                    "turn": utterance.turn,
                    "speaker": utterance.speaker,
                    "text": utterance.text,
                    "key": text_key(utterance.text),
                }
            )
        for i, response in enumerate(dialogue.responses):
            at = utterance_id(dialogue.id, response.turn)
            id = response_id(dialogue.id, response.turn, i)
            row = {"utterance": at, "id": id, "text": response.text}
            self.responses.append(row | {"label": response.label, "source": response.source})


@dataclass(slots=True)
class GraphRows:
    """The rows for a batch of graphs, for ``load/terms``, ``load/graphs`` and ``load/meanings``.

    Attributes:
        lexicon: The lexicon, which is used to compute facts about nodes (properties that transforms match).
        nodes: The rows of the nodes of all graphs, with facts about these nodes.
        amrs: The rows of graphs. Each has the id of the utterance or response to which the graph belongs.
        roles: The rows of edges. Their keys ``from`` and ``to`` contain indices into ``nodes``.
        lexemes: The nodes that express each term, as indices into ``nodes``.
    """

    lexicon: Lexicon = field(default_factory=english)
    nodes: list[Row] = field(default_factory=list[Row])
    amrs: list[Row] = field(default_factory=list[Row])
    roles: list[Row] = field(default_factory=list[Row])
    lexemes: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    analyses: dict[str, Analysis] = field(default_factory=dict[str, Analysis])
    """The analysis of each graph, keyed by graph id, with which repetitions are found."""
    _first: dict[str, int] = field(default_factory=dict[str, int])

    def add(
        self,
        graph: AmrGraph,
        of: str,
        source: str,
        digest: str,
        text: str = "",
        warnings: Sequence[str] = (),
    ) -> None:
        """Add the rows of a graph.

        Args:
            graph: The graph. Its id becomes the id of the ``Amr`` node.
            of: The id of the utterance or response to which the graph belongs.
            source: The origin of the graph, such as `GOLD`.
            digest: The digest of the graph's PENMAN text.
            text: The text of the utterance or response.
            warnings: Warnings of the parser about the text.
        """
        first = self._first[graph.id] = len(self.nodes)
        properties: Row = {"id": graph.id, "source": source, "digest": digest, "depth": graph.depth}
        # Mark texts in other languages, because the lexicon is English.
        if is_foreign(text):
            properties["foreign"] = True
        if graph.metadata:
            properties["metadata"] = list(graph.metadata)
        if warnings:
            properties["warnings"] = list(warnings)
        self.amrs.append({"of": of, "id": graph.id, "properties": properties})
        analysis = self.analyses[graph.id] = analyse(graph, text, self.lexicon)
        for node, known in zip(graph.nodes, analysis.facts, strict=True):
            row: Row = {
                "id": f"{graph.id}.{node.position}",
                "amr": graph.id,
                "position": node.position,
                "subtree_last": node.subtree_last,
            }
            row |= known | {"branch": node.branch}
            if node.concept is not None:
                row["var"], row["concept"] = node.var, node.concept
                if is_frame(node.concept):
                    row["frame"] = True
                else:
                    row["kind"] = kind_of(node.concept)
                term = term_of(node.concept)
                if term is not None:
                    # `node.position` is an index among the nodes of one graph. Convert it into an index among
                    # the nodes of all graphs in the batch, by adding the index of the graph's first node.
                    self.lexemes.setdefault(term, []).append(first + node.position)
            else:
                row["value"] = node.value
            if node.align is not None:
                row["align"] = node.align
            span = graph.spans.get(node.position)
            if span is not None:
                row["start"], row["end"] = span
            self.nodes.append(row)
            if node.parent is not None and node.role is not None:
                row["role"], row["parent"] = node.role, node.parent
                if node.role_align is not None:
                    row["role_align"] = node.role_align
                self._role(first, node.parent, node.position, node.role, {"branch": node.branch})
        for mention in graph.mentions:
            properties = {"align": mention.align, "role_align": mention.role_align}
            properties |= {"branch": mention.branch, "reentrant": True}
            # In PENMAN notation, a reentrancy mentions a variable again. It is an edge, but not another node.
            self._role(first, mention.parent, mention.target, mention.role, properties)

    def mark_repetitions(self, turns: Sequence[tuple[str, str]]) -> None:
        """Mark the nodes that repeat what was said in an earlier turn of the dialogue.

        Args:
            turns: The speaker and the graph id of each turn that has a graph, in order. The graphs must have
                been added before.
        """
        found = repetitions([(speaker, self.analyses[id].statements) for speaker, id in turns])
        for (_, id), own in zip(turns, found, strict=True):
            for k, by in own.items():
                self.nodes[self._first[id] + k]["repeats"] = by

    def _role(self, first: int, up: int, target: int, role: str, properties: Row) -> None:
        """Add an edge from predicate to argument, even if the PENMAN text has the inverse role."""
        # For example, (b / boy :ARG0-of (w / want-01)) has the edge want-01 -ARG0-> boy.
        inverted = is_inverted(role)
        start, end = (target, up) if inverted else (up, target)
        properties["role"] = role[:-3] if inverted else role
        self.roles.append({"from": first + start, "to": first + end, "inverted": inverted, **properties})

    def lexeme_rows(self) -> list[Row]:
        """Return a row for each term, with the indices in ``nodes`` of the nodes that express the term."""
        said = sorted(self.lexemes.items())
        return [{"text": text, "kind": kind_of(text), "nodes": nodes} for text, nodes in said]


def opposite_row(opposite: Opposite, lexicon: Lexicon) -> Row:
    """Convert a pair of opposites into a row.

    Args:
        opposite: The pair, as ConceptNet lists it.
        lexicon: The lexicon. It contains the kinds of things for which two words are opposites: "young" and
            "old" are opposites for a person, an animal or a plant.

    Returns:
        A row with the two words, the noun kind of each word, and the kinds of things that both words can
        describe as opposites.
    """
    start, end = opposite.start, opposite.end
    known = {
        "start_kind": kind_of(start),
        "end_kind": kind_of(end),
        "modified_kinds": lexicon.modified_kinds(start, end),
    }
    return asdict(opposite) | known


def term_row(text: str, lexicon: Lexicon) -> Row:
    """Convert a term into a row.

    Args:
        text: The lemma or phrase.
        lexicon: The lexicon, which contains the classes of words.

    Returns:
        A row with the term, its surface form, its word classes and its noun class.
    """
    classes, goods = (
        sorted(lexicon.classes_of(text.replace(" ", "-"))),
        "physical-object" in lexicon.classes_of(kind_of(text)),
    )
    known = {"text": text, "form": surface_form(text), "classes": classes, "physical_object": goods or None}
    return known | {"noun_class": noun_cluster(text)}


def scale_rows(texts: Iterable[str], lexicon: Lexicon) -> list[Row]:
    """Return, for each word on a scale, another word on the same scale, such as another day of the week.

    >>> scale_rows(["monday"], english())
    [{'from': 'monday', 'scale': 'time', 'to': 'thursday'}]

    Args:
        texts: The lemmas of the words.
        lexicon: The lexicon, which contains the scales.

    Returns:
        One row per word and scale, with the other word under ``to``. A word without a scale has no row.
    """
    return [
        {"from": text, "scale": how, "to": to} for text in texts for how, to in lexicon.moves.get(text, ())
    ]


def frame_row(frame: Frame, lexicon: Lexicon) -> Row:
    """Convert a PropBank frame into a row.

    Args:
        frame: The frame to convert.
        lexicon: The lexicon, which contains the classes of frames.

    Returns:
        A row with the id, the term of the lemma, and the properties of the frame's node.
    """
    properties: Row = {"id": frame.id, "lemma": frame.lemma, "roles": list(frame.roles)}
    properties["classes"] = sorted(lexicon.classes_of(frame.id))
    given = {"descriptions": frame.descriptions, "aliases": frame.aliases}
    properties |= {name: list(texts) for name, texts in given.items() if texts}
    return {"id": frame.id, "term": lexeme(frame.lemma), "properties": properties}


RANKS = 1 << 31
"""The number of possible ranks.

The rank of a sentence is a pseudo-random integer below this number. It depends only on the sentence, so a
sample of sentences that is drawn by rank can be repeated.
"""
FIRST, SECOND, THIRD = 1, 2, 3
LONGEST_SENTENCE = 2_000
"""Maximum length of a sentence in characters. Longer texts are rejected: they are probably several sentences
that were not separated."""
# Matches the opening words in "I see, ..." and "You're right, ...".
_ASIDE = re.compile(r"((?:I|You)(?:['’]\w+)? \w+),")
# Matches a sentence that starts with a capital letter and ends with a single final punctuation mark.
# In between, the sentence has only words, commas, apostrophes, hyphens, and periods in titles ("Dr. Lee").
_PLAIN = re.compile(r"(?=[A-Z])(?:[\w\s,'’-]|(?:(?<=\bMr)|(?<=\bMs)|(?<=\bDr)|(?<=\bMrs))\.)*[.!?]")


def sentence_row(sentence: Sentence) -> dict[str, Any]:
    """Convert a sentence into the properties of its ``Sentence`` node.

    Args:
        sentence: The sentence to convert.

    Returns:
        The properties, which show whether the sentence can serve as a response. ``terms`` contains its
        content lemmas.
    """
    text = sentence.text
    words, terms, aside = _words(text), content_lemmas(text), _ASIDE.match(text)
    return {
        "id": sentence.id,
        "text": text,
        "source": sentence.source,
        "dialogue": sentence.dialogue or "",
        "words": word_count(text),
        "content": len(terms),
        "mood": mood_of(text),
        "person": _person(words),
        # The opening of a sentence is its first word, or two words in "I see, ..." or "You're right, ...".
        "opening": aside[1].lower().replace("’", "'") if aside else words[0] if words else "",
        "finite": sentence.clause or _is_finite(words),
        "plain": _PLAIN.fullmatch(text) is not None and _is_careful(text, words),
        "rank": number(0, "sentence", sentence.id) % RANKS,
        "terms": list(terms),
    }


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in WORD.findall(text)]


def _is_careful(text: str, words: Sequence[str]) -> bool:
    """Return whether a text looks carefully written: without "dont", without " - ", without "the the"."""
    if " - " in text or not word_class("careless").isdisjoint(words):
        return False
    return not any(a == b and a not in word_class("said-twice") for a, b in pairwise(words))


def mention_rows(sentences: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the terms that sentences mention, with a score for each mention.

    >>> mention_rows([{"terms": ["dog", "park"], "dialogue": ""}, {"terms": ["dog"], "dialogue": "a/b/1"}])[0]
    {'text': 'dog', 'places': [0, 1], 'scores': [0.5, 1.0], 'spoken': 1}

    Args:
        sentences: Rows of sentences, as `sentence_row` returns them.

    Returns:
        One row per term. ``places`` contains the indices of the sentences that mention the term, ``scores`` a
        score for each of these sentences, and ``spoken`` the number of these sentences that come from
        dialogues. A score is 1 divided by the number of terms in the sentence, because each term is more
        important in a sentence with fewer terms.
    """
    places: dict[str, list[int]] = {}
    for place, row in enumerate(sentences):
        for term in row["terms"]:
            places.setdefault(term, []).append(place)
    return [
        {
            "text": term,
            "places": places[term],
            "scores": [1.0 / len(sentences[place]["terms"]) for place in places[term]],
            "spoken": sum(sentences[place]["dialogue"] != "" for place in places[term]),
        }
        for term in sorted(places)
    ]


def mood_of(text: str) -> str:
    """Return the mood of a sentence, judged by its final punctuation mark.

    Args:
        text: The text of the sentence.

    Returns:
        ``question``, ``exclamation`` or ``statement``.
    """
    # Skip closing quotation marks and brackets, as in: She said "Really?"
    end = text.rstrip("\"'”’) ")[-1:]
    return {"?": "question", "!": "exclamation"}.get(end, "statement")


def person_of(text: str) -> int:
    """Return the lowest grammatical person in a text.

    >>> person_of("You never met us."), person_of("You never met them."), person_of("It rains.")
    (1, 2, 3)

    Args:
        text: The text.

    Returns:
        1 if the text refers to the speaker, else 2 if it refers to the addressee, else 3.
    """
    return _person(_words(text))


def _person(words: Sequence[str]) -> int:
    # Cut contractions, so that "I've" counts as "I".
    bare = {word.partition("'")[0] for word in words}
    first, second = word_class("first-person"), word_class("second-person")
    return FIRST if bare & first else SECOND if bare & second else THIRD


def _is_finite(words: Sequence[str]) -> bool:
    """Return whether words include a finite verb, as "we go" does but "old cars" does not."""
    finite, subjects = word_class("finite-forms"), word_class("subjects")
    return any(
        word in finite or (before in subjects and word not in CLOSED) or is_past(word)
        for before, word in zip(("", *words), words, strict=False)
    )


def sentence(id: str, text: str, source: str, place: str, clause: bool = False) -> Sentence | Rejected:
    """Make a `Sentence` that can be used as a response, with normalized spacing and quotation marks.

    Args:
        id: The id of the sentence, ``SOURCE/NAME``.
        text: The text. Its tokens may be separated by spaces.
        source: The name of the resource or corpus that contains the sentence.
        place: The position of the sentence, such as ``FILE:LINE``.
        clause: Whether the sentence is known to be a complete clause.

    Returns:
        The sentence; a `Rejected` if it is too long or contains a lone surrogate.
    """
    text = detokenize(text)
    if len(text) > LONGEST_SENTENCE:
        return Rejected(place, f"a sentence is longer than {LONGEST_SENTENCE:,} characters")
    try:
        # Reject lone surrogates, because the database driver cannot send them.
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Rejected(place, f"half of a surrogate pair, U+{ord(text[error.start]):04X}")
    return Sentence(id, text, source, clause=clause)


def as_sentence(example: str) -> str:
    """Return a dictionary example as a sentence, with an initial capital and a final punctuation mark.

    >>> as_sentence("he ran up a large bill")
    'He ran up a large bill.'

    Args:
        example: The text of the dictionary example.

    Returns:
        The sentence. An empty text stays empty.
    """
    text = example[:1].upper() + example[1:]
    return text if not text or text[-1] in ".!?\"'”’" else f"{text.rstrip(',;: ')}."
