"""Let annotators judge negatives, and show the results.

Each annotator has a URL, ``/review/by/NAME``, which always shows the next item that the annotator has to
judge. An annotator can therefore close the browser and continue later, even in another browser. Each answer
is written to disk before the next page is sent. The pages for annotators do not show which recipe, generator
or file a negative comes from. Other pages show the results of each of these sources, and the items on which
annotators disagree.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from graphneg.errors import InputError
from graphneg.evaluation.review.exchange import (
    FORMS,
    READER,
    csv_of,
    jsonl_of,
    label_studio_config,
    label_studio_of,
    labels_of,
    read_judgements,
)
from graphneg.evaluation.review.judgements import ADJUDICATOR, Judgements, check_annotator
from graphneg.evaluation.review.questions import COMMANDS
from graphneg.evaluation.review.results import MAJORITY, RULES, Results, results_of
from graphneg.pages.app import Pages
from graphneg.pages.gate import body, form
from graphneg.pages.query_slots import BusyError
from graphneg.pages.url_values import choice_value, integer_value

FILES_AT_ONCE = 2
"""Maximum number of uploaded files that are processed at the same time. The limit saves memory, because
uploaded files are kept in memory."""
_ANSWER = "answer."
"""Prefix of the form fields that contain answers. The name of the question follows the prefix."""
_FILES: Mapping[str, Callable[[Results], str]] = {
    "judgements.csv": csv_of,
    "judgements.jsonl": jsonl_of,
    "label-studio.json": label_studio_of,
    "label-studio.xml": lambda results: label_studio_config(results.set),
    "labels.jsonl": labels_of,
}
"""The files that can be downloaded: a mapping from the file name to the function that returns the content."""


class ReviewView:
    """The view for judging negatives, with pages for results and disagreements.

    Args:
        opened: Function that opens the judgements. It is called only at the first request, because it may
            take a while to sample the items to judge.
    """

    title = "Review"
    path = "/review"

    def __init__(self, opened: Callable[[], Judgements]) -> None:
        self._opened = opened
        self._judgements: Judgements | None = None
        self._opening = threading.Lock()
        self._sending = asyncio.Semaphore(FILES_AT_ONCE)

    @property
    def is_empty(self) -> bool:
        """False: the view is never empty, because there are always items to judge."""
        return False

    @property
    def judged(self) -> Judgements:
        """The judgements of all annotators. The file with the judgements is opened on the first access."""
        # Use a lock: a second request may arrive while the first request samples the items, and must wait.
        with self._opening:
            if self._judgements is None:
                self._judgements = self._opened()
            return self._judgements

    def close(self) -> None:
        """Close the file of judgements, if it was opened."""
        if self._judgements is not None:
            self._judgements.close()

    def routes(self, pages: Pages) -> Sequence[BaseRoute]:
        """Return the routes of the pages that this view serves.

        Args:
            pages: The web application, which renders the templates.

        Returns:
            The routes for judging items, for results and their files, for imports and for disagreements.
        """

        def read(path: str, answer: Callable[[Pages, Request], Response]) -> Route:
            def endpoint(request: Request) -> Response:
                return answer(pages, request)

            return Route(self.path + path, endpoint)

        def write(path: str, answer: Callable[[Request, dict[str, str]], Response]) -> Route:
            async def endpoint(request: Request) -> Response:
                # Run the function in a thread, because it writes to SQLite, which blocks until the disk has
                # the data.
                return await run_in_threadpool(answer, request, await form(request))

            return Route(self.path + path, endpoint, methods=["POST"])

        return [
            read("", self._overview),
            write("/begin", self._begin),
            read("/by/{annotator}", self._item),
            write("/by/{annotator}", self._store_answer),
            read("/results", self._results),
            read("/results/{file}", self._file),
            Route(f"{self.path}/import", self._import_judgements, methods=["POST"]),
            read("/disagreements", self._disagreement),
            write("/disagreements", self._decided),
        ]

    def _overview(self, pages: Pages, request: Request) -> Response:
        judged = self.judged
        standings = [(name, judged.progress_of(name)) for name in judged.annotators()]
        return pages.render(request, "review/overview.html", set=judged.set, standings=standings)

    def _begin(self, request: Request, fields: dict[str, str]) -> Response:
        return self._to(f"/by/{quote(check_annotator(fields.get('annotator', '')), safe='')}")

    def _item(self, pages: Pages, request: Request) -> Response:
        judged, annotator = self.judged, check_annotator(request.path_params["annotator"])
        row = judged.next_row(annotator)
        values: dict[str, Any] = {
            "annotator": annotator,
            "standing": judged.progress_of(annotator),
            "questions": judged.set.questions,
            "commands": COMMANDS,
        }
        if row is None:
            return pages.render(request, "review/done.html", **values)
        shown = {"row": row, "item": judged.set.item(row), "comment": judged.comment(row, annotator)}
        return pages.render(request, "review/item.html", **shown, **values)

    def _store_answer(self, request: Request, fields: dict[str, str]) -> Response:
        """Store an answer, skip an item or undo the last answer, and redirect to the next item."""
        judged, annotator = self.judged, check_annotator(request.path_params["annotator"])
        action = fields.get("action")
        if action == "undo":
            judged.undo(annotator)
        elif action == "skip":
            judged.skip(_row(fields), annotator)
        elif action == "answer":
            judged.judge(_row(fields), annotator, _answers(fields), fields.get("comment", ""))
        else:
            raise InputError("the form has no action: expected answer, skip or undo")
        return self._to(f"/by/{quote(annotator, safe='')}")

    def _results(self, pages: Pages, request: Request) -> Response:
        values: dict[str, Any] = {
            "results": self._by_rule(request),
            "rules": list(RULES),
            "files": list(_FILES),
        }
        return pages.render(request, "review/results.html", **values)

    def _file(self, pages: Pages, request: Request) -> Response:
        name = request.path_params["file"]
        if name not in _FILES:
            raise HTTPException(404, f"there is no file of this name; choose one of {', '.join(_FILES)}")
        text = _FILES[name](self._by_rule(request))
        return PlainTextResponse(text, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    async def _import_judgements(self, request: Request) -> Response:
        """Store the judgements from an uploaded file, whose name and format are in the URL."""
        name, annotator = request.query_params.get("name", ""), request.query_params.get("annotator", "")
        # Refuse the upload if too many other uploads are running. If the upload had to wait instead, it
        # would keep a connection open.
        if self._sending.locked():
            raise BusyError("other files are being imported: try again in a few seconds")
        async with self._sending:
            sent = await body(request)
            amount = await run_in_threadpool(self._take_in, sent, name, annotator)
        return PlainTextResponse(f"{amount:,} judgements imported from {name}")

    def _take_in(self, sent: bytes, name: str, annotator: str) -> int:
        suffix = Path(name).suffix
        if suffix not in FORMS:
            name = name[:60]
            raise InputError(f"{name!r}: unknown suffix; use {', '.join(FORMS)}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"sent{suffix}"
            path.write_bytes(sent)
            try:
                found = read_judgements(self.judged.set, path, annotator or READER)
            except InputError as error:
                # In the message, replace the path of the temporary file with the name of the uploaded file.
                raise InputError(str(error).replace(str(path), name)) from error
        return self.judged.put(found)

    def _disagreement(self, pages: Pages, request: Request) -> Response:
        results = self._by_rule(request)
        rows = results.disagreements
        # The adjudicator has already decided some of the rows. Do not show them again, unless the URL names
        # one of them.
        left = [row for row in rows if row not in results.adjudications]
        asked = integer_value(request.query_params, "row", 0, minimum=0)
        row = asked if asked in rows else next(iter(left), None)
        values: dict[str, Any] = {"rows": rows, "left": left, "row": row, "results": results}
        if row is not None:
            values["item"] = results.set.item(row)
        return pages.render(
            request, "review/disagreements.html", questions=results.set.questions, comment="", **values
        )

    def _decided(self, request: Request, fields: dict[str, str]) -> Response:
        self.judged.judge(_row(fields), ADJUDICATOR, _answers(fields), fields.get("comment", ""))
        return self._to("/disagreements")

    def _by_rule(self, request: Request) -> Results:
        rule = choice_value(request.query_params, "rule", RULES, MAJORITY)
        return results_of(self.judged.set, self.judged.all(), rule)

    def _to(self, path: str) -> Response:
        return RedirectResponse(self.path + path, 303)


def _row(fields: Mapping[str, str]) -> int:
    if not fields.get("row"):
        raise InputError("the form has no row")
    return integer_value(fields, "row", 0)


def _answers(fields: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix(_ANSWER): value for name, value in fields.items() if name.startswith(_ANSWER)}
