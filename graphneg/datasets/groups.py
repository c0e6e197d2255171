"""What a ranker learns from: for each context its right responses and wrong ones, by source."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from graphneg.editing.export import Exported, Form, export
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.ingest.rows import utterance_id
from graphneg.json_input import json_line
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import read_located
from graphneg.store.connection import Store
from graphneg.store.dialogues import (
    Selection,
    StoredDialogue,
    StoredResponse,
    count_dialogues,
    dialogue_ids,
    read_dialogues,
    read_responses,
)
from graphneg.store.statements import cypher_text

REFERENCE = "reference"
"""The source of responses that are right."""
RANDOM = "random"
"""A source that is always there: right responses of other contexts."""
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
    """Return the groups of files of negatives (.jsonl, .parquet) or of negatives, as they come up first.

    Of an edited negative, the original is a right response. Responses that `usable` refuses are left out.

    Raises:
        InputError: A file can't be read or holds no negatives, a label is neither 0 nor 1, or a context has
            no right response.
    """
    return read_usable_groups(sources)[0]


def read_usable_groups(sources: Iterable[str | Path | Iterable[Negative]]) -> tuple[list[Group], int]:
    """Return the groups of `read_groups`, and how many responses were left out of them.

    Raises:
        InputError: As `read_groups`.
    """
    groups: dict[str, Group] = {}
    for entry in chain.from_iterable(map(entries_of, sources)):
        enter(groups.setdefault(entry.group_id, Group(entry.group_id, entry.context)), entry)
    kept = list(map(usable, groups.values()))
    return kept, sum(group.size for group in groups.values()) - sum(group.size for group in kept)


def usable(group: Group) -> Group:
    """Return the group without responses that would make a pair of equal sides, or of an empty one.

    A negative is left out where it says, after its own context, what a right response says after the group's;
    texts are compared by their normal form. "I ’ ll come ." is no wrong answer where "I'll come." is right.
    The same response after an edited context stays, since the contexts differ.

    Args:
        group: Right and wrong responses of one context. It is not changed.

    Returns:
        The group itself where all of it can be used, else a smaller copy.

    Raises:
        InputError: No right response is left.
    """
    right = [answer for answer in group.positives if answer.text.strip()]
    if not right:
        raise InputError(
            f"{group.id}: no right response; a context needs a record with label 1, "
            "or the original response of an edited one"
        )
    known = {match_key(answer.text) for answer in right}
    wrong = [
        answer
        for answer in group.negatives
        if (key := match_key(answer.text)) and not (key in known and _has_context_of(answer, group))
    ]
    if len(right) + len(wrong) == group.size:
        return group
    return Group(group.id, group.context, right, wrong)


def _has_context_of(answer: Answer, group: Group) -> bool:
    """Return whether the answer follows the group's context, apart from how that is written."""
    return answer.context is None or _same_turns(answer.context, group.context)


def _same_turns(turns: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether two contexts say the same, apart from how that is written."""
    return turns == others or list(map(match_key, turns)) == list(map(match_key, others))


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


DAILYDIALOG_PP = "dailydialog_pp"
_ADVERSARIAL, _RANDOM = "adversarial_negative_responses", "random_negative_responses"


@dataclass(slots=True)
class ContextWriter:
    """Writes dialogues as contexts in the shape of DailyDialog++ (Sai et al. 2020), a line of JSON each.

    A context ends where a loaded response answers, or a negative of the files ``negatives`` stands. Right are
    the dialogue's own reply and responses with label 1; wrong are responses with label 0 and the negatives,
    those of the source ``random`` as random ones, all others as adversarial ones. What can't be written so is
    counted: ``incomplete`` contexts (without a right or a wrong response), negatives of ``edited`` dialogues,
    ``unusable`` negatives that say what a right response says, negatives of turns that are ``elsewhere``.

    Raises `InputError`: a file can't be read or is none of negatives, or no context is complete.
    """

    negatives: Sequence[str | Path] = ()
    incomplete: int = 0
    edited: int = 0
    unusable: int = 0
    _given: dict[str, list[Entry]] = field(default_factory=dict[str, list[Entry]])

    @property
    def form(self) -> Form:
        """The form that `graphneg.editing.export.export` writes; what is counted is so of the last use."""
        return Form(DAILYDIALOG_PP, self._lines(), _write_contexts)

    def _lines(self) -> Callable[[Store, Sequence[StoredDialogue]], Iterator[tuple[str, Any]]]:
        self.incomplete = self.edited = self.unusable = 0
        self._given = {}
        for entry in chain.from_iterable(map(entries_of, self.negatives)):
            if entry.own == entry.context:
                self._given.setdefault(entry.group_id, []).append(entry)
            else:
                self.edited += 1

        def lines(store: Store, dialogues: Sequence[StoredDialogue]) -> Iterator[tuple[str, Any]]:
            responses = read_responses(store, [dialogue.id for dialogue in dialogues])
            for choices in self._contexts(dialogues, responses):
                yield choices.id.rpartition("#")[0], _line(choices)

        return lines

    @property
    def elsewhere(self) -> int:
        """How many negatives belong to none of the dialogues that were written."""
        return sum(map(len, self._given.values()))

    def _contexts(
        self, dialogues: Sequence[StoredDialogue], responses: Mapping[str, Sequence[StoredResponse]]
    ) -> Iterator[Choices]:
        for dialogue in dialogues:
            said = {turn.turn: turn.text for turn in dialogue.turns}
            found: defaultdict[int, list[tuple[str, int, str]]] = defaultdict(list)
            for one in responses.get(dialogue.id, ()):
                found[one.turn + 1].append((one.text, one.label, one.source))
            for at in {*said, *found}:
                given = self._given.pop(utterance_id(dialogue.id, at), ())
                found[at] += [(entry.response, entry.label, entry.source) for entry in given]
            for at in sorted(at for at, answers in found.items() if answers):
                turns = tuple(text for turn, text in said.items() if turn < at)
                right = dict.fromkeys([said[at]] if at in said else [])
                wrong: defaultdict[str, dict[str, None]] = defaultdict(dict)
                for text, label, source in found[at]:
                    kind = wrong[_RANDOM if source == RANDOM else _ADVERSARIAL] if not label else right
                    kind[text] = None
                known = {"", *map(match_key, right)}
                texts = {
                    kind: tuple(text for text in some if match_key(text) not in known)
                    for kind, some in wrong.items()
                }
                self.unusable += sum(map(len, wrong.values())) - sum(map(len, texts.values()))
                if turns and right and any(texts.values()):
                    yield Choices(utterance_id(dialogue.id, at), turns, tuple(right), texts)
                else:
                    self.incomplete += 1


def _line(choices: Choices) -> dict[str, Any]:
    wrong = {kind: choices.negatives.get(kind, ()) for kind in (_ADVERSARIAL, _RANDOM)}
    return {"id": choices.id, "context": choices.turns, "positive_responses": choices.positives, **wrong}


def _write_contexts(lines: Iterable[Any], out: Path) -> int:
    """Write contexts, a line each; returns how many there are."""
    count = 0
    with out.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json_line(line) + "\n")
            count += 1
    if not count:
        raise InputError(
            "no context has both right and wrong responses: name files of negatives, or load a corpus "
            "that has wrong responses"
        )
    return count


def export_contexts(
    store: Store,
    out: Path,
    selection: Selection,
    progress: Progress,
    write: ContextWriter,
    *,
    overwrite: bool = False,
) -> Exported:
    """Write the selected dialogues as `ContextWriter` does; see `graphneg.editing.export.export`."""
    facts = [DAILYDIALOG_PP, [file_digest(path) for path in write.negatives]]
    return export(store, out, selection, progress, overwrite=overwrite, form=write.form, facts=facts)


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
        own = None if _same_turns(entry.own, group.context) else entry.own
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


def file_digest(path: str | Path) -> str:
    """Of a file's bytes.

    Raises `InputError`: it can't be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error


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
