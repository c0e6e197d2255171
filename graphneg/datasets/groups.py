"""What a ranker learns from: for each context its right responses and wrong ones, by source."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import read_located
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, count_dialogues, dialogue_ids, read_dialogues, read_responses
from graphneg.store.statements import cypher_text

REFERENCE = "reference"
"""The source of responses that are right."""
SOURCE, TRANSFORM, CATEGORY = "source", "transform", "category"
"""What wrong responses are told apart by."""


@dataclass(frozen=True, slots=True)
class Choices:
    """A context, the responses that are right for it, and the wrong ones by kind.

    ``edited`` has the contexts of wrong responses that stand behind another one, by their places among the
    ``responses``; ``parts`` the places of those of each transform and category, by ``(by, name)``.
    """

    id: str
    turns: tuple[str, ...]
    positives: tuple[str, ...]
    negatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    edited: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    parts: Mapping[tuple[str, str], tuple[int, ...]] = field(
        default_factory=dict[tuple[str, str], tuple[int, ...]]
    )

    @property
    def responses(self) -> tuple[str, ...]:
        """All of them in one order: the right ones, then the wrong ones kind by kind."""
        return self.positives + tuple(text for some in self.negatives.values() for text in some)


@dataclass(frozen=True, slots=True)
class Answer:
    """One response. ``source`` is the recipe, generator or kind that it comes from; ``context`` is its
    own where the dialogue was edited, too. ``category`` is the first of its ``categories``; these and its
    ``transforms`` make no other answer of it."""

    text: str
    source: str
    category: str = ""
    context: tuple[str, ...] | None = None
    categories: tuple[str, ...] = field(default=(), compare=False)
    transforms: tuple[str, ...] = field(default=(), compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """What a mix may call it by: its transforms, its category and its source."""
        return (*self.transforms, self.category, self.source)


@dataclass(slots=True)
class Group:
    """One turn of a dialogue, ``id`` its address: the texts of the turns before it, oldest first, what fits
    there and what does not."""

    id: str
    context: tuple[str, ...]
    positives: list[Answer] = field(default_factory=list[Answer])
    negatives: list[Answer] = field(default_factory=list[Answer])

    @property
    def size(self) -> int:
        """How many responses there are."""
        return len(self.positives) + len(self.negatives)


class Entry(NamedTuple):
    """What one record says of its context: a response, and the ``right`` one where it was edited.

    ``context`` is the dialogue's own, ``own`` the edited one where the record has one.
    """

    group_id: str
    split: str
    context: tuple[str, ...]
    own: tuple[str, ...]
    response: str
    label: int
    source: str
    categories: tuple[str, ...]
    transforms: tuple[str, ...]
    right: str | None


def read_groups(sources: Iterable[str | Path | Iterable[Negative]]) -> list[Group]:
    """The groups of files of negatives (.jsonl, .parquet) or of negatives, as they come up first.

    Of an edited negative, the original is a right response.

    Raises `InputError`: a file can't be read, or is none of negatives, a label is neither 0 nor 1, or a
    context has no right response.
    """
    groups: dict[str, Group] = {}
    for entry in chain.from_iterable(map(entries_of, sources)):
        enter(groups.setdefault(entry.group_id, Group(entry.group_id, entry.context)), entry)
    for group in groups.values():
        check(group)
    return list(groups.values())


def check(group: Group) -> None:
    """Raises `InputError` where a group has no right response."""
    if not group.positives:
        raise InputError(
            f"{group.id}: no right response; a context needs a record with label 1, "
            "or the original response of an edited one"
        )


def groups_of_choices(choices: Iterable[Choices]) -> list[Group]:
    """Contexts with right and wrong responses, each kind of negative a source."""
    return [
        Group(
            item.id,
            item.turns,
            [Answer(text, REFERENCE) for text in item.positives],
            [Answer(text, kind) for kind, texts in item.negatives.items() for text in texts],
        )
        for item in choices
    ]


def choices_of(group: Group) -> Choices:
    """A group's context, its wrong responses by source; transforms and categories are its ``parts``."""
    by_source: defaultdict[str, list[Answer]] = defaultdict(list)
    for answer in group.negatives:
        by_source[answer.source].append(answer)
    parts: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    edited: dict[int, tuple[str, ...]] = {}
    for place, answer in enumerate(chain.from_iterable(by_source.values()), len(group.positives)):
        if answer.context is not None:
            edited[place] = answer.context
        for by, names in ((TRANSFORM, answer.transforms), (CATEGORY, answer.categories)):
            for name in names:
                parts[by, name].append(place)
    wrong = {name: tuple(answer.text for answer in some) for name, some in by_source.items()}
    right = tuple(answer.text for answer in group.positives)
    return Choices(
        group.id, group.context, right, wrong, edited, {key: tuple(at) for key, at in parts.items()}
    )


def transforms_of(record: Negative) -> tuple[str, ...]:
    """The transforms of a record's edits, each once; a generator, which is its own recipe, is none."""
    made = dict.fromkeys(str(edit["transform"]) for edit in record.edits)
    return tuple(one for one in made if one != record.recipe or record.amr)


def entries_of(source: str | Path | Iterable[Negative]) -> Iterator[Entry]:
    """The entries of a file's records (.jsonl, .parquet), or of negatives, one by one.

    Raises `InputError`: the file can't be read, or is none of negatives, or a label is neither 0 nor 1.
    """
    is_file = isinstance(source, str | Path)
    located = read_located(source) if is_file else ((negative.id, negative) for negative in source)
    return (entry_of(record, address) for address, record in located)


def entry_of(record: Negative, where: str) -> Entry:
    """A record's entry; ``where`` it stands is named in errors.

    Raises `InputError`: the label is neither 0 nor 1.
    """
    if record.label not in (0, 1):
        raise InputError(f"{where}: the label is {record.label!r}; 1 fits, 0 does not")
    own = tuple(turn["text"] for turn in record.context)
    original = record.original.get("context")
    context = own if original is None else tuple(turn["text"] for turn in original)
    group_id = f"{record.dialogue}#{record.turn}"
    if record.label:
        source = record.recipe or REFERENCE
        return Entry(group_id, record.split, context, own, record.response, 1, source, (), (), None)
    categories, transforms = tuple(record.categories), transforms_of(record)
    right = record.original.get("response") or (record.response if original is not None else None)
    return Entry(
        group_id, record.split, context, own, record.response, 0, record.recipe, categories, transforms, right
    )


def enter(group: Group, entry: Entry) -> None:
    """Add what an entry says to the group of its context, each answer once, with all its names."""
    if entry.label:
        right, wrong = Answer(entry.response, entry.source), None
    else:
        own = None if entry.own == group.context else entry.own
        right = Answer(entry.right, REFERENCE) if entry.right else None
        first = entry.categories[0] if entry.categories else ""
        wrong = Answer(entry.response, entry.source, first, own, entry.categories, entry.transforms)
    if right is not None and right not in group.positives:
        group.positives.append(right)
    if wrong is None:
        return
    if wrong not in group.negatives:
        group.negatives.append(wrong)
        return
    at = group.negatives.index(wrong)
    there = group.negatives[at]
    categories, transforms = (
        tuple(dict.fromkeys((*old, *new)))
        for old, new in ((there.categories, wrong.categories), (there.transforms, wrong.transforms))
    )
    group.negatives[at] = replace(there, categories=categories, transforms=transforms)


class HeldOut:
    """A set of texts, 8 bytes for each: their hashes, sorted. ``text in held_out`` asks.

    Of a million texts one in ten trillion others would be taken for one of them, and left out too.

    >>> "what  NOW?" in HeldOut(["What now?"])
    True
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._hashes = array("Q")
        self._new: set[int] = set()
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        """Hold out more texts."""
        self._new.update(_hash(text) for text in texts)

    def __contains__(self, text: str) -> bool:
        hashes = self._sorted()
        if not hashes:
            return False
        hash = _hash(text)
        at = bisect_left(hashes, hash)
        return at < len(hashes) and hashes[at] == hash

    def without(self, group: Group) -> Group:
        """The group without the responses that are held out."""
        right = [answer for answer in group.positives if answer.text not in self]
        wrong = [answer for answer in group.negatives if answer.text not in self]
        return Group(group.id, group.context, right, wrong)

    def digest(self) -> bytes:
        """The same for the same texts, in whatever order they came."""
        return hashlib.blake2b(self._sorted().tobytes(), digest_size=16).digest()

    def _sorted(self) -> array[int]:
        if self._new:
            self._hashes = array("Q", sorted(self._new.union(self._hashes)))
            self._new = set()
        return self._hashes


def _hash(text: str) -> int:
    return number(0, "held out", match_key(text))


def split_texts(store: Store, splits: Collection[str]) -> Iterator[str]:
    """What the dialogues of some splits say in reply, right or wrong: texts for no training to see.

    Raises `InputError`: no dialogue is of a split.
    """
    there = {row["split"] for row in store.read(cypher_text("read/corpora"))}
    if strange := sorted(set(splits) - there):
        known = ", ".join(sorted(there)) or "none"
        raise InputError(f"no dialogue is of the split {strange[0]!r}; there are: {known}")
    yield from stored_replies(store, Selection((), tuple(splits), None))


def stored_replies(
    store: Store, selection: Selection, labels: Collection[int] = (0, 1), progress: Progress | None = None
) -> Iterator[str]:
    """Every turn but the first of the selected dialogues, and their responses with one of the ``labels``.

    Raises `StoreError`: the store is gone.
    """
    shown = progress or NoProgress()
    shown.start("reading", count_dialogues(store, selection), "dialogues")
    ids = dialogue_ids(store, selection)
    while batch := list(islice(ids, 200)):
        responses = read_responses(store, batch)
        for dialogue in read_dialogues(store, batch):
            yield from (turn.text for turn in dialogue.turns[1:])
            yield from (item.text for item in responses.get(dialogue.id, ()) if item.label in labels)
        shown.advance(len(batch))
    shown.finish()
