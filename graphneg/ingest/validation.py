"""Validate dialogues and graphs before they are stored, and provide the base classes of most loaders.

Servers abort a whole transaction if one value in it is too long or is not valid Unicode. Every loader
therefore passes its dialogues through `valid_dialogues`, which yields each dialogue that can be stored,
and a `Rejected` with place and reason for each other one. `FileLoader` and `DialogueLoader` are base
classes: a loader of dialogues only has to convert one decoded entry to a dialogue. `placed` assigns the
graphs of a PENMAN file to stored utterances.

>>> [turn.speaker for turn in alternating(["Hi.", "Hello.", "How are you?"])]
['A', 'B', 'A']
>>> require_storable(Dialogue("a/b/1", "a", "b", alternating(["Hi.", " "])))
Traceback (most recent call last):
graphneg.ingest.content.Refused: turn 1 is empty
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
"""Maximum length of an id, corpus, speaker, term or concept, in bytes of UTF-8.

These values are indexed. Neo4j's range indexes take keys of about 8 kB. The embedded server takes keys
that fit a page of 256 kB. A longer key makes the whole transaction fail. The limit leaves room for ids
of graphs and nodes and for sort keys, which are a few times as long as the ids that they are made from.
"""
LONGEST_CONSTANT = 5_000
"""Maximum length of a constant in a graph in bytes, such as the URL of a ``:wiki`` role. Not indexed."""
LONGEST_GRAPH = 1_000_000
"""Maximum length of an AMR graph in characters, with its metadata."""


class FileLoader(ABC):
    """Base class of loaders that read file by file.

    Attributes:
        name: The name that ``graphneg load`` takes.
        summary: A one-line description for the help text.
        within: The glob pattern of the files to read in a directory, and a description of these files
            for the message if there are none. None: directories are refused.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    within: ClassVar[tuple[str, str] | None] = None

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Yield the records of the files, in their order.

        A file that is missing or has another format raises `InputError`.

        Args:
            paths: The files and directories.
            options: The options of the load.

        Yields:
            Records and rejected items.
        """
        for path in self.files(paths):
            yield from checked(path, self.name, self.records(path, options))

    def files(self, paths: Sequence[Path]) -> list[Path]:
        """Return the files to read, including those of the directories.

        Args:
            paths: The files and directories.

        Returns:
            The files. Each exists and is not empty.
        """
        if self.within is not None:
            paths = [file for path in paths for file in files_within(path, *self.within)]
        return input_files(paths, self.name)

    @abstractmethod
    def records(self, path: Path, options: LoadOptions) -> Iterator[Record]:
        """Return the records of one file.

        Args:
            path: The file.
            options: The options of the load.

        Returns:
            An iterator over records, with a `Rejected` for each item that is refused.
        """


class DialogueLoader(FileLoader):
    """Base class of loaders of dialogues.

    `items` cuts a file into entries, and a subclass implements `dialogue`, which converts an entry. A
    dialogue that cannot be stored, or whose id is repeated, is rejected.
    """

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Return the dialogues of the files, as `FileLoader.read` does.

        Args:
            paths: The files and directories.
            options: The options of the load.

        Returns:
            An iterator over dialogues and rejected items.
        """
        return dialogues_of(self.files(paths), self.name, options, self.items, self._named)

    def records(self, path: Path, options: LoadOptions) -> Iterator[Record]:
        """Return the dialogues of one file.

        Args:
            path: The file.
            options: The options of the load.

        Returns:
            An iterator over dialogues and rejected items.
        """
        return self.read([path], options)

    def items(self, path: Path, progress: Progress) -> Iterable[Item | Rejected]:
        """Return the entries of a file: by default one JSON value per line.

        Args:
            path: The file.
            progress: Advanced while the file is read.

        Returns:
            The entries, with a `Rejected` for each that cannot be read.
        """
        return json_lines(path, progress)

    @abstractmethod
    def dialogue(self, item: Item) -> Dialogue:
        """Return the dialogue of an entry.

        If the entry is not in the loader's format, implementations raise `Refused`.

        Args:
            item: The entry.

        Returns:
            The dialogue. Its ``id`` is a name without corpus and split; these two may be empty.
        """

    def corpus(self, path: Path) -> str:
        """Return the name of the corpus for entries and options that do not name one.

        Args:
            path: The file.

        Returns:
            By default the name of the loader.
        """
        return self.name

    def _named(self, item: Item, path: Path, options: LoadOptions) -> Dialogue:
        return named(self.dialogue(item), options, self.corpus(path), split_of(path))


def named(dialogue: Dialogue, options: LoadOptions, corpus: str, split: str) -> Dialogue:
    """Return the dialogue under its complete id, without turns that nobody says.

    Args:
        dialogue: The dialogue of an entry, whose id may be a name alone.
        options: Their corpus and split replace those of the dialogue.
        corpus: The corpus of a dialogue that has none.
        split: The split of a dialogue that has none.

    Returns:
        The dialogue with the id ``corpus/split/name``, as `of_turns` returns it.
    """
    corpus, split = dialogue.corpus or corpus, dialogue.split or split
    # Files that graphneg has written contain complete ids.
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
    """Yield the dialogues of a loader's files.

    A file of another format raises `InputError`.

    Args:
        files: The files.
        loader: The name of the loader.
        options: The options of the load.
        items: Reads the entries of a file.
        make: Converts an entry to a dialogue. It may raise `Refused`.

    Yields:
        Dialogues and rejected items.
    """
    known = KnownIds()

    def of_file(path: Path) -> Iterator[Record]:
        return valid_dialogues(items(path, options.progress), lambda item: make(item, path, options), known)

    for path in files:
        yield from checked(path, loader, of_file(path))


def valid_dialogues(
    items: Iterable[Item | Rejected], make: Callable[[Item], Dialogue], known: KnownIds
) -> Iterator[Dialogue | Rejected]:
    """Convert entries to dialogues, and reject those that cannot be stored.

    A full disk raises `InputError`, because the ids are kept on disk.

    Args:
        items: The entries.
        make: Converts an entry to a dialogue. It may raise `Refused`.
        known: The ids of the dialogues that were read before in this load. A dialogue with one of them
            is rejected.

    Yields:
        Dialogues with their places, and rejected items.
    """
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
        # Ids must be unique in the whole load: the store has a constraint on them.
        if not known.add(dialogue.id):
            yield Rejected(item.place, f"the id {dialogue.id!r} occurs earlier in this load")
            continue
        yield replace(dialogue, place=item.place)


def alternating(texts: Sequence[str], first: str = "A", second: str = "B") -> tuple[Utterance, ...]:
    """Return utterances of two speakers who take turns.

    Args:
        texts: The texts. White space around them is removed.
        first: The first speaker.
        second: The second speaker.

    Returns:
        The utterances.
    """
    return tuple(
        Utterance(turn, second if turn % 2 else first, text.strip()) for turn, text in enumerate(texts)
    )


def strings(value: Any, what: str) -> list[str]:
    """Return a decoded JSON value as a list of strings.

    Args:
        value: The value.
        what: What the value is, for the message.

    Returns:
        The list.

    Raises:
        Refused: The value is something else.
    """
    if not isinstance(value, list):
        raise Refused(f"{what} is not a list of strings")
    elements = cast("list[Any]", value)
    if not all(isinstance(element, str) for element in elements):
        raise Refused(f"{what} has something in it that is not a string")
    return elements


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return a decoded JSON value as an object.

    Args:
        value: The value.
        what: What the value is, for the message.

    Returns:
        The object.

    Raises:
        Refused: The value is something else.
    """
    if not isinstance(value, dict):
        raise Refused(f"{what} is not a JSON object")
    return cast("dict[str, Any]", value)


def require_storable(dialogue: Dialogue) -> None:
    """Check that a store can hold a dialogue, and that no turn is empty.

    Args:
        dialogue: The dialogue under its complete id.

    Raises:
        Refused: The dialogue has no turns, an empty turn or response, a name that is too long, an id
            with control characters, a character that UTF-8 cannot represent, or a number of more than
            64 bits.
    """
    if not dialogue.utterances:
        raise Refused("the dialogue has no turns")
    names = {"corpus": dialogue.corpus, "split": dialogue.split, "id": dialogue.id}
    names |= {f"speaker of turn {one.turn}": one.speaker for one in dialogue.utterances}
    # Speakers and sources have the same limit as ids.
    names |= {f"source of response {number}": one.source for number, one in enumerate(dialogue.responses)}
    for what, name in names.items():
        if reason := too_long(f"the {what}", name):
            raise Refused(reason)
    # Ids appear in messages and tables.
    if not dialogue.id.isprintable():
        raise Refused(f"the id {dialogue.id!a} has characters that are not printable")
    for one in dialogue.utterances:
        _require_said(f"turn {one.turn}", one.text, one.speaker, one.amr, one.attributes)
    for number, one in enumerate(dialogue.responses):
        _require_said(f"response {number} ({one.source})", one.text, one.source, one.amr)
    _require_values("the dialogue", dialogue.attributes)


def too_long(what: str, text: str, most: int = LONGEST_KEY) -> str | None:
    """Return why a text is too long to be stored, or None if it is not.

    >>> too_long("the corpus", "a" * 501)
    "the corpus 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'... has 501 bytes, and at most 500 are stored"

    Args:
        what: What the text is, for the message.
        text: The text.
        most: Maximum length in bytes of UTF-8.

    Returns:
        The reason, or None.
    """
    # A character takes at most four bytes, so short texts need no encoding.
    if len(text) * 4 <= most or (size := len(text.encode("utf-8", "surrogatepass"))) <= most:
        return None
    return f"{what} {text[:40]!r}... has {size:,} bytes, and at most {most:,} are stored"


def oversized(graph: AmrGraph) -> str | None:
    """Return why a graph cannot be stored, or None if it can.

    Args:
        graph: The graph.

    Returns:
        The first concept, name or constant that is too long, as a message, or None.
    """
    for node in graph.nodes:
        named = (("concept", node.concept), ("variable", node.var), ("role", node.role))
        found = (too_long(f"the {what}", name) for what, name in named if name is not None)
        # Constants are not indexed and may be longer.
        constant = node.value and too_long("the constant", node.value, LONGEST_CONSTANT)
        if reason := next(filter(None, found), None) or constant:
            return reason
    return next(filter(None, (too_long("the role", one.role) for one in graph.mentions)), None)


def _require_said(what: str, text: str, *others: Any) -> None:
    if not text.strip():
        raise Refused(f"{what} is empty")
    _require_values(what, text, *others)


def _require_values(what: str, *values: Any) -> None:
    # A loop instead of recursion: attributes may be nested deeply.
    pending: list[Any] = list(values)
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            if "\0" in part:
                raise Refused(f"{what} has a NUL character")
            # Neither the driver nor UTF-8 files can represent lone surrogates.
            if not part.isascii() and (lone := _SURROGATE.search(part)):
                code = ord(lone[0])
                # Bytes that are not UTF-8 were decoded to these code points (PEP 383).
                if 0xDC80 <= code <= 0xDCFF:
                    raise Refused(f"{what} is not UTF-8: byte 0x{code - 0xDC00:02x}")
                raise Refused(f"{what} has half of a surrogate pair, U+{code:04X}")
        elif isinstance(part, Mapping):
            # Keys become names of properties, so they are checked, too.
            fields = cast("Mapping[str, Any]", part)
            pending.extend([*fields.keys(), *fields.values()])
        elif isinstance(part, list | tuple):
            pending.extend(cast("Sequence[Any]", part))
        # Both servers store integers in 64 bits.
        elif isinstance(part, int) and not -_LARGEST_INTEGER <= part < _LARGEST_INTEGER:
            raise Refused(f"{what} has a number of more than 64 bits")


@dataclass(slots=True)
class Grouping:
    """Dialogues made of graphs that belong to no utterance of the store.

    Attributes:
        corpus: The corpus of the dialogues.
        split: The split of the dialogues.
        turns: The number of turns of each dialogue.
        made: The number of dialogues so far. It is also the name of the next one: ``corpus/split/0``
            and so on.
        pending: The turns of the dialogue that is not complete yet.
        places: Where the graph of each utterance is in its file, by utterance id. The writer removes
            entries that it has read.
    """

    corpus: str
    split: str
    turns: int
    made: int = 0
    pending: list[Utterance] = field(default_factory=list[Utterance])
    places: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, text: GraphText) -> Iterator[Dialogue]:
        """Add a graph as the next turn.

        Args:
            text: The graph.

        Yields:
            The dialogue that the graph completes, if it completes one.
        """
        turn = len(self.pending)
        self.places[utterance_id(self._id(), turn)] = text.place
        # Files of graphs name no speakers: A and B take turns.
        self.pending.append(Utterance(turn, "AB"[turn % 2], (text.text or "").strip(), amr=text.penman))
        if len(self.pending) == self.turns:
            yield from self.rest()

    def rest(self) -> Iterator[Dialogue]:
        """Yield the dialogue that is not complete yet, if there is one."""
        if self.pending:
            # The mark keeps graphs of other files from matching these utterances by text.
            attributes = {"made_of": "graphs"}
            yield Dialogue(self._id(), self.corpus, self.split, tuple(self.pending), attributes=attributes)
            self.made += 1
            self.pending = []

    def _id(self) -> str:
        return f"{self.corpus}/{self.split}/{self.made}"


def placed(
    texts: Sequence[GraphText], store: Reads, grouping: Grouping
) -> Iterator[Dialogue | tuple[str, GraphText]]:
    """Assign graphs to utterances of the store.

    A graph belongs to the utterance that its ``::id`` names. Otherwise it belongs to all utterances
    with the text of its ``::snt`` that have no graph yet, or have this very graph. Graphs that belong
    to no utterance become dialogues of their own, so that a file of graphs alone, such as an annotated
    book, can be edited as well.

    The result does not depend on how much of the same load is already stored. A load that was
    interrupted is therefore completed by running it again.

    Args:
        texts: The graphs.
        store: The store.
        grouping: Collects graphs without an utterance in dialogues.

    Yields:
        The id of an utterance with its graph, or a new dialogue.
    """
    # Ids of other forms, such as those of the AMR corpora, name no utterance.
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
        # A load that runs again finds this very graph, which counts as fitting.
        fitting = sorted(id for id, digests in known if not digests or content in digests)
        yield from ((id, text) for id in fitting)
        if not fitting:
            yield from grouping.add(text)
