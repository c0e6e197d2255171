"""Define the command ``serve``, which serves web pages to a local browser.

The arguments determine which pages are served. Files of negatives can be browsed and judged. A store can be
explored with queries, whose results are drawn as graphs. Judgements are written to an SQLite file. When the
command is run again, annotators continue where they stopped.

Example::

    $ graphneg serve hard.jsonl edits.jsonl
    http://127.0.0.1:8377/?token=...  (press Ctrl-C to stop)
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg import __version__
from graphneg.cli.annotate import print_shortages
from graphneg.cli.commands import argument, option, shared, training_command
from graphneg.cli.options import StoreOptions
from graphneg.cli.terminal import Bars, advise_on_interrupt, counted, print_message, print_note
from graphneg.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphneg.dialogue_graph import DialogueGraph
    from graphneg.evaluation.review.items import Item
    from graphneg.evaluation.review.judgements import Judgements
    from graphneg.evaluation.review.questions import Questions
    from graphneg.pages.app import View
    from graphneg.pages.review import ReviewView

PORT = 8377
"""The default port on which the server listens."""
_PASSWORD = "GRAPHNEG_PAGES_PASSWORD"
_of_judging = partial(shared, rich_help_panel="Judging")
_ALSO_INSTALL = 'pages need starlette, uvicorn and jinja2: pip install "graphneg[pages]"'


@dataclass(frozen=True)
class ReviewOptions:
    """The options for judging negatives.

    Attributes:
        questions: The name of a set of questions that comes with graphneg, or a file of questions; None for
            the set ``usable``.
        n: Number of negatives that are sampled from each source.
        annotators: Number of annotators per item; 0 if every annotator judges every item.
        gold: Files of items with known answers. These items are mixed in to check the annotators.
        human: Files of contexts with human-written wrong responses. All these files together form another
            source.
        seed: Seed for sampling and shuffling the items.
        judgements: The file in which the annotators' answers are stored; None for a file in the same folder
            as the first file of negatives.
    """

    questions: Annotated[
        str | None,
        _of_judging(
            "The questions to ask: a predefined set (usable, contradiction, categories, "
            "hardness) or a file. Default: usable.",
            "NAME_OR_FILE",
        ),
    ] = None
    n: Annotated[int, _of_judging("Number of negatives to sample from each source.", min=1)] = 60
    annotators: Annotated[
        int, _of_judging("Number of annotators per item; with 0, every annotator judges every item.", min=0)
    ] = 0
    gold: Annotated[
        list[Path] | None,
        _of_judging(
            "Items with known answers, to check the annotators: labels.jsonl of another review. Repeatable."
        ),
    ] = None
    human: Annotated[
        list[Path] | None,
        _of_judging(
            "Contexts in the format of DailyDialog++. Their human-written wrong responses form another "
            "source. Repeatable."
        ),
    ] = None
    seed: Annotated[
        int, _of_judging("Random seed. The same seed gives the same items in the same order.")
    ] = 0
    judgements: Annotated[
        Path | None,
        _of_judging(
            "SQLite file for the answers. Default: a file beside the first file of negatives.", "FILE.sqlite"
        ),
    ] = None

    def view(self, files: Sequence[Path]) -> ReviewView:
        """Return the pages for judging negatives. The answers are added to a new or an existing file.

        Args:
            files: The files of negatives. Empty to continue the review in the file ``judgements``.

        Returns:
            The view, which contains these pages.

        Raises:
            InputError: Neither files nor an existing review are given, or the existing review has different
                questions.
        """
        from graphneg.evaluation.review.exchange import read_gold
        from graphneg.evaluation.review.judgements import Judgements
        from graphneg.evaluation.review.questions import load_questions
        from graphneg.pages.review import ReviewView

        path = self.judgements or files[0].with_suffix(".judgements.sqlite")
        if not files and not path.exists():
            raise InputError(f"{path}: there is no such file; give a file of negatives to judge")
        questions = load_questions(self.questions or "usable")
        gold = read_gold(questions, self.gold or ())
        if not path.exists():
            # Sampling reads all files, so postpone it until somebody opens the pages for judging.
            return ReviewView(lambda: self._sample_items(path, files, questions, gold))
        kept = Judgements.open(path)
        # Refuse questions that differ from the questions of the existing review, because answers to different
        # questions cannot be combined.
        if self.questions and questions != kept.set.questions:
            kept.close()
            raise InputError(
                f"{path}: the file was made with other questions; give another file with --judgements"
            )
        print_note(f"continuing {path}: {counted(len(kept.set.items), 'item')} that were sampled earlier")
        return ReviewView(lambda: kept)

    def _sample_items(
        self, path: Path, files: Sequence[Path], questions: Questions, gold: Sequence[Item]
    ) -> Judgements:
        """Sample the items to judge, and create the file in which answers are stored."""
        from graphneg.evaluation.review.drawing import sample_review
        from graphneg.evaluation.review.judgements import Judgements

        drawn = sample_review(
            [str(file) for file in files],
            self.human or (),
            each=self.n,
            seed=self.seed,
            questions=questions,
            annotators=self.annotators,
            gold=gold,
        )
        print_shortages(drawn, self.n)
        print_message(f"{path} stores the answers to {counted(len(drawn.set.items), 'item')}")
        return Judgements.create(path, drawn.set)


@training_command(
    "graphneg serve negatives.jsonl",
    "graphneg serve hard.jsonl edits.jsonl --questions contradiction --annotators 3",
    "graphneg serve hard.jsonl edits.jsonl --store graphneg-store --port 9000",
    "graphneg serve --judgements labels.sqlite",
)
def serve(
    *,
    files: list[Path] | None = argument(
        None, "Negatives (.jsonl, .parquet). Each file is one source.", "FILE..."
    ),
    host: str = option(
        "127.0.0.1",
        f"Address on which the server listens. If other machines can reach this address, a password is "
        f"needed: ${_PASSWORD}, or typed in.",
        "ADDRESS",
    ),
    port: int = option(PORT, "Port on which the server listens; 0 for any free port.", min=0, max=65535),
    query_timeout: float = option(
        30.0, "Maximum number of seconds for a query on the pages.", "SECONDS", min=0.1
    ),
    review: ReviewOptions,
    where: StoreOptions,
) -> None:
    """Serve web pages for judging and browsing negatives and for exploring the store, until Ctrl-C.

    If a store exists and no files are given, the pages show the negatives that were made from the store.

    The printed address contains a token, without which nobody can open the pages.

    The items to judge are sampled when the judging starts, in the same way as by graphneg annotate. The items
    are stored together with the answers in a file beside the first file of negatives. Run the same command
    again to continue. The pages show the results, and graphneg annotate --read prints them. \N{FORM FEED}

    Raises:
        InputError: The packages for pages are not installed.
    """
    try:
        from graphneg.pages.app import Pages, bound
        from graphneg.pages.app import serve as run
        from graphneg.pages.gate import Access, check_access
    except ImportError as error:
        raise InputError(_ALSO_INSTALL) from error
    password = _password(host)
    check_access(host, password)
    with ExitStack() as opened, advise_on_interrupt("the pages are closed"):
        # Bind the port first, so that a port in use is reported immediately. Opening the store and indexing
        # files can take a while.
        listening = opened.enter_context(bound(host, port))
        pages = Pages(tuple(_views(files or [], review, where, opened, query_timeout)))
        access = Access(host, listening.getsockname()[1], password)
        print_message(f"{access.address}  (press Ctrl-C to stop)")
        run(pages, access, listening)


def _views(
    files: Sequence[Path], review: ReviewOptions, where: StoreOptions, opened: ExitStack, query_timeout: float
) -> list[View]:
    """Return the views (groups of pages) for browsing and judging negatives and for exploring the store."""
    graph = opened.enter_context(where.opened()) if where.exists else None
    views: list[View] = []
    # If the user names neither files nor a review to continue (--judgements), show the negatives that were
    # made from the store.
    shown = (
        files or (review.judgements is None and graph is not None and _cached_negatives_of_store(graph)) or ()
    )
    if shown:
        from graphneg.pages.index import open_index
        from graphneg.pages.negatives import NegativesView

        with Bars() as bars:
            views.append(NegativesView([open_index(file, bars) for file in shown]))
    if files or review.judgements:
        views.append(review.view(files))
    if graph is not None:
        from graphneg.pages.graph import GraphView
        from graphneg.pages.negatives import NegativesView
        from graphneg.store.reopening import ReopenedStore

        if not views:
            # If there are no negatives, add an empty view, which tells the user how to make negatives.
            views.append(NegativesView([]))
        # The server of an embedded store can stop while the pages are open. `ReopenedStore` then opens the
        # store again.
        stores = ReopenedStore(graph.store, where.open_again)
        opened.callback(stores.close)
        views.append(GraphView(stores, query_timeout))
    if not views:
        raise InputError("nothing to show: give files of negatives, or a store with --store")
    return views


def _cached_negatives_of_store(graph: DialogueGraph) -> list[Path]:
    """Write the negatives of the store to a cache file. Return its path in a list, or []."""
    from graphneg.editing.replay import variants_digest
    from graphneg.hashing import fingerprint
    from graphneg.private_files import cache_folder
    from graphneg.records.files import write_jsonl
    from graphneg.store.contents import texts_digest
    from graphneg.store.dialogues import Selection

    if not (made := variants_digest(graph.store)):
        return []
    content = texts_digest(graph.store, Selection())
    # Derive the name of the cache folder from the negatives and the texts in the store and from the version
    # of graphneg. If one of them changes, a new cache folder is used instead of the outdated one.
    folder = cache_folder("stores", fingerprint([__version__, made, content]))
    path = folder / "store.jsonl"
    if not path.exists():
        with Bars() as bars:
            write_jsonl(graph.stored_negatives(progress=bars), path)
    print_note(f"the negatives of the store are in {path}")
    return [path]


def _password(host: str) -> str:
    """Return the password for the pages, which is empty if only this machine can connect.

    The password is read from the environment variable `_PASSWORD`. If this variable is not set, the user is
    asked for a password in the terminal.
    """
    from graphneg.pages.gate import is_loopback

    if is_loopback(host):
        return ""
    given = os.environ.get(_PASSWORD, "")
    if not given and sys.stdin.isatty():
        given = typer.prompt("a password for the pages", hide_input=True, confirmation_prompt=True, err=True)
    return given
