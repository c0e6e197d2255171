"""Finds the utterance that each PENMAN text belongs to: by ``::id``, else by ``::snt``.

Texts that belong to none become dialogues of their own, a fixed number of them each, in their
order: so a file of graphs alone (a book, say) can be edited as well. Nothing here depends on how
much of the same load is in the store already, so a load that was killed is completed by
running it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from graphneg.loading.rows import digest, text_key, utterance_id
from graphneg.model import Dialogue, GraphText, Utterance
from graphneg.store import Store, cypher_text

SPEAKERS = ("A", "B")


@dataclass(slots=True)
class Grouping:
    """Dialogues made of graphs: ``turns`` each, called ``corpus/split/0`` and so on.

    ``places`` has, by utterance id, where the graph of each stands in its file, until it is taken.
    """

    corpus: str
    split: str
    turns: int
    made: int = 0
    waiting: list[Utterance] = field(default_factory=list[Utterance])
    places: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, text: GraphText) -> Iterator[Dialogue]:
        turn = len(self.waiting)
        said = (text.text or "").strip()
        self.places[utterance_id(self._id(), turn)] = text.place
        self.waiting.append(Utterance(turn, SPEAKERS[turn % 2], said, amr=text.penman))
        if len(self.waiting) == self.turns:
            yield from self.rest()

    def rest(self) -> Iterator[Dialogue]:
        """The dialogue that is not full yet, if any."""
        if self.waiting:
            attributes = {"made_of": "graphs"}
            yield Dialogue(self._id(), self.corpus, self.split, tuple(self.waiting), attributes=attributes)
            self.made += 1
            self.waiting = []

    def _id(self) -> str:
        return f"{self.corpus}/{self.split}/{self.made}"


def placed(
    texts: Sequence[GraphText], store: Store, grouping: Grouping
) -> Iterator[Dialogue | tuple[str, GraphText]]:
    """Each text with the utterance it belongs to, or in a dialogue of ``grouping``.

    A text matches by ``::snt`` only utterances that have no graph, or this very graph.
    """
    ids = {row["id"] for row in store.read(cypher_text("load/utterances_by_id"), ids=_possible_ids(texts))}
    keys = sorted({text_key(text.text) for text in texts if text.text and text.id not in ids})
    by_key: dict[str, list[tuple[str, list[str]]]] = {}
    for row in store.read(cypher_text("load/utterances_by_text"), keys=keys) if keys else ():
        by_key.setdefault(row["key"], []).append((row["id"], row["digests"]))
    for text in texts:
        if text.id is not None and text.id in ids:
            yield text.id, text
            continue
        content = digest(text.penman.strip())
        fitting = (
            [id for id, digests in by_key.get(text_key(text.text), ()) if not digests or content in digests]
            if text.text
            else []
        )
        for id in sorted(fitting):
            yield id, text
        if not fitting:
            yield from grouping.add(text)


def _possible_ids(texts: Sequence[GraphText]) -> list[str]:
    return sorted({text.id for text in texts if text.id is not None and "#" in text.id})
