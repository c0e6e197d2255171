"""Merge the output files of shards into one file, byte for byte as a single run would have written it.

The inputs are the files of all shards (``negatives.jsonl.1-of-16`` and so on) in any order. The items are
merged in the order in which a single run would write them. Some generators choose the responses to a context
depending on which responses they chose for earlier contexts. A run on a single shard does not know the
responses in other shards. Its file therefore contains drafts: all candidate responses for each context. The
responses are then chosen during the merge (`graphneg.generators.deferred_choice`). Merging needs no store and
no model, and it keeps only one line of each shard in memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from graphneg.datasets.groups import DAILYDIALOG_PP, ContextWriter
from graphneg.editing.export import DIALOGUES, FORMS, LINES, Exported
from graphneg.errors import InputError, first_line
from graphneg.generators.deferred_choice import DRAFTS, choose_from_draft, choosing
from graphneg.hashing import fingerprint
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import (
    check_output,
    check_replaceable,
    finished_run,
    locking,
    note_finished,
    replacing,
)
from graphneg.records.shards import RECORDS, ShardFile, place_sort_key, read_shards

_FORMS = {form.kind: form for form in (*FORMS.values(), ContextWriter().form, DIALOGUES)}


def merge(
    shards: Sequence[str | Path],
    out: str | Path,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    run: str = "",
) -> Exported:
    """Merge the files of all shards into one file. If the same call has already written the file, do nothing.

    Raises `InputError` if a shard is missing, given twice, unfinished or damaged, or if the shards do not
    belong together because they have different settings, stores or versions.

    Args:
        shards: Files of all shards, in any order.
        out: File to write. Its suffix must belong to a format for this kind of items.
        overwrite: Whether to replace an existing file that another command wrote.
        progress: Progress display; advanced by the number of finished shards.
        run: The fingerprint to store in the run note of the file; empty to compute it from the shards. A
            pipeline passes its own fingerprint, by which its next run recognizes the file.

    Returns:
        The number of items in the file, and whether the file was already complete.
    """
    files = read_shards(shards)
    kind = files[0].header.kind
    path = check_output(out, _allowed_suffixes(kind))
    check_replaceable(path, overwrite)
    # The digests of the shards' files identify the result. If an existing file was merged from the same
    # files, it is complete.
    run = run or fingerprint(["merged", files[0].header.shared_settings, [file.verified() for file in files]])
    if done := finished_run(path, run, overwrite):
        return Exported(done["items"], was_complete=True)
    bar = progress or NoProgress()
    bar.start("merge", len(files), "shards")
    # Negatives are written as JSON Lines or Parquet, depending on the suffix. The shards of negatives contain
    # them (`RECORDS`), or the candidates from which they are chosen (`DRAFTS`). All other items, such as
    # graphs, have only one format.
    form = FORMS[path.suffix] if kind in (RECORDS, DRAFTS) else _FORMS[kind]
    try:
        with locking(path) as held, replacing(path, held.token) as unfinished:
            items = form.write(map(form.decode, _merged_items(files, bar)), unfinished)
            note_finished(path, unfinished, run, held.token, items=items)
    finally:
        bar.finish()
    return Exported(items)


def _allowed_suffixes(kind: str) -> list[str]:
    if kind in (DAILYDIALOG_PP, DIALOGUES.kind):
        return list(LINES)
    suffixes = [
        suffix for suffix, form in FORMS.items() if form.kind == (RECORDS if kind == DRAFTS else kind)
    ]
    if not suffixes:
        raise InputError(f"this version of graphneg does not know shards of {kind!r}")
    return suffixes


def _merged_items(files: Sequence[ShardFile], progress: Progress) -> Iterator[Any]:
    """Yield the items of all shards, in the order in which a single run would write them."""
    header = files[0].header
    # If the shards contain drafts (all candidate responses), choose the final responses from them.
    with _readable_drafts(f"the first line of {files[0].path}"):
        choose = None if header.choice is None else choosing(header.choice)
    with ExitStack() as opened:
        lines = [opened.enter_context(closing(_lines_of_shard(file, progress))) for file in files]
        # Each shard is sorted, so `heapq.merge` needs only one line of each shard in memory.
        for place, items in heapq.merge(*lines, key=lambda line: place_sort_key(line[0])):
            for item in items:
                if choose is None:
                    yield item
                    continue
                with _readable_drafts(f"the line {str(place)[:60]!r} of a shard"):
                    chosen = choose_from_draft(item, choose)
                yield from chosen


@contextmanager
def _readable_drafts(where: str) -> Generator[None]:
    """Convert errors about an invalid draft (the candidate responses of a context) into an `InputError`.

    Even a file with a correct digest may contain invalid drafts, if another program has written it.

    Args:
        where: The position of the draft, for the message.

    Yields:
        None.

    Raises:
        InputError: A value is missing or wrong.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{where} has no draft of this version of graphneg: {first_line(error)}") from error


def _lines_of_shard(file: ShardFile, progress: Progress) -> Generator[tuple[Any, list[Any]]]:
    """Yield the lines of a shard. After the last line, count the shard as finished."""
    yield from file.lines()
    progress.advance(1)
