"""Validate dialogues and graphs before they are stored, and provide the base classes of most loaders.

A database server aborts a whole transaction if one of its values is too long or not valid Unicode. Every
loader therefore passes its dialogues through `valid_dialogues`. This function yields each dialogue that can
be stored; for any other dialogue, it yields a `Rejected` with the position and the reason. `FileLoader` and
`DialogueLoader` are base classes for loaders: a loader for dialogues only has to convert one decoded entry
into a dialogue. `assign_graphs` assigns the graphs of a PENMAN file to utterances in the store.

>>> [turn.speaker for turn in alternating(["Hi.", "Hello.", "How are you?"])]
['A', 'B', 'A']
>>> require_storable(Dialogue("a/b/1", "a", "b", alternating(["Hi.", " "])))
Traceback (most recent call last):
graphneg.ingest.content.ItemError: turn 1 is empty
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, cast

from graphneg.errors import InputError
from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import LoadOptions, check_format
from graphneg.ingest.reading import Item, files_within, input_files, json_lines, split_of
from graphneg.ingest.rows import graph_digest, text_key, utterance_id
from graphneg.ingest.spill import IdSet
from graphneg.ingest.turns import drop_non_conversation_turns
from graphneg.model import AmrGraph, Dialogue, GraphText, Record, Rejected, Utterance
from graphneg.plugins import plugin_errors
from graphneg.progress import Progress
from graphneg.store.dialogues import QueryRunner
from graphneg.store.statements import cypher_text

_LARGEST_INTEGER = 2**63
_SURROGATE = re.compile(r"[\ud800-\udfff]")
LONGEST_KEY = 500
"""Maximum length of an id, corpus name, speaker, term or concept, in bytes of UTF-8.

These values are indexed. Neo4j's range indexes accept keys of about 8 kB. The embedded server accepts keys
that fit into a page of 256 kB. A longer key makes the whole transaction fail. The limit here is much lower,
because some keys are derived from these values and are a few times as long, such as the ids of nodes and the
sort keys.
"""
LONGEST_CONSTANT = 5_000
"""Maximum length in bytes of a constant in a graph, such as the URL of a ``:wiki`` role. Constants are not
indexed, so they may be longer than other texts in a graph."""
LONGEST_GRAPH = 1_000_000
"""Maximum length in characters of an AMR graph in PENMAN notation, including its metadata."""
MOST_NODES = 5_000
"""Maximum number of nodes of an AMR graph. Parsers accept texts of at most 5,000 characters, whose graphs
have fewer nodes. The graphs of one dialogue are written in one transaction, so without this limit, one huge
graph would cause the whole dialogue to be rejected."""


class FileLoader(ABC):
    """Base class for loaders that read one file after the other.

    Attributes:
        name: The name of the loader in the command ``graphneg load NAME``.
        summary: A one-line description of the loader for the help text of ``graphneg load``.
        within: Two strings: the glob pattern for the files to read in a directory, and a description of these
            files for the error message if there are none. None if the loader does not accept directories.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    within: ClassVar[tuple[str, str] | None] = None

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Yield the records from files, in order.

        Raises `InputError` if a file is missing or has a different format.

        Args:
            paths: The files and directories to read.
            options: Options for loading, such as the corpus and split.

        Yields:
            Records and rejected items.
        """
        for path in self.files(paths):
            yield from check_format(path, self.name, self.records(path, options))

    def files(self, paths: Sequence[Path]) -> list[Path]:
        """Return the files to read, including the files in directories.

        Args:
            paths: The files and directories to read.

        Returns:
            The files. All of them exist and are not empty.
        """
        if self.within is not None:
            paths = [file for path in paths for file in files_within(path, *self.within)]
        return input_files(paths, self.name)

    @abstractmethod
    def records(self, path: Path, options: LoadOptions) -> Iterator[Record]:
        """Return the records of one file.

        Args:
            path: The file to read.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over records. A `Rejected` is yielded for an item that cannot be loaded.
        """


class DialogueLoader(FileLoader):
    """Base class for loaders that read dialogues.

    `items` splits a file into entries. A subclass implements `dialogue`, which converts one entry. A dialogue
    is rejected if it cannot be stored, or if an earlier dialogue had the same id.
    """

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Return the dialogues from files, like `FileLoader.read`.

        Args:
            paths: The files and directories to read.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over dialogues and rejected items.
        """
        return dialogues_of(self.files(paths), self.name, options, self.items, self._named)

    def records(self, path: Path, options: LoadOptions) -> Iterator[Record]:
        """Return the dialogues of one file.

        Args:
            path: The file to read.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over dialogues and rejected items.
        """
        return self.read([path], options)

    def items(self, path: Path, progress: Progress) -> Iterable[Item | Rejected]:
        """Return the entries of a file; by default, one JSON value per line.

        Args:
            path: The file to read.
            progress: Progress display, advanced while the file is read.

        Returns:
            The entries. A `Rejected` is yielded for an entry that cannot be read.
        """
        return json_lines(path, progress)

    @abstractmethod
    def dialogue(self, item: Item) -> Dialogue:
        """Convert an entry into a dialogue.

        An implementation raises `ItemError` if the entry does not have the loader's format.

        Args:
            item: The decoded entry.

        Returns:
            The dialogue. Its ``id`` is only a name, without corpus and split. Its ``corpus`` and ``split``
            may be empty.
        """

    def corpus(self, path: Path) -> str:
        """Return the corpus name that is used if neither the entry nor the options name a corpus.

        Args:
            path: The file to read.

        Returns:
            The corpus name; by default, the name of the loader.
        """
        return self.name

    def _named(self, item: Item, path: Path, options: LoadOptions) -> Dialogue:
        with plugin_errors("loader", self.name, self, InputError, item.place):
            made: Any = self.dialogue(item)
            if not isinstance(made, Dialogue):
                raise InputError(
                    f"loader {self.name} returned a {type(made).__name__} at {item.place}; "
                    "dialogue(item) must return a graphneg.model.Dialogue"
                )
            _require_utterances(made, f"loader {self.name} at {item.place}")
            return named(made, options, self.corpus(path), split_of(path))


def _require_utterances(dialogue: Dialogue, where: str) -> None:
    """Raise an error if a loader of another package has made turns of wrong types."""
    for turn, one in enumerate(cast("Iterable[object]", dialogue.utterances)):
        if not isinstance(one, Utterance):
            raise InputError(
                f"{where}: turn {turn} is a {type(one).__name__}; it must be a graphneg.model.Utterance"
            )
        for what, text in (("text", cast("object", one.text)), ("speaker", cast("object", one.speaker))):
            if not isinstance(text, str):
                raise InputError(
                    f"{where}: the {what} of turn {turn} is a {type(text).__name__}; it must be a string"
                )


def named(
    dialogue: Dialogue, options: LoadOptions, corpus: str, split: str, unnamed: Collection[int] = ()
) -> Dialogue:
    """Give a dialogue its complete id, and remove turns that nobody said.

    Args:
        dialogue: The dialogue from an entry. Its id may be only a name.
        options: Options for loading. Their corpus and split, if any, replace the dialogue's own corpus and
            split.
        corpus: The corpus for a dialogue that names no corpus.
        split: The split for a dialogue that names no split.
        unnamed: The numbers of the turns that name no speaker, for which the speakers A and B are assumed.

    Returns:
        The dialogue with the id ``corpus/split/name``, after `drop_non_conversation_turns` has removed turns.
    """
    corpus, split = dialogue.corpus or corpus, dialogue.split or split
    # If graphneg wrote the file, the id already has the form "corpus/split/name". Keep only the name.
    name = dialogue.id.removeprefix(f"{corpus}/{split}/")
    corpus, split = options.corpus or corpus, options.split or split
    whole = replace(dialogue, id=f"{corpus}/{split}/{name}", corpus=corpus, split=split)
    return drop_non_conversation_turns(whole, options, unnamed)


def dialogues_of(
    files: Iterable[Path],
    loader: str,
    options: LoadOptions,
    items: Callable[[Path, Progress], Iterable[Item | Rejected]],
    make: Callable[[Item, Path, LoadOptions], Dialogue],
) -> Iterator[Record]:
    """Yield the dialogues from a loader's files.

    Raises `InputError` if a file has a different format.

    Args:
        files: The files to read.
        loader: The name of the loader.
        options: Options for loading, such as the corpus and split.
        items: Function that returns the entries of a file.
        make: Function that converts an entry into a dialogue. It may raise `ItemError`.

    Yields:
        Dialogues and rejected items.
    """
    known = IdSet()

    def of_file(path: Path) -> Iterator[Record]:
        return valid_dialogues(items(path, options.progress), lambda item: make(item, path, options), known)

    for path in files:
        yield from check_format(path, loader, of_file(path))


def valid_dialogues(
    items: Iterable[Item | Rejected], make: Callable[[Item], Dialogue], known: IdSet
) -> Iterator[Dialogue | Rejected]:
    """Convert entries into dialogues, and reject dialogues that cannot be stored.

    Raises `InputError` if the disk is full, because the ids of dialogues are kept on disk.

    Args:
        items: The decoded entries of a file.
        make: Function that converts an entry into a dialogue. It may raise `ItemError`.
        known: The ids of dialogues that were read earlier in this load. A dialogue with one of these ids is
            rejected.

    Yields:
        Dialogues with their positions, and rejected items.

    Raises:
        InputError: An entry is neither an `Item` nor a `Rejected`.
    """
    for item in items:
        if isinstance(item, Rejected):
            yield item
            continue
        # A loader of another package may yield anything, for example the lines of a file.
        if not isinstance(cast("object", item), Item):
            raise InputError(
                f"items(path, progress) yielded a {type(item).__name__}; "
                "it must yield Item(place, number, key, value) or Rejected"
            )
        try:
            dialogue = make(item)
            require_storable(dialogue)
        except ItemError as reason:
            yield Rejected(item.place, f"item {item.key or item.number}: {reason}")
            continue
        # Ids must be unique in the whole load, because the store has a uniqueness constraint on them.
        if not known.add(dialogue.id):
            yield Rejected(item.place, f"the id {dialogue.id!r} occurs earlier in this load")
            continue
        yield replace(dialogue, place=item.place)


def alternating(texts: Sequence[str], first: str = "A", second: str = "B") -> tuple[Utterance, ...]:
    """Convert texts into the utterances of two speakers who take turns.

    Args:
        texts: The texts. Leading and trailing white space is removed.
        first: The name of the speaker of the first text.
        second: The name of the speaker of the second text.

    Returns:
        The utterances, numbered from 0.
    """
    return tuple(
        Utterance(turn, second if turn % 2 else first, text.strip()) for turn, text in enumerate(texts)
    )


def strings(value: Any, what: str) -> list[str]:
    """Check that a decoded JSON value is a list of strings, and return it.

    Args:
        value: The decoded value to check.
        what: The name of the value, for the error message.

    Returns:
        The value itself, typed as a list of strings.

    Raises:
        ItemError: The value is not a list of strings.
    """
    if not isinstance(value, list):
        raise ItemError(f"{what} is not a list of strings")
    elements = cast("list[Any]", value)
    if not all(isinstance(element, str) for element in elements):
        raise ItemError(f"{what} contains an item that is not a string")
    return elements


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Check that a decoded JSON value is an object, and return it.

    Args:
        value: The decoded value to check.
        what: The name of the value, for the error message.

    Returns:
        The value itself, typed as a mapping.

    Raises:
        ItemError: The value is not a JSON object.
    """
    if not isinstance(value, dict):
        raise ItemError(f"{what} is not a JSON object")
    return cast("dict[str, Any]", value)


def require_storable(dialogue: Dialogue) -> None:
    """Check that a dialogue can be stored and that no turn is empty.

    Args:
        dialogue: The dialogue with its complete id.

    Raises:
        ItemError: The dialogue has no turns, an empty response, an empty turn without a graph, a name that
            is too long, an id with characters that are not printable, a NUL character, a character that
            UTF-8 cannot represent, or a number of more than 64 bits.
    """
    if not dialogue.utterances:
        raise ItemError("the dialogue has no turns")
    names = {"corpus": dialogue.corpus, "split": dialogue.split, "id": dialogue.id}
    names |= {f"speaker of turn {one.turn}": one.speaker for one in dialogue.utterances}
    # The speakers and the sources of responses have the same maximum length as ids.
    names |= {f"source of response {number}": one.source for number, one in enumerate(dialogue.responses)}
    for what, name in names.items():
        if reason := length_fault(f"the {what}", name):
            raise ItemError(reason)
    # Ids are shown in messages and tables, so they must be printable.
    if not dialogue.id.isprintable():
        raise ItemError(f"the id {dialogue.id!a} contains characters that are not printable")
    for one in dialogue.utterances:
        parsed = [[parse.penman, parse.warnings] for parse in one.parses]
        # A turn may have a graph but no text, if it was made from a file of graphs without ``::snt`` lines.
        if one.amr is None:
            _require_text(f"turn {one.turn}", one.text)
        _require_values(f"turn {one.turn}", one.text, one.speaker, one.amr, one.attributes, parsed)
    for number, one in enumerate(dialogue.responses):
        parsed = [[parse.penman, parse.warnings] for parse in one.parses]
        _require_text(f"response {number} ({one.source})", one.text)
        _require_values(f"response {number} ({one.source})", one.text, one.source, one.amr, parsed)
    _require_values("the dialogue", dialogue.attributes)


def length_fault(what: str, text: str, most: int = LONGEST_KEY) -> str | None:
    """Return a message if a text is too long to be stored; None if it is not too long.

    >>> length_fault("the corpus", "a" * 501)
    "the corpus 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'... has 501 bytes; the maximum is 500"

    Args:
        what: The name of the text, for the message.
        text: The text to check.
        most: Maximum length in bytes of UTF-8.

    Returns:
        A message with the beginning of the text, its length and the maximum; None if the text may be stored.
    """
    # A character takes at most four bytes. Most texts are therefore known to be short enough without encoding
    # them.
    if len(text) * 4 <= most or (size := len(text.encode("utf-8", "surrogatepass"))) <= most:
        return None
    return f"{what} {text[:40]!r}... has {size:,} bytes; the maximum is {most:,}"


def graph_fault(graph: AmrGraph) -> str | None:
    """Return why a graph cannot be stored; None if it can be stored.

    Args:
        graph: The graph to check.

    Returns:
        A message about the number of nodes, or about the first concept, name or constant that is too long;
        or None.
    """
    if len(graph.nodes) > MOST_NODES:
        return f"the graph has {len(graph.nodes):,} nodes; the maximum is {MOST_NODES:,}"
    for node in graph.nodes:
        named = (("concept", node.concept), ("variable", node.var), ("role", node.role))
        found = (length_fault(f"the {what}", name) for what, name in named if name is not None)
        # Constants may be longer than concepts, variables and roles, because they are not indexed.
        constant = node.value and length_fault("the constant", node.value, LONGEST_CONSTANT)
        if reason := next(filter(None, found), None) or constant:
            return reason
    return next(filter(None, (length_fault("the role", one.role) for one in graph.mentions)), None)


def _require_text(what: str, text: str) -> None:
    if not text.strip():
        raise ItemError(f"{what} is empty")


def _require_values(what: str, *values: Any) -> None:
    # Use a loop instead of recursion, because attributes may be deeply nested.
    pending: list[Any] = list(values)
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            if "\0" in part:
                raise ItemError(f"{what} contains a NUL character")
            # Refuse lone surrogates, because neither the driver nor UTF-8 files can represent them.
            if not part.isascii() and (lone := _SURROGATE.search(part)):
                code = ord(lone[0])
                # Python represents bytes that are not valid UTF-8 by the code points U+DC80 to U+DCFF (PEP
                # 383). So name the byte in the message.
                if 0xDC80 <= code <= 0xDCFF:
                    raise ItemError(f"{what} is not UTF-8: byte 0x{code - 0xDC00:02x}")
                raise ItemError(f"{what} contains half of a surrogate pair, U+{code:04X}")
        elif isinstance(part, Mapping):
            # The keys of attributes become property names, so check them, too.
            fields = cast("Mapping[str, Any]", part)
            pending.extend([*fields.keys(), *fields.values()])
        elif isinstance(part, list | tuple):
            pending.extend(cast("Sequence[Any]", part))
        # Reject larger integers: both database servers store integers in 64 bits.
        elif isinstance(part, int) and not -_LARGEST_INTEGER <= part < _LARGEST_INTEGER:
            raise ItemError(f"{what} contains a number of more than 64 bits")


@dataclass(slots=True)
class GraphDialogues:
    """Builds dialogues from graphs that belong to no utterance in the store.

    Attributes:
        corpus: The corpus of the dialogues.
        split: The split of the dialogues.
        turns: The number of turns per dialogue.
        dialogue_count: The number of dialogues so far. It is also the name of the next dialogue:
            ``corpus/split/0`` and so on.
        pending: The turns of the dialogue that is not complete yet.
        places: The position of each graph in its file, keyed by the id of the new utterance. The writer
            removes an entry when it has used it.
    """

    corpus: str
    split: str
    turns: int
    dialogue_count: int = 0
    pending: list[Utterance] = field(default_factory=list[Utterance])
    places: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, text: GraphText) -> Iterator[Dialogue]:
        """Add a graph as the next turn of the current dialogue.

        Args:
            text: The graph, with its text if it is known.

        Yields:
            The dialogue, if this graph completes it.
        """
        turn = len(self.pending)
        self.places[utterance_id(self._id(), turn)] = text.place
        # A file of graphs names no speakers, so A and B take turns.
        self.pending.append(Utterance(turn, "AB"[turn % 2], (text.text or "").strip(), amr=text.penman))
        if len(self.pending) == self.turns:
            yield from self.remaining_dialogue()

    def remaining_dialogue(self) -> Iterator[Dialogue]:
        """Yield a last, shorter dialogue with the turns that were read after the last full one, if any."""
        if self.pending:
            # Mark the dialogue as made from a file of graphs. Graphs from other files are then not assigned
            # to its turns, even if their texts are the same.
            attributes = {"made_of": "graphs"}
            yield Dialogue(self._id(), self.corpus, self.split, tuple(self.pending), attributes=attributes)
            self.dialogue_count += 1
            self.pending = []

    def _id(self) -> str:
        return f"{self.corpus}/{self.split}/{self.dialogue_count}"


def assign_graphs(
    texts: Sequence[GraphText], store: QueryRunner, grouping: GraphDialogues
) -> Iterator[Dialogue | tuple[str, GraphText]]:
    """Assign graphs to utterances in the store.

    If the ``::id`` of a graph names an utterance, the graph belongs to that utterance. Otherwise the graph
    belongs to all utterances whose text equals its ``::snt``, except those that already have a different
    graph. Graphs that belong to no utterance become the turns of new dialogues, so that a file that contains
    only graphs, such as an annotated book, can be edited as well.

    The result does not depend on how many of these graphs are already stored. If a load is interrupted, it
    can therefore be completed by running it again.

    Args:
        texts: The graphs from a PENMAN file.
        store: The store that contains the utterances.
        grouping: Builder of new dialogues, for graphs that belong to no utterance.

    Yields:
        The id of an utterance with its graph, or a new dialogue.
    """
    # The id of a stored utterance contains "#": "chats/all/1#0". Do not look up other ids, such as those in
    # the AMR corpora.
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
        content = graph_digest(text.penman)
        known = by_key.get(text_key(text.text), ()) if text.text else ()
        # Assign the graph to utterances that have no graph, or that already have this graph because the same
        # file was loaded before.
        fitting = sorted(id for id, digests in known if not digests or content in digests)
        yield from ((id, text) for id in fitting)
        if not fitting:
            yield from grouping.add(text)
