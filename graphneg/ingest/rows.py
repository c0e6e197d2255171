"""Model records as rows for the statements in ``cypher/load/``, and what these rows tell of sentences.

In: records of `graphneg.model`. Out: dicts of properties, their ids and digests.
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

from graphneg.amr.echoes import SaidTurn, Saying, echoes
from graphneg.amr.facts import facts_and_sayings
from graphneg.amr.penman import is_inverted
from graphneg.english.lexicon import Lexicon, english, form_of
from graphneg.english.noun_kinds import is_frame, kind_of, lexeme
from graphneg.english.takes import sort_of
from graphneg.english.tokens import WORD, closed_up, one_line, word_count
from graphneg.english.words import CLOSED, content_lemmas, is_foreign, is_past, word_class
from graphneg.hashing import number
from graphneg.model import AmrGraph, Dialogue, Frame, Opposite, Rejected, Sentence
from graphneg.shards import natural_order

Row = dict[str, Any]

GOLD = "penman"
"""The source of graphs that a corpus brings."""

_KEY = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED = {"id", "corpus", "split", "turn", "speaker", "text", "key", "order", "digest", "attributes"}


def utterance_id(dialogue: str, turn: int) -> str:
    """The id of an utterance: ``dailydialog/test/12#3``."""
    return f"{dialogue}#{turn}"


def amr_id(utterance: str, source: str) -> str:
    """The id of an utterance's graph by its source: ``dailydialog/test/12#3@penman``."""
    return f"{utterance}@{source}"


def text_key(text: str) -> str:
    """A short digest of a text, white space normalised: what utterances are matched by."""
    return digest(one_line(text))


def digest(value: Any) -> str:
    """24 hexadecimal digits of a text, or of a value as sorted JSON."""
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(written.encode(), digest_size=12).hexdigest()


@lru_cache(maxsize=65536)
def term_of(concept: str) -> str | None:
    """The term that a concept's node is tied to; none for concepts that only build structure."""
    if concept in word_class("structural-concepts") or concept.endswith(("-91", "-quantity")):
        return None
    return lexeme(concept)


def attributes_row(attributes: Mapping[str, Any]) -> Row:
    """Attributes as properties: plain values under their names, the rest as JSON in ``attributes``."""
    row: Row = {}
    rest: Row = {}
    for name, value in attributes.items():
        texts: list[Any] = value if isinstance(value, list) else []
        plain = isinstance(value, str | int | float) or (texts and all(isinstance(x, str) for x in texts))
        (row if plain and _KEY.fullmatch(name) and name not in _RESERVED else rest)[name] = value
    if rest:
        row["attributes"] = json.dumps(rest, ensure_ascii=False, sort_keys=True)
    return row


@dataclass(slots=True)
class DialogueRows:
    """Rows of a batch of dialogues, for ``load/dialogues`` and ``load/responses``."""

    dialogues: list[Row] = field(default_factory=list[Row])
    utterances: list[Row] = field(default_factory=list[Row])
    next: list[list[int]] = field(default_factory=list[list[int]])
    responses: list[Row] = field(default_factory=list[Row])

    def add(self, dialogue: Dialogue) -> None:
        """Add the rows of a dialogue, its utterances and its responses."""
        place = len(self.dialogues)
        turns = [[said.speaker, said.text, dict(said.attributes)] for said in dialogue.utterances]
        responses = [[said.turn, said.text, said.label, said.source] for said in dialogue.responses]
        self.dialogues.append(
            {
                "more": attributes_row(dialogue.attributes),
                "id": dialogue.id,
                "corpus": dialogue.corpus,
                "split": dialogue.split,
                "order": natural_order(dialogue.id),
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
            row = {"utterance": at, "id": f"{at}/r{i}", "text": response.text}
            self.responses.append(row | {"label": response.label, "source": response.source})


@dataclass(slots=True)
class GraphRows:
    """Rows of a batch of graphs, for ``load/terms``, ``load/graphs`` and ``load/meanings``.

    The facts about their nodes are what ``lexicon`` and the texts that they mean say.
    """

    lexicon: Lexicon = field(default_factory=english)
    nodes: list[Row] = field(default_factory=list[Row])
    amrs: list[Row] = field(default_factory=list[Row])
    roles: list[Row] = field(default_factory=list[Row])
    lexemes: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    said: dict[str, list[Saying]] = field(default_factory=dict[str, list[Saying]])
    """By graph, what its nodes say."""
    _first: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, graph: AmrGraph, of: str, source: str, digest: str, text: str = "") -> None:
        """Add the rows of one graph, whose id is the ``Amr`` vertex's; ``text`` is what it means."""
        first = self._first[graph.id] = len(self.nodes)
        properties: Row = {"id": graph.id, "source": source, "digest": digest, "depth": graph.depth}
        if is_foreign(text):
            properties["foreign"] = True
        if graph.metadata:
            properties["metadata"] = list(graph.metadata)
        self.amrs.append({"of": of, "id": graph.id, "properties": properties})
        found, self.said[graph.id] = facts_and_sayings(graph, text, self.lexicon)
        for node, known in zip(graph.nodes, found, strict=True):
            row: Row = {"id": f"{graph.id}.{node.k}", "amr": graph.id, "k": node.k, "last": node.last}
            row |= known | {"pos": node.pos}
            if node.concept is not None:
                row["var"], row["concept"] = node.var, node.concept
                if is_frame(node.concept):
                    row["frame"] = True
                else:
                    row["kind"] = kind_of(node.concept)
                term = term_of(node.concept)
                if term is not None:
                    self.lexemes.setdefault(term, []).append(first + node.k)
            else:
                row["value"] = node.value
            if node.align is not None:
                row["align"] = node.align
            span = graph.spans.get(node.k)
            if span is not None:
                row["start"], row["end"] = span
            self.nodes.append(row)
            if node.up is not None and node.role is not None:
                row["role"], row["up"] = node.role, node.up
                if node.role_align is not None:
                    row["role_align"] = node.role_align
                self._role(first, node.up, node.k, node.role, {"pos": node.pos})
        for mention in graph.mentions:
            properties = {"align": mention.align, "role_align": mention.role_align}
            properties |= {"pos": mention.pos, "reentrant": True}
            self._role(first, mention.up, mention.target, mention.role, properties)

    def mark_echoes(self, turns: Sequence[tuple[str, str]]) -> None:
        """Mark what a dialogue says again: of its graphs, which were added, in their order, who says it and
        its id."""
        found = echoes([SaidTurn(speaker, self.said[id]) for speaker, id in turns])
        for (_, id), own in zip(turns, found, strict=True):
            for k, by in own.items():
                self.nodes[self._first[id] + k]["echo"] = by

    def _role(self, first: int, up: int, target: int, role: str, properties: Row) -> None:
        """One edge, from predicate to argument whichever way the text writes it."""
        inverted = is_inverted(role)
        start, end = (target, up) if inverted else (up, target)
        properties["role"] = role[:-3] if inverted else role
        self.roles.append({"from": first + start, "to": first + end, "inverted": inverted, **properties})

    def lexeme_rows(self) -> list[Row]:
        """The terms of the batch, each with the nodes that say it."""
        said = sorted(self.lexemes.items())
        return [{"text": text, "kind": kind_of(text), "nodes": nodes} for text, nodes in said]


def opposite_row(opposite: Opposite, lexicon: Lexicon) -> Row:
    """A pair of opposites, with what it is said of and the kinds of its ends."""
    start, end = opposite.start, opposite.end
    known = {"start_kind": kind_of(start), "end_kind": kind_of(end), "said_of": lexicon.said_of(start, end)}
    return asdict(opposite) | known


def term_row(text: str, lexicon: Lexicon) -> Row:
    """A term with what the lexicon knows of it."""
    classes, goods = sorted(lexicon.of(text.replace(" ", "-"))), "goods" in lexicon.of(kind_of(text))
    known = {"text": text, "form": form_of(text), "classes": classes, "goods": goods or None}
    return known | {"sort": sort_of(text)}


def move_rows(texts: Iterable[str], lexicon: Lexicon) -> list[Row]:
    """How these words move along their scales."""
    return [{"from": text, "how": how, "to": to} for text in texts for how, to in lexicon.moves.get(text, ())]


def frame_row(frame: Frame, lexicon: Lexicon) -> Row:
    """A frame, tied to the term of its lemma, with its classes."""
    properties: Row = {"id": frame.id, "lemma": frame.lemma, "roles": list(frame.roles)}
    properties["classes"] = sorted(lexicon.of(frame.id))
    given = {"descriptions": frame.descriptions, "aliases": frame.aliases}
    properties |= {name: list(texts) for name, texts in given.items() if texts}
    return {"id": frame.id, "term": lexeme(frame.lemma), "properties": properties}


RANKS = 1 << 31
"""Ranks are whole numbers from 0 to this."""
FIRST, SECOND, THIRD = 1, 2, 3
LONGEST_SENTENCE = 2_000
"""Characters. A line of text without ends of sentences is no sentence."""
_ASIDE = re.compile(r"((?:I|You)(?:['’]\w+)? \w+),")
_PLAIN = re.compile(r"(?=[A-Z])(?:[\w\s,'’-]|(?:(?<=\bMr)|(?<=\bMs)|(?<=\bDr)|(?<=\bMrs))\.)*[.!?]")


def sentence_row(sentence: Sentence) -> dict[str, Any]:
    """The properties of a ``Sentence`` node; ``terms`` are the content lemmas that it mentions."""
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
        # The first word; of *I see,* and *You're right,* both.
        "opening": aside[1].lower().replace("’", "'") if aside else words[0] if words else "",
        "finite": sentence.clause or _is_finite(words),
        "plain": _PLAIN.fullmatch(text) is not None and _is_careful(text, words),
        "rank": number(0, "sentence", sentence.id) % RANKS,
        "terms": list(terms),
    }


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in WORD.findall(text)]


def _is_careful(text: str, words: Sequence[str]) -> bool:
    """Whether it is written with apostrophes, without a dash, and says no word twice in a row."""
    if " - " in text or not word_class("careless").isdisjoint(words):
        return False
    return not any(a == b and a not in word_class("said-twice") for a, b in pairwise(words))


def mention_rows(sentences: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each term that sentences mention, with their places and scores: who speaks of less says more of it."""
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
    """``question``, ``exclamation`` or ``statement``, by the text's last mark."""
    end = text.rstrip("\"'”’) ")[-1:]
    return {"?": "question", "!": "exclamation"}.get(end, "statement")


def person_of(text: str) -> int:
    """The lowest grammatical person that the text speaks of: 1, 2 or 3.

    >>> person_of("You never met us."), person_of("You never met them."), person_of("It rains.")
    (1, 2, 3)
    """
    return _person(_words(text))


def _person(words: Sequence[str]) -> int:
    bare = {word.partition("'")[0] for word in words}
    first, second = word_class("first-person"), word_class("second-person")
    return FIRST if bare & first else SECOND if bare & second else THIRD


def _is_finite(words: Sequence[str]) -> bool:
    """Whether a finite verb stands in it, as far as forms tell: *was*, *we go*, *took*; not *old cars*."""
    finite, subjects = word_class("finite-forms"), word_class("subjects")
    return any(
        word in finite or (before in subjects and word not in CLOSED) or is_past(word)
        for before, word in zip(("", *words), words, strict=False)
    )


def sentence(id: str, text: str, source: str, place: str, clause: bool = False) -> Sentence | Rejected:
    """A sentence of a pool, its text `closed_up`, or why it is none."""
    text = closed_up(text)
    if len(text) > LONGEST_SENTENCE:
        return Rejected(place, f"a sentence is longer than {LONGEST_SENTENCE:,} characters")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Rejected(place, f"half of a surrogate pair, U+{ord(text[error.start]):04X}")
    return Sentence(id, text, source, clause=clause)


def as_sentence(example: str) -> str:
    """An example of a dictionary written as a sentence: a capital first, a mark at its end.

    >>> as_sentence("he ran up a large bill")
    'He ran up a large bill.'
    """
    text = example[:1].upper() + example[1:]
    return text if not text or text[-1] in ".!?\"'”’" else f"{text.rstrip(',;: ')}."
