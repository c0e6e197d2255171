"""What is to be judged: negatives of several sources, drawn into one order that tells nothing of them.

Files of negatives go in, each a source, responses that people wrote to be wrong, and judged items whose
answers are known. A `Drawn` comes out. Sources are compared on the same contexts as far as they share any:
those that most sources have come first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from graphneg.datasets.groups import transforms_of
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import ADVERSARIAL
from graphneg.evaluation.ranking import placed_choices
from graphneg.evaluation.review.items import FORMAT, Item, ReviewSet
from graphneg.evaluation.review.questions import Questions, load_questions
from graphneg.hashing import number, shuffled
from graphneg.records.files import read_located

PEOPLE = "people"
"""The source of responses that people wrote to be wrong."""
EACH = 60
"""Items of each source, where nothing else is said."""
_RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A set to be judged. ``too_few`` counts what sources lack, ``left_out`` the records of files that are no
    wrong response: right ones, and edited dialogues."""

    set: ReviewSet
    too_few: Mapping[str, int]
    left_out: int = 0


def draw(
    files: Sequence[str],
    human: Sequence[Path] = (),
    *,
    each: int = EACH,
    seed: int = 0,
    questions: Questions | None = None,
    annotators: int = 0,
    gold: Sequence[Item] = (),
) -> Drawn:
    """Draw ``each`` negatives of every source; contexts that most sources have come first.

    ``files`` are files of negatives (.jsonl, .parquet), each a source that is called as its file, or
    ``NAME=FILE``. ``human`` are contexts in the shape of DailyDialog++; their adversarial responses are a
    source too. ``gold`` items join them. Questions are those of ``usable`` where none are given.

    Raises `InputError`: two sources have one name, a file can't be read, or has no wrong response.
    """
    sources: dict[str, list[Item]] = {}
    left_out = 0
    for file in files:
        name, path = _named(file)
        if name in sources or name == PEOPLE:
            raise InputError(f"{path}: a source named {name} is there already; write NAME={path}")
        sources[name], others = _items(name, path)
        left_out += others
        if not sources[name]:
            raise InputError(
                f"{path}: no wrong response in it (label 0, target response); edited dialogues are"
                " not judged: graphneg negatives --target response edits responses"
            )
    if human:
        sources[PEOPLE] = list(_by_people(human))
        if not sources[PEOPLE]:
            raise InputError(f"{', '.join(map(str, human))}: no adversarial responses in it")
    if not sources:
        raise InputError("nothing to draw from: name files of negatives, or contexts with --human")
    drawn = _drawn(sources, each, seed)
    known = {item.says for item in gold}
    chosen = [item for some in drawn.values() for item in some if item.says not in known]
    order = shuffled([*chosen, *gold], seed, "sheet")
    too_few = {name: each - len(some) for name, some in drawn.items() if len(some) < each}
    asked = questions or load_questions("usable")
    return Drawn(ReviewSet(FORMAT, seed, asked, tuple(order), annotators), too_few, left_out)


def _named(file: str) -> tuple[str, Path]:
    """The name of a source and its file: ``NAME=FILE``, or a file that is called so."""
    name, equals, path = file.partition("=")
    return (name, Path(path)) if equals and name and path else (Path(file).stem, Path(file))


def _items(name: str, path: Path) -> tuple[list[Item], int]:
    """The wrong responses of a file, and how many records are none."""
    found: list[Item] = []
    records = 0
    for _, record in read_located(path):
        records += 1
        if record.label == 0 and record.target == _RESPONSE:
            context = tuple((turn["speaker"], turn["text"]) for turn in record.context)
            found.append(Item(name, record.id, context, record.response, transforms_of(record)))
    return found, records - len(found)


def _by_people(paths: Sequence[Path]) -> Iterator[Item]:
    for _, choices in placed_choices(paths):
        context = tuple(("AB"[at % 2], text) for at, text in enumerate(choices.turns))
        for at, text in enumerate(choices.negatives.get(ADVERSARIAL, ())):
            yield Item(PEOPLE, f"{choices.id}~{PEOPLE}.{at}", context, text)


def _drawn(sources: Mapping[str, Sequence[Item]], each: int, seed: int) -> dict[str, list[Item]]:
    """So many items of each source: one of each context, in one order of contexts, then a second one."""
    by_place: dict[str, Mapping[tuple[str, ...], list[Item]]] = {}
    for name, items in sources.items():
        places: defaultdict[tuple[str, ...], list[Item]] = defaultdict(list)
        for item in shuffled(items, seed, "sample", name):
            places[item.place].append(item)
        by_place[name] = places
    having = Counter(place for places in by_place.values() for place in places)
    order = sorted(having, key=lambda place: (-having[place], number(seed, "context", *place)))
    drawn: dict[str, list[Item]] = {}
    for name, own in by_place.items():
        rounds = range(max(map(len, own.values())))
        ranked = (own[at][turn] for turn in rounds for at in order if turn < len(own.get(at, ())))
        drawn[name] = list(islice(ranked, each))
    return drawn
