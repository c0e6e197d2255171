"""Sample the items of a review from several sources.

Each file of negatives is a source. Human-written adversarial responses in files of the DailyDialog++ format
can be another source. Items with known answers ("gold" items) can be mixed in to check the annotators. To
make the sources comparable, their items are taken from the same contexts as far as possible: the more sources
have negatives for a context, the earlier the context is used.

Example:
    Source X has negatives for the contexts 1 and 2, source Y for the contexts 2 and 3. With ``each=1``, both
    sources contribute a negative for context 2.
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
from graphneg.evaluation.ranking import located_choices
from graphneg.evaluation.review.items import FORMAT, Item, ReviewSet
from graphneg.evaluation.review.questions import Questions, load_questions
from graphneg.hashing import number, shuffled
from graphneg.records.files import read_located

PEOPLE = "people"
"""The name of the source whose items are human-written adversarial responses."""
EACH = 60
"""Default number of items per source."""
_RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A sampled review set, with the numbers of missing items and skipped records.

    Attributes:
        set: The sampled items, with the questions to ask about them.
        too_few: Number of missing items, keyed by source, for the sources with fewer items than requested.
        left_out: Number of records that were skipped because they contain a correct response or an edited
            dialogue instead of a wrong response.
    """

    set: ReviewSet
    too_few: Mapping[str, int]
    left_out: int = 0


def sample_review(
    files: Sequence[str],
    human: Sequence[Path] = (),
    *,
    each: int = EACH,
    seed: int = 0,
    questions: Questions | None = None,
    annotators: int = 0,
    gold: Sequence[Item] = (),
) -> Drawn:
    """Sample the items of a review from several sources.

    Raises `InputError` if a file cannot be read.

    Args:
        files: Files of negatives (``.jsonl``, ``.parquet``). Each file is a source. ``NAME=FILE`` gives the
            source a name; otherwise the source has the name of the file, without the suffix.
        human: Files in the DailyDialog++ format. All their adversarial responses together form one source.
        each: Number of items to sample per source.
        seed: Seed for sampling and shuffling the items.
        questions: The questions to ask, or None for the set of questions ``usable``.
        annotators: Number of annotators per item, or 0 if every annotator judges all items.
        gold: Items with known answers, which are mixed in.

    Returns:
        The review set, and the numbers of missing items and of skipped records.

    Raises:
        InputError: Two sources have the same name, a source has no wrong responses, or no source is given.
    """
    sources: dict[str, list[Item]] = {}
    left_out = 0
    for file in files:
        name, path = _named(file)
        if name in sources or name == PEOPLE:
            raise InputError(
                f"{path}: there is already a source named {name}; choose another name with NAME={path}"
            )
        sources[name], others = _items(name, path)
        left_out += others
        if not sources[name]:
            raise InputError(
                f"{path}: the file has no wrong response (label 0, target response); edited dialogues can't "
                "be judged: edit responses with graphneg negatives --target response"
            )
    if human:
        sources[PEOPLE] = list(_by_people(human))
        if not sources[PEOPLE]:
            raise InputError(f"{', '.join(map(str, human))}: no adversarial responses found")
    if not sources:
        raise InputError("nothing to judge: give files of negatives, or contexts with --human")
    drawn = _drawn(sources, each, seed)
    # Remove sampled items that are also gold items. Otherwise, annotators would judge them twice.
    known = {item.text_digest for item in gold}
    chosen = [item for some in drawn.values() for item in some if item.text_digest not in known]
    order = shuffled([*chosen, *gold], seed, "sheet")
    too_few = {name: each - len(some) for name, some in drawn.items() if len(some) < each}
    asked = questions or load_questions("usable")
    return Drawn(ReviewSet(FORMAT, seed, asked, tuple(order), annotators), too_few, left_out)


def _named(file: str) -> tuple[str, Path]:
    """Return the name and the path in ``NAME=FILE``. For ``a/hard.jsonl``, the name is ``hard``."""
    name, equals, path = file.partition("=")
    return (name, Path(path)) if equals and name and path else (Path(file).stem, Path(file))


def _items(name: str, path: Path) -> tuple[list[Item], int]:
    """Return the wrong responses in a file of negatives as items, and the number of other records."""
    found: list[Item] = []
    records = 0
    for _, record in read_located(path):
        records += 1
        if record.label == 0 and record.target == _RESPONSE:
            context = tuple((turn.speaker, turn.text) for turn in record.context)
            found.append(Item(name, record.id, context, record.response, transforms_of(record)))
    return found, records - len(found)


def _by_people(paths: Sequence[Path]) -> Iterator[Item]:
    """Yield the human-written adversarial responses in files of the DailyDialog++ format, to be judged."""
    for _, choices in located_choices(paths):
        context = tuple(("AB"[at % 2], text) for at, text in enumerate(choices.turns))
        for at, text in enumerate(choices.negatives.get(ADVERSARIAL, ())):
            yield Item(PEOPLE, f"{choices.id}~{PEOPLE}.{at}", context, text)


def _drawn(sources: Mapping[str, Sequence[Item]], each: int, seed: int) -> dict[str, list[Item]]:
    """Sample ``each`` items per source. Return lists of items, keyed by the name of the source."""
    # From each source, take one item per context, then a second item per context, and so on, until there are
    # enough items. All sources use the contexts in the same order, so that their items come from the same
    # contexts as far as possible.
    by_place: dict[str, Mapping[tuple[str, ...], list[Item]]] = {}
    for name, items in sources.items():
        places: defaultdict[tuple[str, ...], list[Item]] = defaultdict(list)
        for item in shuffled(items, seed, "sample", name):
            places[item.context_key].append(item)
        by_place[name] = places
    # First use the contexts for which the most sources have negatives. Contexts with equally many sources are
    # in a random order, which depends only on the seed.
    having = Counter(place for places in by_place.values() for place in places)
    order = sorted(having, key=lambda place: (-having[place], number(seed, "context", *place)))
    drawn: dict[str, list[Item]] = {}
    for name, own in by_place.items():
        rounds = range(max(map(len, own.values())))
        ranked = (own[at][turn] for turn in rounds for at in order if turn < len(own.get(at, ())))
        drawn[name] = list(islice(ranked, each))
    return drawn
