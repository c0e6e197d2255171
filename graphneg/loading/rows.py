"""Model records as rows for the statements in ``cypher/load/``."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from graphneg.kinds import kind_of, said_of
from graphneg.lexeme import is_frame, lexeme
from graphneg.model import AmrGraph, Dialogue, Frame, Opposite
from graphneg.penman_codec import is_inverted

Row = dict[str, Any]

GOLD = "penman"
"""The source of graphs that a corpus brings."""

_STRUCTURAL = frozenset(
    {"name", "multi-sentence", "and", "or", "amr-unknown", "amr-choice", "date-entity", "interrogative"}
)
_KEY = re.compile(r"^[a-z][a-z0-9_]*$")
_DIGITS = re.compile(r"\d+")
_RESERVED = frozenset(
    {"id", "corpus", "split", "turn", "speaker", "text", "key", "order", "digest", "attributes"}
)


def utterance_id(dialogue: str, turn: int) -> str:
    return f"{dialogue}#{turn}"


def amr_id(utterance: str, source: str) -> str:
    return f"{utterance}@{source}"


def text_key(text: str) -> str:
    """A short digest of a text, white space normalised: what utterances are matched by."""
    return digest(" ".join(text.split()))


def digest(value: Any) -> str:
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(written.encode(), digest_size=12).hexdigest()


def natural_order(id: str) -> str:
    """An ASCII key that sorts ids as people do: 2 before 10; the same order on every server.

    >>> sorted(["c/test/10", "c/test/9"], key=natural_order)
    ['c/test/9', 'c/test/10']
    """
    padded = _DIGITS.sub(lambda match: f"{len(match[0]):02d}{match[0]}", id)
    return padded.encode("ascii", "backslashreplace").decode("ascii")


@lru_cache(maxsize=65536)
def term_of(concept: str) -> str | None:
    """The term that a concept's node is tied to; none for concepts that only build structure."""
    if concept in _STRUCTURAL or concept.endswith("-91") or concept.endswith("-quantity"):
        return None
    return lexeme(concept)


def dialogue_digest(dialogue: Dialogue) -> str:
    """A digest of what a dialogue says; its graphs have digests of their own."""
    turns = [[u.speaker, u.text, dict(u.attributes)] for u in dialogue.utterances]
    responses = [[r.turn, r.text, r.label, r.source] for r in dialogue.responses]
    return digest([turns, responses, dict(dialogue.attributes)])


def attributes_row(attributes: Mapping[str, Any]) -> Row:
    """Attributes as properties: plain values under their names, the rest as JSON in ``attributes``."""
    row: Row = {}
    rest: Row = {}
    for name, value in attributes.items():
        plain = isinstance(value, str | int | float | bool) or _is_plain_list(value)
        if plain and _KEY.match(name) and name not in _RESERVED:
            row[name] = value
        else:
            rest[name] = value
    if rest:
        row["attributes"] = json.dumps(rest, ensure_ascii=False, sort_keys=True)
    return row


def _is_plain_list(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, str) for one in cast(list[Any], value))
    )


@dataclass(slots=True)
class DialogueRows:
    """Rows of a batch of dialogues, for ``load/dialogues`` and ``load/responses``."""

    dialogues: list[Row] = field(default_factory=list[Row])
    utterances: list[Row] = field(default_factory=list[Row])
    next: list[list[int]] = field(default_factory=list[list[int]])
    responses: list[Row] = field(default_factory=list[Row])

    def add(self, dialogue: Dialogue) -> None:
        place = len(self.dialogues)
        row: Row = {
            "more": attributes_row(dialogue.attributes),
            "id": dialogue.id,
            "corpus": dialogue.corpus,
            "split": dialogue.split,
            "order": natural_order(dialogue.id),
            "digest": dialogue_digest(dialogue),
        }
        self.dialogues.append(row)
        for i, utterance in enumerate(dialogue.utterances):
            row = {
                "more": attributes_row(utterance.attributes),
                "dialogue": place,
                "id": utterance_id(dialogue.id, utterance.turn),
                "turn": utterance.turn,
                "speaker": utterance.speaker,
                "text": utterance.text,
                "key": text_key(utterance.text),
            }
            if i:
                self.next.append([len(self.utterances) - 1, len(self.utterances)])
            self.utterances.append(row)
        for i, response in enumerate(dialogue.responses):
            at = utterance_id(dialogue.id, response.turn)
            row = {"utterance": at, "id": f"{at}/r{i}", "text": response.text}
            row |= {"label": response.label, "source": response.source}
            self.responses.append(row)


@dataclass(slots=True)
class GraphRows:
    """Rows of a batch of graphs, for ``load/terms``, ``load/graphs`` and ``load/meanings``."""

    nodes: list[Row] = field(default_factory=list[Row])
    amrs: list[Row] = field(default_factory=list[Row])
    roles: list[Row] = field(default_factory=list[Row])
    lexemes: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def add(self, graph: AmrGraph, of: str, source: str, digest: str) -> None:
        """Add the rows of one graph, whose id is the ``Amr`` vertex's."""
        first = len(self.nodes)
        properties: Row = {"id": graph.id, "source": source, "digest": digest, "depth": graph.depth}
        if graph.metadata:
            properties["metadata"] = list(graph.metadata)
        self.amrs.append({"of": of, "id": graph.id, "properties": properties})
        for node in graph.nodes:
            row: Row = {"id": f"{graph.id}.{node.k}", "amr": graph.id, "k": node.k, "last": node.last}
            row["pos"] = node.pos
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
            properties = {"pos": mention.pos, "reentrant": True}
            if mention.align is not None:
                properties["align"] = mention.align
            if mention.role_align is not None:
                properties["role_align"] = mention.role_align
            self._role(first, mention.up, mention.target, mention.role, properties)

    def _role(self, first: int, up: int, target: int, role: str, properties: Row) -> None:
        """One edge, from predicate to argument whichever way the text writes it."""
        inverted = is_inverted(role)
        start, end = (target, up) if inverted else (up, target)
        properties["role"] = role[:-3] if inverted else role
        self.roles.append({"from": first + start, "to": first + end, "inverted": inverted, **properties})

    def lexeme_rows(self) -> list[Row]:
        return [
            {"text": text, "kind": kind_of(text), "nodes": self.lexemes[text]}
            for text in sorted(self.lexemes)
        ]


def opposite_row(opposite: Opposite) -> Row:
    return {
        "start": opposite.start,
        "end": opposite.end,
        "start_kind": kind_of(opposite.start),
        "end_kind": kind_of(opposite.end),
        "said_of": said_of(opposite.start, opposite.end),
        "relation": opposite.relation,
        "weight": opposite.weight,
        "source": opposite.source,
        "language": opposite.language,
    }


def frame_row(frame: Frame) -> Row:
    properties: Row = {"id": frame.id, "lemma": frame.lemma, "roles": list(frame.roles)}
    if frame.descriptions:
        properties["descriptions"] = list(frame.descriptions)
    if frame.aliases:
        properties["aliases"] = list(frame.aliases)
    return {"id": frame.id, "term": lexeme(frame.lemma), "properties": properties}
