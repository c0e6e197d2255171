"""Group correct and wrong responses by context, as training data for a ranker.

A record contains the dialogue and the turn number of its response. The turns with lower numbers are the
context. The record of an edited negative also contains the correct response from which the negative was made.
`read_groups` collects the records from files, and makes one `Group` per context::

    record   dialogue "d", turn 2, response "It is far.", label 0, original response "It is not far."
    group    id "d#2", positives "It is not far.", negatives "It is far."

A wrong response that is equal to a correct response to the same context is dropped (see `without_unusable`).
`HeldOut` is a set of texts that must not be used for training, such as test data. `ContextWriter` writes
contexts in the format of the DailyDialog++ dataset.
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
from graphneg.model import TWIN, Negative
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
"""Source name that is given to correct responses."""
RANDOM = "random"
"""Source name that is given to random negatives, that is, correct responses to other contexts. Random
negatives are drawn from the groups, so they need no records."""
SOURCE, TRANSFORM, CATEGORY = "source", "transform", "category"
"""The names of the properties by which reports can group wrong responses."""


@dataclass(frozen=True, slots=True)
class LabelledContext:
    """A context with its correct responses, and with its wrong responses grouped by kind.

    Attributes:
        id: Id of the context.
        turns: Texts of the turns, oldest first.
        positives: Correct responses.
        negatives: Wrong responses, keyed by kind, for example ``{"random": ("It rains.",)}``.
        edited: The turns of edited contexts, keyed by the index of the wrong response in `responses`. Wrong
            responses to the unedited context have no entry.
        parts: For each transform and each error category, the indices of its wrong responses in `responses`,
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

    Two answers may be equal even if they have different ``categories``, ``transforms`` or ``pairs``.

    Attributes:
        text: Text of the response.
        source: Name of the recipe, generator or kind of negatives from which the response comes.
        category: First error category of the response; empty if it has no error category.
        context: Texts of the turns of an edited context; None if the context was not edited.
        categories: All error categories of the response.
        transforms: Names of the transforms that made the response.
        pairs: Ids of the minimal pairs that contain the response.
    """

    text: str
    source: str
    category: str = ""
    context: tuple[str, ...] | None = None
    categories: tuple[str, ...] = field(default=(), compare=False)
    transforms: tuple[str, ...] = field(default=(), compare=False)
    pairs: tuple[str, ...] = field(default=(), compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which a `Mix` can ask for the response: its transforms, category and source.

        For example, a response of the recipe ``deam`` may have the names ``polarity_flip``, ``C-cont`` and
        ``deam``.
        """
        return (*self.transforms, self.category, self.source)


@dataclass(slots=True)
class Group:
    """A context with its correct and wrong responses.

    Attributes:
        id: Id of the dialogue and number of the turn that is replaced, for example ``everyday/train/1#2``.
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
        """The number of all responses, correct and wrong."""
        return len(self.positives) + len(self.negatives)


class Entry(NamedTuple):
    """The values of a record that are needed to add its response to a group.

    Attributes:
        group_id: Id of the group: the dialogue's id and the turn number, for example ``everyday/train/1#2``.
        split: Split of the dialogue, such as ``train``.
        context: Texts of the turns of the original context.
        edited_context: Texts of the turns of the context in the record; equal to ``context`` if the context
            was not edited.
        response: Text of the response.
        label: 1 for a correct response, 0 for a wrong response.
        source: Name of the recipe or generator that made the record.
        categories: Error categories of the response.
        transforms: Names of the transforms that made the response.
        right: Correct response from which the response was made by an edit; None if the record has no such
            response.
        pairs: Id of the minimal pair that contains the response, if there is one.
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
    pairs: tuple[str, ...] = ()


def read_groups(sources: Iterable[str | Path | Iterable[Negative]]) -> list[Group]:
    """Read records and group them by context.

    The original response of an edited negative is added to the correct responses to its context. Responses
    that are useless for training are dropped (see `without_unusable`).

    Args:
        sources: Files of negatives (.jsonl, .parquet), or iterables of negatives.

    Returns:
        One group per context, in the order of the first records of the contexts.
    """
    return read_usable_groups(sources)[0]


def read_usable_groups(sources: Iterable[str | Path | Iterable[Negative]]) -> tuple[list[Group], int]:
    """Read records and group them by context, and count the responses that are useless for training.

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
    used as a wrong response. If the context of a wrong response was edited, the response is kept, because it
    may be wrong in the edited context although it is correct in the original context.

    Args:
        group: A group. It is not changed.

    Returns:
        The same group if nothing is dropped, otherwise a smaller copy.

    Raises:
        InputError: The group has no correct response that is not empty.
    """
    right = [answer for answer in group.positives if answer.text.strip()]
    if all(answer.source == TWIN for answer in right):
        raise InputError(
            f"{group.id}: no correct response; a context needs a record with label 1, "
            "or the original response of an edited one"
        )
    # Compare the normalized texts, so that "I ’ ll come ." and "I'll come." are equal.
    known = {match_key(answer.text) for answer in right if answer.context is None}
    wrong = [
        answer
        for answer in group.negatives
        if (key := match_key(answer.text)) and not (key in known and _has_context_of(answer, group))
    ]
    # Usually, all responses of the group are usable. Then return the group itself instead of a copy.
    if len(right) + len(wrong) == group.size:
        return group
    return Group(group.id, group.context, right, wrong)


def _has_context_of(answer: Answer, group: Group) -> bool:
    """Return whether the context of a response equals the context of its group, apart from spelling."""
    return answer.context is None or _same_turns(answer.context, group.context)


def _same_turns(turns: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether two contexts are equal, apart from spelling."""
    return turns == others or list(map(match_key, turns)) == list(map(match_key, others))


def groups_of_contexts(choices: Iterable[LabelledContext]) -> list[Group]:
    """Convert each `LabelledContext` into a `Group`.

    Args:
        choices: Contexts with correct and wrong responses.

    Returns:
        One group per context. The source of a wrong response is its key in ``LabelledContext.negatives``.
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
    """Convert a group into a `LabelledContext`, in which wrong responses are grouped by source.

    Args:
        group: A context with its correct and wrong responses.

    Returns:
        The context. Its ``parts`` list the wrong responses of each transform and error category.
    """
    by_source: defaultdict[str, list[Answer]] = defaultdict(list)
    for answer in group.negatives:
        by_source[answer.source].append(answer)
    parts: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    edited: dict[int, tuple[str, ...]] = {}
    # A twin is a correct response that was made together with a negative. Leave out a twin whose context was
    # edited: it may be wrong in the unedited context of the group.
    right = tuple(dict.fromkeys(answer.text for answer in group.positives if answer.context is None))
    # In `LabelledContext.responses`, wrong responses come after the correct responses, so the first wrong
    # response has the number of correct responses as its index.
    for place, answer in enumerate(chain.from_iterable(by_source.values()), len(right)):
        if answer.context is not None:
            edited[place] = answer.context
        for by, names in ((TRANSFORM, answer.transforms), (CATEGORY, answer.categories)):
            for name in names:
                parts[by, name].append(place)
    wrong = {name: tuple(answer.text for answer in some) for name, some in by_source.items()}
    return LabelledContext(
        group.id, group.context, right, wrong, edited, {key: tuple(at) for key, at in parts.items()}
    )


DAILYDIALOG_PP = "dailydialog_pp"
"""Name of the output format of `ContextWriter`."""
_ADVERSARIAL, _RANDOM = "adversarial_negative_responses", "random_negative_responses"


@dataclass(slots=True)
class ContextWriter:
    """Writes the contexts of dialogues in the format of DailyDialog++, one JSON object per line.

    The format is described by Sai et al. (2020). The context of turn n consists of the turns before turn n. A
    context is written if it has both correct and wrong responses. The correct responses are turn n of the
    dialogue itself, and all responses in the store and records in the files of negatives that have label 1.
    The wrong responses are those with label 0. A wrong response from the source ``random`` is written as a
    random negative, any other wrong response as an adversarial negative. Each access to `form` starts a new
    export and resets the counts.

    Attributes:
        negatives: Paths of files of negatives (.jsonl, .parquet).
        incomplete: Number of contexts that were skipped because they have no correct or no wrong response.
        edited: Number of records that were skipped because their context was edited.
        unusable: Number of wrong responses that were skipped because they are empty or equal to a correct
            response.
    """

    negatives: Sequence[str | Path] = ()
    incomplete: int = 0
    edited: int = 0
    unusable: int = 0
    _entries: dict[str, list[Entry]] = field(default_factory=dict[str, list[Entry]])

    @property
    def form(self) -> Form:
        """The DailyDialog++ format, to be passed as ``form`` to `graphneg.editing.export.export`.

        Each access to this property starts a new export: it reads the files of negatives again, and sets
        ``incomplete``, ``edited`` and ``unusable`` to 0.
        """
        return Form(DAILYDIALOG_PP, self._lines(), _write_contexts)

    def _lines(self) -> Callable[[Store, Sequence[StoredDialogue]], Iterator[tuple[str, Any]]]:
        """Read the negatives. Return a function that converts dialogues into lines of the exported file."""
        self.incomplete = self.edited = self.unusable = 0
        self._entries = {}
        for entry in chain.from_iterable(map(entries_of, self.negatives)):
            # In DailyDialog++, a context has only one version, so skip negatives with edited contexts.
            if entry.edited_context == entry.context:
                self._entries.setdefault(entry.group_id, []).append(entry)
            else:
                self.edited += 1

        def lines(store: Store, dialogues: Sequence[StoredDialogue]) -> Iterator[tuple[str, Any]]:
            responses = read_responses(store, [dialogue.id for dialogue in dialogues])
            for choices in self._contexts(dialogues, responses):
                yield choices.id.rpartition("#")[0], _line(choices)

        return lines

    @property
    def duplicated(self) -> int:
        """The number of records that were not written, because their turn is in no exported dialogue."""
        return sum(map(len, self._entries.values()))

    def _contexts(
        self, dialogues: Sequence[StoredDialogue], responses: Mapping[str, Sequence[StoredResponse]]
    ) -> Iterator[LabelledContext]:
        """Yield the contexts of dialogues that have both correct and wrong responses."""
        for dialogue in dialogues:
            said = {turn.turn: turn.text for turn in dialogue.turns}
            found: defaultdict[int, list[tuple[str, int, str]]] = defaultdict(list)
            # A stored response with turn number n answers turn n. It is an alternative to turn n + 1, so it
            # belongs to the group of turn n + 1.
            for one in responses.get(dialogue.id, ()):
                found[one.turn + 1].append((one.text, one.label, one.source))
            for at in {*said, *found}:
                # Take the records of this turn out of `_entries`, because they are written now. The records
                # that are left at the end are not written at all; `duplicated` counts them.
                given = self._entries.pop(utterance_id(dialogue.id, at), ())
                found[at] += [(entry.response, entry.label, entry.source) for entry in given]
            for at in sorted(at for at, answers in found.items() if answers):
                # The responses in `found[at]` could take the place of turn number `at`, so their context is
                # all turns before `at`.
                turns = tuple(text for turn, text in said.items() if turn < at)
                right = dict.fromkeys([said[at]] if at in said else [])
                wrong: defaultdict[str, dict[str, None]] = defaultdict(dict)
                for text, label, source in found[at]:
                    # DailyDialog++ has different fields for random and for adversarial negatives.
                    kind = wrong[_RANDOM if source == RANDOM else _ADVERSARIAL] if not label else right
                    kind[text] = None
                # Do not use responses as negatives if they are empty or equal to a correct response.
                known = {"", *map(match_key, right)}
                texts = {
                    kind: tuple(text for text in some if match_key(text) not in known)
                    for kind, some in wrong.items()
                }
                self.unusable += sum(map(len, wrong.values())) - sum(map(len, texts.values()))
                # DailyDialog++ has only contexts with both correct and wrong responses, so skip all other
                # contexts.
                if turns and right and any(texts.values()):
                    yield LabelledContext(utterance_id(dialogue.id, at), turns, tuple(right), texts)
                else:
                    self.incomplete += 1


def _line(choices: LabelledContext) -> dict[str, Any]:
    """Convert a context with its responses into a JSON object in the format of DailyDialog++."""
    wrong = {kind: choices.negatives.get(kind, ()) for kind in (_ADVERSARIAL, _RANDOM)}
    return {"id": choices.id, "context": choices.turns, "positive_responses": choices.positives, **wrong}


def _write_contexts(lines: Iterable[Any], out: Path) -> int:
    """Write contexts to a file, one per line. Return the number of contexts."""
    count = 0
    with out.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json_line(line) + "\n")
            count += 1
    # Report an empty file now. A later training with this file would fail with a less helpful message.
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
        progress: Progress display, which is advanced by the number of dialogues.
        write: Writer that contains the paths of the files of negatives. It counts the contexts, records and
            responses that are skipped.
        overwrite: Whether to replace an existing file.

    Returns:
        A report of the export, as returned by `graphneg.editing.export.export`.
    """
    facts = [DAILYDIALOG_PP, [file_digest(path) for path in write.negatives]]
    return export(store, out, selection, progress, overwrite=overwrite, form=write.form, facts=facts)


def transforms_of(record: Negative) -> tuple[str, ...]:
    """Return the names of the transforms that made a negative.

    Args:
        record: Record of a negative.

    Returns:
        Each name once. The tuple is empty if a generator made the negative, because the edits of a generator
        have the name of the generator instead of the name of a transform.
    """
    made = dict.fromkeys(str(edit.transform) for edit in record.edits)
    # An edit by a generator has the name of the generator (`record.recipe`) in `edit.transform`. Leave out
    # this name, because it is no transform. If the record contains AMR graphs, the name is a transform.
    return tuple(one for one in made if one != record.recipe or record.amr)


def entries_of(source: str | Path | Iterable[Negative]) -> Iterator[Entry]:
    """Convert records into entries, which contain only the values that are needed for grouping.

    Args:
        source: File of negatives (.jsonl, .parquet), or an iterable of negatives.

    Returns:
        An iterator over one entry per record.
    """
    is_file = isinstance(source, str | Path)
    located = read_located(source) if is_file else ((negative.id, negative) for negative in source)
    return (entry_from_record(record, address) for address, record in located)


def entry_from_record(record: Negative, where: str) -> Entry:
    """Convert a record into an entry, which contains only the values that are needed for grouping.

    Args:
        record: Record of a negative or a correct response.
        where: Location of the record, such as ``negatives.jsonl, line 3``, for the error message.

    Returns:
        The entry.

    Raises:
        InputError: The label of the record is neither 0 nor 1.
    """
    if record.label not in (0, 1):
        raise InputError(f"{where}: the label is {record.label!r}, but must be 1 (correct) or 0 (wrong)")
    # `record.context` contains the turns after the edit, and `original.context` contains them before the
    # edit. If no turn was edited, `original.context` is None.
    own = tuple(turn.text for turn in record.context)
    original = record.original.context
    context = own if original is None else tuple(turn.text for turn in original)
    group_id = f"{record.dialogue}#{record.turn}"
    pairs = () if record.pair is None else (record.pair,)
    if record.label:
        source = record.recipe or REFERENCE
        return Entry(group_id, record.split, context, own, record.response, 1, source, (), (), None, pairs)
    categories, transforms = record.categories, transforms_of(record)
    # If only the context was edited, the unchanged response is a correct response to the original context.
    right = record.original.response or (record.response if original is not None else None)
    source = record.recipe
    return Entry(
        group_id, record.split, context, own, record.response, 0, source, categories, transforms, right, pairs
    )


def add_entry(group: Group, entry: Entry) -> None:
    """Add an entry to the group for its context.

    Args:
        group: The group, which is changed in place.
        entry: The entry. If the group already contains the wrong response of the entry, only the categories
            and transforms of the entry are added.
    """
    # Store the context of a response only if the context was edited. None stands for the context of the
    # group.
    own = None if _same_turns(entry.edited_context, group.context) else entry.edited_context
    if entry.label:
        twin = entry.source == TWIN
        context = own if twin else None
        _add(group.positives, Answer(entry.response, entry.source, context=context, pairs=entry.pairs))
        return
    if entry.right:
        _add(group.positives, Answer(entry.right, REFERENCE))
    first = entry.categories[0] if entry.categories else ""
    wrong = Answer(entry.response, entry.source, first, own, entry.categories, entry.transforms, entry.pairs)
    _add(group.negatives, wrong)


def _add(answers: list[Answer], answer: Answer) -> None:
    """Add an answer to ``answers``. If the list contains an equal answer, combine the two."""
    if answer not in answers:
        answers.append(answer)
        return
    # Several transforms may make the same response, with different error categories. Keep the response once,
    # with all its transforms, categories and minimal pairs.
    at = answers.index(answer)
    there = answers[at]
    categories, transforms, pairs = (
        tuple(dict.fromkeys((*old, *new)))
        for old, new in (
            (there.categories, answer.categories),
            (there.transforms, answer.transforms),
            (there.pairs, answer.pairs),
        )
    )
    answers[at] = replace(there, categories=categories, transforms=transforms, pairs=pairs)


def file_digest(path: str | Path) -> str:
    """Return a digest of the content of a file.

    Args:
        path: Path of the file.

    Returns:
        BLAKE2b digest of the content, as a hexadecimal string.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error


class HeldOut:
    """A set of texts that must not be used for training. The set needs 8 bytes of memory per text.

    Only the hashes of the normalized texts are stored, so different spellings are equal. A text that is not
    in the set may have the same hash as a text in the set, but this is very unlikely: with a million held-out
    texts, the probability is about 1 in 18 trillion.

    Example:
        >>> "what  NOW?" in HeldOut(["What now?"])
        True
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Initialize the set of held-out texts.

        Args:
            texts: Texts to hold out.
        """
        self._hashes = array("Q")
        self._new: set[int] = set()
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        """Add texts to the held-out texts.

        Args:
            texts: Texts that must not be used as responses.
        """
        self._new.update(_hash(text) for text in texts)

    def __contains__(self, text: str) -> bool:
        """Return whether a text is held out, in the same or in a different spelling."""
        hashes = self._sorted_hashes()
        if not hashes:
            return False
        hash = _hash(text)
        at = bisect_left(hashes, hash)
        return at < len(hashes) and hashes[at] == hash

    def without_held_out(self, group: Group) -> Group:
        """Return a group without its held-out responses.

        Args:
            group: A group. It is not changed.

        Returns:
            A new group without the held-out responses.
        """
        right = [answer for answer in group.positives if answer.text not in self]
        wrong = [answer for answer in group.negatives if answer.text not in self]
        return Group(group.id, group.context, right, wrong)

    def digest(self) -> bytes:
        """Return a digest of all texts in the set. It does not depend on the order of the additions."""
        return hashlib.blake2b(self._sorted_hashes().tobytes(), digest_size=16).digest()

    def _sorted_hashes(self) -> array[int]:
        if self._new:
            # Sort the hashes only when the set is searched, because sorting them after each addition would be
            # slow.
            self._hashes = array("Q", sorted(self._new.union(self._hashes)))
            self._new = set()
        return self._hashes


def _hash(text: str) -> int:
    """Return the hash of the normalized form of a text."""
    return number(0, "held out", match_key(text))


def split_texts(store: Store, splits: Collection[str]) -> Iterator[str]:
    """Yield all replies (correct and wrong) in some splits, for example to hold them out from training.

    Args:
        store: Store with the dialogues.
        splits: Names of the splits.

    Yields:
        Texts of all turns except the first turn of each dialogue, and of all responses in the store.

    Raises:
        InputError: The store has no dialogue in one of the splits.
    """
    there = {row["split"] for row in store.read(cypher_text("read/corpora"))}
    # Without this check, a split with a misspelled name would not be held out.
    if strange := sorted(set(splits) - there):
        known = ", ".join(sorted(there)) or "none"
        raise InputError(f"the store has no dialogue of the split {strange[0]!r}; available: {known}")
    yield from stored_replies(store, Selection((), tuple(splits), None))


def stored_replies(
    store: Store, selection: Selection, labels: Collection[int] = (0, 1), progress: Progress | None = None
) -> Iterator[str]:
    """Yield the replies in dialogues: all turns but the first, and the responses loaded with the dialogues.

    Args:
        store: Store with the dialogues.
        selection: Dialogues to read.
        labels: Labels of the loaded responses to include: 1 for correct, 0 for wrong. Turns are always
            included.
        progress: Progress display, which is advanced by the number of dialogues read.

    Yields:
        Texts of replies.
    """
    shown = progress or NoProgress()
    shown.start("reading", count_dialogues(store, selection), "dialogues")
    ids = dialogue_ids(store, selection)
    while batch := list(islice(ids, 200)):
        responses = read_responses(store, batch)
        for dialogue in read_dialogues(store, batch):
            # Skip the first turn of a dialogue, because it is not a reply.
            yield from (turn.text for turn in dialogue.turns[1:])
            yield from (item.text for item in responses.get(dialogue.id, ()) if item.label in labels)
        shown.advance(len(batch))
    shown.finish()
