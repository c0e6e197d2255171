"""From files to dialogues: what every loader checks before it yields one.

In: the entries of a file, or graphs with their texts. Out: dialogues that a store can hold,
or a `Rejected` for each that it can't, with its place in the file and the reason. `FileLoader` and
`DialogueLoader` are what most loaders are made from.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, cast

from graphneg.ingest.content import Refused
from graphneg.ingest.loader import LoadOptions, checked
from graphneg.ingest.reading import Item, files_within, input_files, json_lines, split_of
from graphneg.ingest.rows import digest, text_key, utterance_id
from graphneg.ingest.spill import KnownIds
from graphneg.ingest.turns import of_turns
from graphneg.model import AmrGraph, Dialogue, GraphText, Record, Rejected, Utterance
from graphneg.progress import Progress
from graphneg.store.dialogues import Reads
from graphneg.store.statements import cypher_text

_LARGEST_INTEGER = 2**63
_SURROGATE = re.compile(r"[\ud800-\udfff]")
LONGEST_KEY = 500
"""Longest id, name of a corpus or speaker, term or concept, in bytes of UTF-8.

These are indexed. Neo4j's range indexes take keys of about 8 kB, the embedded server's those that fit a page
of 256 kB; what is longer ends the transaction, with all else in it. Ids of graphs and nodes, and the keys
that dialogues are sorted by, are a few times as long as the ids that they are made from."""
LONGEST_CONSTANT = 5_000
"""Longest constant of a graph in bytes, such as the URL of a ``:wiki`` role. Constants are not indexed."""
LONGEST_GRAPH = 1_000_000
"""Longest AMR graph in characters, its metadata included."""


class FileLoader(ABC):
    """A loader that reads file by file: its `records` are those of one file.

    ``within`` is the pattern of the files that a directory stands for, and what one without them lacks; by
    default a directory is refused.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    within: ClassVar[tuple[str, str] | None] = None

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The records of the files, in their order.

        Raises `InputError`: a file is missing, or not one that the loader reads.
        """
        for path in self.files(paths):
            yield from checked(path, self.name, self.records(path, options))

    def files(self, paths: Sequence[Path]) -> list[Path]:
        """The files that were given, and those of the directories."""
        if self.within is not None:
            paths = [file for path in paths for file in files_within(path, *self.within)]
        return input_files(paths, self.name)

    @abstractmethod
    def records(self, path: Path, options: LoadOptions) -> Iterator[Record]:
        """The records of one file, with a `Rejected` for each item that is refused."""


class DialogueLoader(FileLoader):
    """A loader of dialogues: `items` cuts a file into entries, `dialogue` says what one of them means.

    A dialogue that a store can't hold is rejected, and one whose id came before.
    """

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The dialogues of the files, as `FileLoader.read`."""
        return dialogues_of(self.files(paths), self.name, options, self.items, self._named)

    def records(self, path: Path, options: LoadOptions) -> Iterator[Record]:
        """The dialogues of one file."""
        return self.read([path], options)

    def items(self, path: Path, progress: Progress) -> Iterable[Item | Rejected]:
        """The entries of a file: by default one JSON value a line."""
        return json_lines(path, progress)

    @abstractmethod
    def dialogue(self, item: Item) -> Dialogue:
        """The dialogue of an entry; ``corpus`` and ``split`` may be empty, ``id`` a name without them.

        Raises `Refused`: the entry is not in the loader's form.
        """

    def corpus(self, path: Path) -> str:
        """The name of the corpus where neither options nor the entry say it."""
        return self.name

    def _named(self, item: Item, path: Path, options: LoadOptions) -> Dialogue:
        return named(self.dialogue(item), options, self.corpus(path), split_of(path))


def named(dialogue: Dialogue, options: LoadOptions, corpus: str, split: str) -> Dialogue:
    """The dialogue under its whole id, with the turns that `of_turns` leaves. Options go before what it says
    itself, the arguments after it."""
    corpus, split = dialogue.corpus or corpus, dialogue.split or split
    name = dialogue.id.removeprefix(f"{corpus}/{split}/")
    corpus, split = options.corpus or corpus, options.split or split
    whole = replace(dialogue, id=f"{corpus}/{split}/{name}", corpus=corpus, split=split)
    return of_turns(whole, options)


def dialogues_of(
    files: Iterable[Path],
    loader: str,
    options: LoadOptions,
    items: Callable[[Path, Progress], Iterable[Item | Rejected]],
    make: Callable[[Item, Path, LoadOptions], Dialogue],
) -> Iterator[Record]:
    """The dialogues of a loader's files: ``items`` reads a file, ``make`` turns each item into a dialogue.

    Raises `InputError`: a file is not one that the loader reads.
    """
    known = KnownIds()

    def of_file(path: Path) -> Iterator[Record]:
        return valid_dialogues(items(path, options.progress), lambda item: make(item, path, options), known)

    for path in files:
        yield from checked(path, loader, of_file(path))


def valid_dialogues(
    items: Iterable[Item | Rejected], make: Callable[[Item], Dialogue], known: KnownIds
) -> Iterator[Dialogue | Rejected]:
    """A dialogue of each item; one that can't be made or stored, or whose id is ``known``, is rejected.

    Raises `InputError`: there is no room on disk for ids."""
    for item in items:
        if isinstance(item, Rejected):
            yield item
            continue
        try:
            dialogue = make(item)
            require_storable(dialogue)
        except Refused as reason:
            yield Rejected(item.place, f"item {item.key or item.number}: {reason}")
            continue
        if not known.add(dialogue.id):
            yield Rejected(item.place, f"the id {dialogue.id!r} came before in this load")
            continue
        yield replace(dialogue, place=item.place)


def alternating(texts: Sequence[str], first: str = "A", second: str = "B") -> tuple[Utterance, ...]:
    """Utterances of two speakers in turn, white space around them removed."""
    return tuple(
        Utterance(turn, second if turn % 2 else first, text.strip()) for turn, text in enumerate(texts)
    )


def strings(value: Any, what: str) -> list[str]:
    """A JSON array of strings.

    Raises `Refused`: it is something else.
    """
    if not isinstance(value, list):
        raise Refused(f"{what} is not a list of strings")
    elements = cast("list[Any]", value)
    if not all(isinstance(element, str) for element in elements):
        raise Refused(f"{what} has something in it that is not a string")
    return elements


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """A JSON object.

    Raises `Refused`: it is something else.
    """
    if not isinstance(value, dict):
        raise Refused(f"{what} is not a JSON object")
    return cast("dict[str, Any]", value)


def require_storable(dialogue: Dialogue) -> None:
    """Check that a store can hold the dialogue, and that there is something in each turn.

    Raises `Refused`: no turns, an empty utterance or response, an id or a name that is too long, an id with
    control characters, a character that UTF-8 does not have, or a number of more than 64 bits.
    """
    if not dialogue.utterances:
        raise Refused("the dialogue has no turns")
    names = {"corpus": dialogue.corpus, "split": dialogue.split, "id": dialogue.id}
    names |= {f"speaker of turn {one.turn}": one.speaker for one in dialogue.utterances}
    names |= {f"source of response {number}": one.source for number, one in enumerate(dialogue.responses)}
    for what, name in names.items():
        if reason := too_long(f"the {what}", name):
            raise Refused(reason)
    if not dialogue.id.isprintable():
        raise Refused(f"the id {dialogue.id!a} has characters that are not printable")
    for one in dialogue.utterances:
        _require_said(f"turn {one.turn}", one.text, one.speaker, one.amr, one.attributes)
    for number, one in enumerate(dialogue.responses):
        _require_said(f"response {number} ({one.source})", one.text, one.source, one.amr)
    _require_values("the dialogue", dialogue.attributes)


def too_long(what: str, text: str, most: int = LONGEST_KEY) -> str | None:
    """Return why a text cannot be stored under an index; None if it can.

    >>> too_long("the corpus", "a" * 501)
    "the corpus 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'... has 501 bytes, and at most 500 are stored"
    """
    if len(text) * 4 <= most or (size := len(text.encode("utf-8", "surrogatepass"))) <= most:
        return None
    return f"{what} {text[:40]!r}... has {size:,} bytes, and at most {most:,} are stored"


def oversized(graph: AmrGraph) -> str | None:
    """Return why a graph cannot be stored: a concept, name or constant in it is too long; None if it can."""
    for node in graph.nodes:
        named = (("concept", node.concept), ("variable", node.var), ("role", node.role))
        found = (too_long(f"the {what}", name) for what, name in named if name is not None)
        constant = node.value and too_long("the constant", node.value, LONGEST_CONSTANT)
        if reason := next(filter(None, found), None) or constant:
            return reason
    return next(filter(None, (too_long("the role", one.role) for one in graph.mentions)), None)


def _require_said(what: str, text: str, *others: Any) -> None:
    if not text.strip():
        raise Refused(f"{what} is empty")
    _require_values(what, text, *others)


def _require_values(what: str, *values: Any) -> None:
    pending: list[Any] = list(values)
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            if "\0" in part:
                raise Refused(f"{what} has a NUL character")
            if not part.isascii() and (lone := _SURROGATE.search(part)):
                code = ord(lone[0])
                if 0xDC80 <= code <= 0xDCFF:
                    raise Refused(f"{what} is not UTF-8: byte 0x{code - 0xDC00:02x}")
                raise Refused(f"{what} has half of a surrogate pair, U+{code:04X}")
        elif isinstance(part, Mapping):
            fields = cast("Mapping[str, Any]", part)
            pending.extend([*fields.keys(), *fields.values()])
        elif isinstance(part, list | tuple):
            pending.extend(cast("Sequence[Any]", part))
        elif isinstance(part, int) and not -_LARGEST_INTEGER <= part < _LARGEST_INTEGER:
            raise Refused(f"{what} has a number of more than 64 bits")


@dataclass(slots=True)
class Grouping:
    """Dialogues made of graphs: ``turns`` each, called ``corpus/split/0`` and so on.

    ``places`` has, by utterance id, where the graph of each stands in its file, until it is taken.
    """

    corpus: str
    split: str
    turns: int
    made: int = 0
    pending: list[Utterance] = field(default_factory=list[Utterance])
    places: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, text: GraphText) -> Iterator[Dialogue]:
        """Add a graph; gives the dialogue that it completes, if any."""
        turn = len(self.pending)
        self.places[utterance_id(self._id(), turn)] = text.place
        self.pending.append(Utterance(turn, "AB"[turn % 2], (text.text or "").strip(), amr=text.penman))
        if len(self.pending) == self.turns:
            yield from self.rest()

    def rest(self) -> Iterator[Dialogue]:
        """The dialogue that is not full yet, if any."""
        if self.pending:
            attributes = {"made_of": "graphs"}
            yield Dialogue(self._id(), self.corpus, self.split, tuple(self.pending), attributes=attributes)
            self.made += 1
            self.pending = []

    def _id(self) -> str:
        return f"{self.corpus}/{self.split}/{self.made}"


def placed(
    texts: Sequence[GraphText], store: Reads, grouping: Grouping
) -> Iterator[Dialogue | tuple[str, GraphText]]:
    """Each text with its utterance (by ``::id``, else by ``::snt``), or in a dialogue of ``grouping``.

    A text matches by ``::snt`` only utterances that have no graph, or this very graph. Texts that belong to
    no utterance become dialogues, so that a file of graphs alone (a book, say) can be edited as well. Nothing
    depends on how much of the same load is in the store already, so a load that was killed is completed by
    running it again.
    """
    possible = sorted({text.id for text in texts if text.id is not None and "#" in text.id})
    said = {row["id"]: row["text"] for row in store.read(cypher_text("load/utterances_by_id"), ids=possible)}
    keys = sorted({text_key(text.text) for text in texts if text.text and text.id not in said})
    by_key: dict[str, list[tuple[str, list[str]]]] = {}
    for row in store.read(cypher_text("load/utterances_by_text"), keys=keys) if keys else ():
        by_key.setdefault(row["key"], []).append((row["id"], row["digests"]))
    for text in texts:
        if text.id is not None and text.id in said:
            yield text.id, replace(text, text=said[text.id])
            continue
        content = digest(text.penman.strip())
        known = by_key.get(text_key(text.text), ()) if text.text else ()
        fitting = sorted(id for id, digests in known if not digests or content in digests)
        yield from ((id, text) for id in fitting)
        if not fitting:
            yield from grouping.add(text)
