"""Group correct and wrong responses by context, as training data for a ranker.

A record contains the place of its response: the dialogue and the turn number. The turns before that
place are the context. The record of an edited negative also contains the correct response from which it was
made. `read_groups` collects the records from files, and makes one `Group` per context::

    record   dialogue "d", turn 2, response "It is far.", label 0, original response "It is not far."
    group    id "d#2", positives "It is not far.", negatives "It is far."

A wrong response that is equal to a correct response to the same context is dropped (see `without_unusable`).
`HeldOut` is a set of texts that must not be used for training. `ContextWriter` writes contexts in the format
of the DailyDialog++ dataset.
"""

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
"""Name of the source of correct responses."""
RANDOM = "random"
"""Name of the source of random negatives, that is, correct responses to other contexts. They are drawn from
the groups, so no records are needed."""
SOURCE, TRANSFORM, CATEGORY = "source", "transform", "category"
"""The properties by which reports can group wrong responses: their source, transform or error category."""


@dataclass(frozen=True, slots=True)
class LabelledContext:
    """A context with its correct responses and, for each kind, its wrong responses.

    Attributes:
        id: Id of the context.
        turns: Texts of the turns, oldest first.
        positives: Correct responses.
        negatives: Wrong responses by kind, for example ``{"random": ("It rains.",)}``.
        edited: The texts of edited contexts, keyed by the index of the wrong response in `responses`. Wrong
            responses to the unedited context have no entry.
        parts: The indexes in `responses` of the wrong responses of each transform and each error category,
            keyed by ``(TRANSFORM, name)`` or ``(CATEGORY, name)``.
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
        """The correct responses, followed by the wrong responses of each kind."""
        return self.positives + tuple(text for some in self.negatives.values() for text in some)


@dataclass(frozen=True, slots=True)
class Answer:
    """A correct or wrong response.

    Two answers may be equal even if they have different ``categories`` or ``transforms``.

    Attributes:
        text: The response.
        source: Recipe, generator or kind of negatives that the response comes from.
        category: First error category; empty if there is none.
        context: Texts of the context after an edit; None if the context was not edited.
        categories: Error categories.
        transforms: Names of the transforms that made the response.
    """

    text: str
    source: str
    category: str = ""
    context: tuple[str, ...] | None = None
    categories: tuple[str, ...] = field(default=(), compare=False)
    transforms: tuple[str, ...] = field(default=(), compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which a `Mix` can select the answer: its transforms, its category and its source."""
        return (*self.transforms, self.category, self.source)


@dataclass(slots=True)
class Group:
    """A context with its correct and wrong responses.

    Attributes:
        id: Id of the dialogue and number of the turn, for example ``everyday/train/1#2``.
        context: Texts of the turns before the response, oldest first.
        positives: Correct responses.
        negatives: Wrong responses.
    """

    id: str
    context: tuple[str, ...]
    positives: list[Answer] = field(default_factory=list[Answer])
    negatives: list[Answer] = field(default_factory=list[Answer])

    @property
    def size(self) -> int:
        """The number of responses."""
        return len(self.positives) + len(self.negatives)


class Entry(NamedTuple):
    """The data of a record that are needed to add it to a group.

    Attributes:
        group_id: Id of the group.
        split: Split of the dialogue.
        context: Texts of the original context.
        edited_context: Texts of the context in the record. It is equal to ``context`` if the context was not
            edited.
        response: The response.
        label: 1 for a correct response, 0 for a wrong one.
        source: Recipe or generator of the record.
        categories: Error categories.
        transforms: Names of the transforms that made the response.
        right: Correct response from which the response was made by an edit; None if there is none.
    """

    group_id: str
    split: str
    context: tuple[str, ...]
    edited_context: tuple[str, ...]
    response: str
    label: int
    source: str
    categories: tuple[str, ...]
    transforms: tuple[str, ...]
    right: str | None


def read_groups(sources: Iterable[str | Path | Iterable[Negative]]) -> list[Group]:
    """Read records and group them by context.

    The original response of an edited negative is added to the correct responses to its context. Responses
    that are useless for training are dropped (see `without_unusable`). Groups are in the order of their first
    records.

    Args:
        sources: Files of negatives (.jsonl, .parquet), or iterables of negatives.

    Returns:
        The groups.
    """
    return read_usable_groups(sources)[0]


def read_usable_groups(sources: Iterable[str | Path | Iterable[Negative]]) -> tuple[list[Group], int]:
    """Read records and group them by context. Count the responses that were dropped.

    Args:
        sources: Files of negatives (.jsonl, .parquet), or iterables of negatives.

    Returns:
        The groups as `read_groups` returns them, and the number of dropped responses.
    """
    groups: dict[str, Group] = {}
    for entry in chain.from_iterable(map(entries_of, sources)):
        add_entry(groups.setdefault(entry.group_id, Group(entry.group_id, entry.context)), entry)
    kept = list(map(without_unusable, groups.values()))
    return kept, sum(group.size for group in groups.values()) - sum(group.size for group in kept)


def without_unusable(group: Group) -> Group:
    """Return a group without the responses that are useless for training.

    Empty responses are dropped. A wrong response is dropped if it is equal to a correct response to the same
    context. Different spellings count as equal: if "I'll come." is a correct response, "I ’ ll come ." is not
    used as a wrong one. If the context of the wrong response was edited, it may be wrong although it is equal
    to a correct one, so it is kept.

    Args:
        group: A group. It is not changed.

    Returns:
        The same group if nothing is dropped, otherwise a smaller copy.

    Raises:
        InputError: No correct response is left.
    """
    right = [answer for answer in group.positives if answer.text.strip()]
    if not right:
        raise InputError(
            f"{group.id}: no correct response; a context needs a record with label 1, "
            "or the original response of an edited one"
        )
    # The normalized texts are compared, so that "I ’ ll come ." and "I'll come." are equal.
    known = {match_key(answer.text) for answer in right}
    wrong = [
        answer
        for answer in group.negatives
        if (key := match_key(answer.text)) and not (key in known and _has_context_of(answer, group))
    ]
    # In most groups, nothing is dropped, and then no copy is needed.
    if len(right) + len(wrong) == group.size:
        return group
    return Group(group.id, group.context, right, wrong)


def _has_context_of(answer: Answer, group: Group) -> bool:
    """Return whether the context of an answer is that of the group, apart from spelling."""
    return answer.context is None or _same_turns(answer.context, group.context)


def _same_turns(turns: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether two contexts are equal, apart from spelling."""
    return turns == others or list(map(match_key, turns)) == list(map(match_key, others))


def groups_of_contexts(choices: Iterable[LabelledContext]) -> list[Group]:
    """Convert contexts with responses to groups.

    Args:
        choices: Contexts with responses.

    Returns:
        The groups. Each kind of wrong response becomes a source.
    """
    return [
        Group(
            item.id,
            item.turns,
            [Answer(text, REFERENCE) for text in item.positives],
            [Answer(text, kind) for kind, texts in item.negatives.items() for text in texts],
        )
        for item in choices
    ]


def labelled_context(group: Group) -> LabelledContext:
    """Convert a group to a context with its wrong responses by source.

    Args:
        group: A group.

    Returns:
        The context. Its ``parts`` contain the wrong responses of each transform and error category.
    """
    by_source: defaultdict[str, list[Answer]] = defaultdict(list)
    for answer in group.negatives:
        by_source[answer.source].append(answer)
    parts: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    edited: dict[int, tuple[str, ...]] = {}
    # In `LabelledContext.responses`, wrong responses come after the correct ones, so their indexes start at
    # the number of correct ones.
    for place, answer in enumerate(chain.from_iterable(by_source.values()), len(group.positives)):
        if answer.context is not None:
            edited[place] = answer.context
        for by, names in ((TRANSFORM, answer.transforms), (CATEGORY, answer.categories)):
            for name in names:
                parts[by, name].append(place)
    wrong = {name: tuple(answer.text for answer in some) for name, some in by_source.items()}
    right = tuple(answer.text for answer in group.positives)
    return LabelledContext(
        group.id, group.context, right, wrong, edited, {key: tuple(at) for key, at in parts.items()}
    )


DAILYDIALOG_PP = "dailydialog_pp"
"""Name of the output format of `ContextWriter`."""
_ADVERSARIAL, _RANDOM = "adversarial_negative_responses", "random_negative_responses"


@dataclass(slots=True)
class ContextWriter:
    """Writes the contexts of dialogues in the format of DailyDialog++, one JSON object per line.

    The format is that of Sai et al. (2020). The context of turn n consists of the turns before it. A context
    is written if there are responses for its turn n, in the store or in the files of negatives. The correct
    responses are turn n of the dialogue itself, and all responses and records with label 1. The wrong
    responses are those with label 0. If their source is ``random``, they are written as random negatives,
    otherwise as adversarial negatives. Each access to `form` starts a new export and resets the counts.

    Attributes:
        negatives: Files of negatives.
        incomplete: Number of contexts that were skipped because they have no correct or no wrong response.
        edited: Number of records that were skipped because their context was edited.
        unusable: Number of wrong responses that were skipped because they are empty or equal to a correct
            response.
    """

    negatives: Sequence[str | Path] = ()
    incomplete: int = 0
    edited: int = 0
    unusable: int = 0
    _given: dict[str, list[Entry]] = field(default_factory=dict[str, list[Entry]])

    @property
    def form(self) -> Form:
        """The output format for `graphneg.editing.export.export`. Each access resets the counts."""
        return Form(DAILYDIALOG_PP, self._lines(), _write_contexts)

    def _lines(self) -> Callable[[Store, Sequence[StoredDialogue]], Iterator[tuple[str, Any]]]:
        """Read the negatives. Return a function that converts dialogues to lines."""
        self.incomplete = self.edited = self.unusable = 0
        self._given = {}
        for entry in chain.from_iterable(map(entries_of, self.negatives)):
            # In DailyDialog++, a context has only one version, so negatives with edited contexts are skipped.
            if entry.edited_context == entry.context:
                self._given.setdefault(entry.group_id, []).append(entry)
            else:
                self.edited += 1

        def lines(store: Store, dialogues: Sequence[StoredDialogue]) -> Iterator[tuple[str, Any]]:
            responses = read_responses(store, [dialogue.id for dialogue in dialogues])
            for choices in self._contexts(dialogues, responses):
                yield choices.id.rpartition("#")[0], _line(choices)

        return lines

    @property
    def duplicated(self) -> int:
        """The number of records that were not written because their dialogue or turn was not exported."""
        return sum(map(len, self._given.values()))

    def _contexts(
        self, dialogues: Sequence[StoredDialogue], responses: Mapping[str, Sequence[StoredResponse]]
    ) -> Iterator[LabelledContext]:
        """Yield the contexts that have both correct and wrong responses."""
        for dialogue in dialogues:
            said = {turn.turn: turn.text for turn in dialogue.turns}
            found: defaultdict[int, list[tuple[str, int, str]]] = defaultdict(list)
            # A response in the store that answers turn n is an alternative to turn n + 1.
            for one in responses.get(dialogue.id, ()):
                found[one.turn + 1].append((one.text, one.label, one.source))
            for at in {*said, *found}:
                # Records are removed when they are used. `duplicated` counts the records that are left.
                given = self._given.pop(utterance_id(dialogue.id, at), ())
                found[at] += [(entry.response, entry.label, entry.source) for entry in given]
            for at in sorted(at for at, answers in found.items() if answers):
                # The context consists of the turns before the place of the responses.
                turns = tuple(text for turn, text in said.items() if turn < at)
                right = dict.fromkeys([said[at]] if at in said else [])
                wrong: defaultdict[str, dict[str, None]] = defaultdict(dict)
                for text, label, source in found[at]:
                    # DailyDialog++ has different fields for random and for adversarial negatives.
                    kind = wrong[_RANDOM if source == RANDOM else _ADVERSARIAL] if not label else right
                    kind[text] = None
                # Responses that are empty or equal to a correct response are not used as negatives.
                known = {"", *map(match_key, right)}
                texts = {
                    kind: tuple(text for text in some if match_key(text) not in known)
                    for kind, some in wrong.items()
                }
                self.unusable += sum(map(len, wrong.values())) - sum(map(len, texts.values()))
                # In this format, each context must have both correct and wrong responses.
                if turns and right and any(texts.values()):
                    yield LabelledContext(utterance_id(dialogue.id, at), turns, tuple(right), texts)
                else:
                    self.incomplete += 1


def _line(choices: LabelledContext) -> dict[str, Any]:
    """Convert a context to a JSON object in the format of DailyDialog++."""
    wrong = {kind: choices.negatives.get(kind, ()) for kind in (_ADVERSARIAL, _RANDOM)}
    return {"id": choices.id, "context": choices.turns, "positive_responses": choices.positives, **wrong}


def _write_contexts(lines: Iterable[Any], out: Path) -> int:
    """Write contexts to a file, one per line. Return their number."""
    count = 0
    with out.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json_line(line) + "\n")
            count += 1
    # An empty file is an error. Otherwise, training would fail later with a less helpful message.
    if not count:
        raise InputError(
            "no context has both correct and wrong responses: give files of negatives, or load a corpus "
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
    """Write the selected dialogues in the format of DailyDialog++.

    Args:
        store: Store with the dialogues.
        out: File to write.
        selection: Dialogues to write.
        progress: Progress display.
        write: The writer. It has the paths of the files of negatives, and counts what it skips.
        overwrite: Whether to replace an existing file.

    Returns:
        A report of the export; see `graphneg.editing.export.export`.
    """
    facts = [DAILYDIALOG_PP, [file_digest(path) for path in write.negatives]]
    return export(store, out, selection, progress, overwrite=overwrite, form=write.form, facts=facts)


def transforms_of(record: Negative) -> tuple[str, ...]:
    """Return the names of the transforms that made a negative.

    Args:
        record: A negative.

    Returns:
        Each name once. There are none if a generator made the negative, because the edits of a generator have
        the name of the generator instead of that of a transform.
    """
    made = dict.fromkeys(str(edit.transform) for edit in record.edits)
    # An edit may have the same name as the recipe of its record. If the record has no graphs, this is the
    # name of a generator, which is left out. If the record has graphs, it is the name of a transform that is
    # used as a recipe.
    return tuple(one for one in made if one != record.recipe or record.amr)


def entries_of(source: str | Path | Iterable[Negative]) -> Iterator[Entry]:
    """Convert records to entries.

    Args:
        source: File of negatives (.jsonl, .parquet), or an iterable of negatives.

    Returns:
        An iterator over one entry per record.
    """
    is_file = isinstance(source, str | Path)
    located = read_located(source) if is_file else ((negative.id, negative) for negative in source)
    return (entry_from_record(record, address) for address, record in located)


def entry_from_record(record: Negative, where: str) -> Entry:
    """Convert a record to an entry.

    Args:
        record: A record.
        where: Where the record is, such as ``negatives.jsonl, line 3``, for the error message.

    Returns:
        The entry.

    Raises:
        InputError: The label is neither 0 nor 1.
    """
    if record.label not in (0, 1):
        raise InputError(f"{where}: the label is {record.label!r}, but must be 1 (correct) or 0 (wrong)")
    # `record.context` contains the turns after an edit, and `original.context` those before it, or None.
    own = tuple(turn.text for turn in record.context)
    original = record.original.context
    context = own if original is None else tuple(turn.text for turn in original)
    group_id = f"{record.dialogue}#{record.turn}"
    if record.label:
        source = record.recipe or REFERENCE
        return Entry(group_id, record.split, context, own, record.response, 1, source, (), (), None)
    categories, transforms = record.categories, transforms_of(record)
    # If only the context was edited, the response is the correct response to the original context.
    right = record.original.response or (record.response if original is not None else None)
    return Entry(
        group_id, record.split, context, own, record.response, 0, record.recipe, categories, transforms, right
    )


def add_entry(group: Group, entry: Entry) -> None:
    """Add an entry to the group for its context.

    Args:
        group: The group, which is changed.
        entry: The entry. If the group already contains its response, only its categories and transforms are
            added.
    """
    if entry.label:
        right, wrong = Answer(entry.response, entry.source), None
    else:
        # If the context was not edited, the answer has None as its context.
        own = None if _same_turns(entry.edited_context, group.context) else entry.edited_context
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
    # Several transforms may make the same response, with several categories. It becomes a single answer with
    # all of these transforms and categories.
    at = group.negatives.index(wrong)
    there = group.negatives[at]
    categories, transforms = (
        tuple(dict.fromkeys((*old, *new)))
        for old, new in ((there.categories, wrong.categories), (there.transforms, wrong.transforms))
    )
    group.negatives[at] = replace(there, categories=categories, transforms=transforms)


def file_digest(path: str | Path) -> str:
    """Return a digest of the content of a file.

    Args:
        path: Path of the file.

    Returns:
        BLAKE2b digest of the content, in hexadecimal.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error


class HeldOut:
    """A set of texts that must not be used for training. It needs 8 bytes per text.

    Only the hashes of the normalized texts are stored, so different spellings are equal. A text that is not
    in the set may have the same hash as one that is, but this is very unlikely: with a million held-out
    texts, the probability is about 1 in 10 trillion.

    Example:
        >>> "what  NOW?" in HeldOut(["What now?"])
        True
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Initialize the set.

        Args:
            texts: Texts to hold out.
        """
        self._hashes = array("Q")
        self._new: set[int] = set()
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        """Add texts to the set.

        Args:
            texts: Texts to hold out.
        """
        self._new.update(_hash(text) for text in texts)

    def __contains__(self, text: str) -> bool:
        """Return whether a text is held out, in this or a different spelling."""
        hashes = self._sorted()
        if not hashes:
            return False
        hash = _hash(text)
        at = bisect_left(hashes, hash)
        return at < len(hashes) and hashes[at] == hash

    def without(self, group: Group) -> Group:
        """Return a group without its held-out responses.

        Args:
            group: A group. It is not changed.

        Returns:
            A new group without them.
        """
        right = [answer for answer in group.positives if answer.text not in self]
        wrong = [answer for answer in group.negatives if answer.text not in self]
        return Group(group.id, group.context, right, wrong)

    def digest(self) -> bytes:
        """Return a digest of the texts that does not depend on the order in which they were added."""
        return hashlib.blake2b(self._sorted().tobytes(), digest_size=16).digest()

    def _sorted(self) -> array[int]:
        """Return the sorted hashes of all texts."""
        if self._new:
            # The hashes are sorted when the set is searched, because sorting them after each addition would
            # be slow.
            self._hashes = array("Q", sorted(self._new.union(self._hashes)))
            self._new = set()
        return self._hashes


def _hash(text: str) -> int:
    """Return the hash of the normalized form of a text."""
    return number(0, "held out", match_key(text))


def split_texts(store: Store, splits: Collection[str]) -> Iterator[str]:
    """Yield all replies (correct and wrong) in some splits, so that they can be held out from training.

    Args:
        store: Store with the dialogues.
        splits: Names of the splits.

    Yields:
        Texts of all turns except the first turn of each dialogue, and of all responses in the store.

    Raises:
        InputError: The store has no dialogue in one of the splits.
    """
    there = {row["split"] for row in store.read(cypher_text("read/corpora"))}
    # Without this check, a misspelled name would have no effect, and the split would not be held out.
    if strange := sorted(set(splits) - there):
        known = ", ".join(sorted(there)) or "none"
        raise InputError(f"the store has no dialogue of the split {strange[0]!r}; available: {known}")
    yield from stored_replies(store, Selection((), tuple(splits), None))


def stored_replies(
    store: Store, selection: Selection, labels: Collection[int] = (0, 1), progress: Progress | None = None
) -> Iterator[str]:
    """Yield the replies in the selected dialogues: all turns but the first, and responses in the store.

    Args:
        store: Store with the dialogues.
        selection: Dialogues to read.
        labels: Labels of the responses to include: 1 for correct, 0 for wrong. Turns are always included.
        progress: Progress display; advanced by the number of dialogues read.

    Yields:
        Texts of replies.
    """
    shown = progress or NoProgress()
    shown.start("reading", count_dialogues(store, selection), "dialogues")
    ids = dialogue_ids(store, selection)
    while batch := list(islice(ids, 200)):
        responses = read_responses(store, batch)
        for dialogue in read_dialogues(store, batch):
            # The first turn of a dialogue is not a reply.
            yield from (turn.text for turn in dialogue.turns[1:])
            yield from (item.text for item in responses.get(dialogue.id, ()) if item.label in labels)
        shown.advance(len(batch))
    shown.finish()
