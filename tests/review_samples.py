"""Review sets, filled-in sheets and judgements for tests of manual review."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from msgspec.structs import replace

from graphneg.evaluation.review.exchange import key_path, read_judgements, read_key
from graphneg.evaluation.review.items import FORMAT, Item, ReviewSet
from graphneg.evaluation.review.judgements import Judgement
from graphneg.evaluation.review.questions import load_questions
from graphneg.evaluation.review.results import Results, results_of
from graphneg.model import Negative, Turn
from tests.negative_samples import EXAMPLE

COLUMNS = ("row", "context", "response", "grammatical", "sensible", "verdict")


USABLE = {"grammatical": "yes", "sensible": "yes", "verdict": "wrong"}


RIGHT = {**USABLE, "verdict": "right"}


def negative(context: int, response: str, name: str, **others: object) -> Negative:
    """Return a wrong response to a context that the file written by `people` also contains."""
    turns = tuple(Turn(who, f"Turn {who} of {context}.") for who in ("Ann", "Ben"))
    made = replace(EXAMPLE, id=f"{name}/{context}/{response}", context=turns, response=response)
    return replace(made, recipe=name, target="response", **others)


def generated(name: str, amount: int) -> list[Negative]:
    edit = replace(EXAMPLE.edits[0], transform=name)
    return [negative(at, f"{name} says {at}.", name, edits=(edit,), amr={}) for at in range(amount)]


def people(folder: Path, amount: int) -> Path:
    """Write contexts in the DailyDialog++ format. Contexts with an even number have wrong responses."""
    lines: list[str] = []
    for at in range(amount):
        wrong = [f"People say {at}.", f"Again {at}."] if at % 2 == 0 else []
        turns = [f"Turn Ann of {at}.", f"Turn Ben of {at}."]
        facts = {"id": at, "context": turns, "positive_responses": ["Yes."]}
        lines.append(json.dumps({**facts, "adversarial_negative_responses": wrong}))
    path = folder / "adversarial.json"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def filled(path: Path, **words: str) -> Path:
    """Fill in a sheet with the same answers in all rows except the last one."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows[:-1]:
        row.update(words)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [*COLUMNS])
        table.writeheader()
        table.writerows(rows)
    return path


def read(sheet: Path, key: Path | None = None) -> Results:
    """Return the results of a filled-in sheet."""
    known = read_key(key or key_path(sheet))
    return results_of(known, read_judgements(known, sheet))


def small_set(annotators: int = 0, questions: str = "usable", items: int = 6, gold: int = 0) -> ReviewSet:
    """Return a review set. The correct answers are known for the first ``gold`` items."""
    known = {"grammatical": "yes", "sensible": "yes", "verdict": "wrong"}
    made = [
        Item(
            "hard" if at % 2 else "edits",
            f"i{at}",
            (("Ann", f"Hello {at}."), ("Ben", "Hi\u2028you, <script>alert(1)</script>.")),
            f'Response {at}, "quoted".',
            ("polarity_flip",) if at % 2 == 0 else (),
            known if at < gold else {},
        )
        for at in range(items)
    ]
    return ReviewSet(FORMAT, 7, load_questions(questions), tuple(made), annotators)


def said(*votes: str, question: str = "contradictory") -> list[Judgement]:
    """Return judgements of the first row, one per annotator."""
    return [Judgement(1, f"a{at}", {question: vote}) for at, vote in enumerate(votes)]
