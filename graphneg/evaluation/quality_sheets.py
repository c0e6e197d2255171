"""Quality sheets: negatives of several sources in one table, for a reader who is not told which is which.

Files of negatives go in, each a source, and responses that people wrote to be wrong. Out comes a `Sheet`:
rows in an order of chance with a context, a response and three empty columns, and apart from it a key that
knows where each row comes from. A filled sheet and its key give `Verdicts`: how many of each source, and of
each transform, are grammatical, sensible and wrong, with Wilson's intervals.

Sources are compared on the same contexts as far as they share any: those that most sources have come first.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphneg.datasets.groups import transforms_of
from graphneg.english.tokens import one_line
from graphneg.errors import GraphnegError, InputError
from graphneg.evaluation.comparison.data import ADVERSARIAL, context_key
from graphneg.evaluation.ranking import placed_choices
from graphneg.hashing import fingerprint, number, shuffled
from graphneg.ingest.content import read_text
from graphneg.ingest.reading import parse_json
from graphneg.ingest.sheets import read_sheet, write_sheet
from graphneg.records.files import read_located
from graphneg.records.runs import write_atomically
from graphneg.statistics import Estimate

PEOPLE = "people"
"""The source of responses that people wrote to be wrong."""
GRAMMATICAL, SENSIBLE, VERDICT = "grammatical", "sensible", "verdict"
WRONG, ARGUABLE, RIGHT = "wrong", "arguable", "right"
COLUMNS = ("row", "context", "response", GRAMMATICAL, SENSIBLE, VERDICT)
_FORM = f"a sheet to be read has {', '.join(COLUMNS)}"
_YES_NO = {"yes": "yes", "y": "yes", "1": "yes", "no": "no", "n": "no", "0": "no"}
_ALLOWED = {
    GRAMMATICAL: _YES_NO,
    SENSIBLE: _YES_NO,
    VERDICT: {word[:length]: word for word in (WRONG, ARGUABLE, RIGHT) for length in (1, len(word))},
}
"""What may stand in a column, in lower case, and what it means."""
_RESPONSE = "response"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Sample:
    """A negative that may be drawn: its context's turns, each with its speaker, and what it was made by."""

    source: str
    id: str
    context: tuple[tuple[str, str], ...]
    response: str
    transforms: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, ...]:
        """What samples of one context have in common."""
        return context_key([text for _, text in self.context])

    @property
    def shown(self) -> tuple[str, str]:
        """Context and response as the reader sees them. Speakers are A, B and so on, as they come up:
        their names would tell corpora apart."""
        names: dict[str, str] = {}
        lines: list[str] = []
        for speaker, text in self.context:
            name = names.setdefault(speaker, chr(ord("A") + len(names) % 26))
            lines.append(f"{name}: {one_line(text)}")
        return "\n".join(lines), one_line(self.response)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Samples in the order of their rows. ``too_few`` counts what sources lack, ``left_out`` the records of
    files that are no wrong response: right ones, and edited dialogues."""

    rows: tuple[Sample, ...]
    seed: int
    too_few: Mapping[str, int]
    left_out: int = 0

    def write(self, path: Path, *, overwrite: bool = False) -> Path:
        """Write the sheet, and its key beside it; returns the key's path.

        Raises `InputError`: there is such a file already, or one can't be written.
        """
        key = key_path(path)
        if key.exists() and not overwrite:
            raise InputError(f"{key}: there is such a file already; name another sheet, or overwrite it")
        rows = [(at, *sample.shown, "", "", "") for at, sample in enumerate(self.rows, 1)]
        write_sheet(path, COLUMNS, rows, overwrite=overwrite)
        known = {
            str(at): {
                "source": sample.source,
                "id": sample.id,
                "transforms": sample.transforms,
                "says": _says(*sample.shown),
            }
            for at, sample in enumerate(self.rows, 1)
        }
        facts = {"format": _FORMAT, "seed": self.seed, "rows": known}
        write_atomically(key, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
        return key


@dataclass(frozen=True, slots=True)
class Line:
    """What was said of one source, or of one transform: shares of ``read`` rows, each with its interval."""

    name: str
    read: int
    grammatical: Estimate
    sensible: Estimate
    wrong: Estimate
    arguable: Estimate
    right: Estimate
    usable: Estimate


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a filled sheet says, by source and by transform. ``unfilled`` rows, with an empty column, are
    not counted in any."""

    sources: tuple[Line, ...]
    transforms: tuple[Line, ...]
    read: int
    unfilled: int

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts and lists; an estimate is ``{value, low, high}``."""

        def plain(line: Line) -> dict[str, Any]:
            shares = {name: getattr(line, name)._asdict() for name in SHARES}
            return {"name": line.name, "read": line.read, **shares}

        lines = {"sources": list(map(plain, self.sources)), "transforms": list(map(plain, self.transforms))}
        return {**lines, "read": self.read, "unfilled": self.unfilled}


@dataclass(frozen=True, slots=True)
class _Said:
    """What the reader said of one row."""

    grammatical: bool
    sensible: bool
    verdict: str


SHARES: Mapping[str, Callable[[_Said], bool]] = {
    GRAMMATICAL: lambda said: said.grammatical,
    SENSIBLE: lambda said: said.sensible,
    WRONG: lambda said: said.verdict == WRONG,
    ARGUABLE: lambda said: said.verdict == ARGUABLE,
    RIGHT: lambda said: said.verdict == RIGHT,
    "usable": lambda said: said.grammatical and said.sensible and said.verdict == WRONG,
}
"""The shares of a `Line`, each with what it counts."""


def key_path(sheet: Path) -> Path:
    """Where the key of a sheet lies: ``read.csv`` has ``read.key.json``."""
    return sheet.with_suffix(".key.json")


def draw_sheet(files: Sequence[str], human: Sequence[Path] = (), *, each: int = 60, seed: int = 0) -> Sheet:
    """Draw a sheet of ``each`` negatives of every source; contexts that most sources have come first.

    ``files`` are files of negatives (.jsonl, .parquet), each a source that is called as its file, or
    ``NAME=FILE``. ``human`` are contexts in the shape of DailyDialog++; their adversarial responses are a
    source too.

    Raises `InputError`: two sources have one name, a file can't be read, or has no wrong response.
    """
    sources: dict[str, list[Sample]] = {}
    left_out = 0
    for file in files:
        name, path = _named(file)
        if name in sources or name == PEOPLE:
            raise InputError(f"{path}: a source named {name} is there already; write NAME={path}")
        sources[name], others = _samples(name, path)
        left_out += others
        if not sources[name]:
            raise InputError(f"{path}: no wrong response in it (label 0, target response)")
    if human:
        sources[PEOPLE] = list(_by_people(human))
        if not sources[PEOPLE]:
            raise InputError(f"{', '.join(map(str, human))}: no adversarial responses in it")
    if not sources:
        raise InputError("nothing to draw from: name files of negatives, or contexts with --human")
    drawn = _drawn(sources, each, seed)
    order = shuffled([sample for some in drawn.values() for sample in some], seed, "sheet")
    too_few = {name: each - len(some) for name, some in drawn.items() if len(some) < each}
    return Sheet(tuple(order), seed, too_few, left_out)


def read_verdicts(path: Path, key: Path | None = None) -> Verdicts:
    """What the reader of a sheet said, with where each row comes from; ``key`` else lies beside the sheet.

    Raises `InputError`: a file can't be read or is none of a sheet's, a row is not of this sheet or was
    changed, a word is none of a column's, or no row is filled; file and line are named.
    GraphnegError: statsmodels is not installed.
    """
    known = _key(key or key_path(path))
    by_source: dict[str, list[_Said]] = {entry["source"]: [] for entry in known.values()}
    by_transform: defaultdict[str, list[_Said]] = defaultdict(list)
    seen: set[str] = set()
    unfilled = 0
    for where, row in read_sheet(path, COLUMNS, _FORM):
        entry = known.get(row["row"].strip())
        if entry is None or row["row"] in seen:
            raise InputError(f"{where}: row {row['row']!r} is not in the key, or comes twice")
        seen.add(row["row"])
        if entry["says"] != _says(row["context"], row["response"]):
            raise InputError(f"{where}: row {row['row']} has another context or response than was drawn")
        said = _said(row, where)
        if said is None:
            unfilled += 1
            continue
        by_source[entry["source"]].append(said)
        for transform in entry["transforms"]:
            by_transform[transform].append(said)
    if not any(by_source.values()):
        raise InputError(f"{path}: no row is filled; write {', '.join(map(_words, _ALLOWED))}")
    unfilled += len(known.keys() - seen)
    lines = [
        tuple(_line(name, some) for name, some in sorted(said.items()) if some)
        for said in (by_source, by_transform)
    ]
    return Verdicts(*lines, read=sum(map(len, by_source.values())), unfilled=unfilled)


def _named(file: str) -> tuple[str, Path]:
    """The name of a source and its file: ``NAME=FILE``, or a file that is called so."""
    name, equals, path = file.partition("=")
    return (name, Path(path)) if equals and name and path else (Path(file).stem, Path(file))


def _samples(name: str, path: Path) -> tuple[list[Sample], int]:
    """The wrong responses of a file, and how many records are none."""
    found: list[Sample] = []
    records = 0
    for _, record in read_located(path):
        records += 1
        if record.label == 0 and record.target == _RESPONSE:
            context = tuple((turn["speaker"], turn["text"]) for turn in record.context)
            found.append(Sample(name, record.id, context, record.response, transforms_of(record)))
    return found, records - len(found)


def _by_people(paths: Sequence[Path]) -> Iterator[Sample]:
    for _, choices in placed_choices(paths):
        context = tuple(("AB"[at % 2], text) for at, text in enumerate(choices.turns))
        for at, text in enumerate(choices.negatives.get(ADVERSARIAL, ())):
            yield Sample(PEOPLE, f"{choices.id}~{PEOPLE}.{at}", context, text)


def _drawn(sources: Mapping[str, Sequence[Sample]], each: int, seed: int) -> dict[str, list[Sample]]:
    """So many samples of each source: one of each context, in one order of contexts, then a second one."""
    by_place: dict[str, Mapping[tuple[str, ...], list[Sample]]] = {}
    for name, samples in sources.items():
        places: defaultdict[tuple[str, ...], list[Sample]] = defaultdict(list)
        for sample in shuffled(samples, seed, "sample", name):
            places[sample.place].append(sample)
        by_place[name] = places
    having = Counter(place for places in by_place.values() for place in places)
    order = sorted(having, key=lambda place: (-having[place], number(seed, "context", *place)))
    drawn: dict[str, list[Sample]] = {}
    for name, own in by_place.items():
        rounds = range(max(map(len, own.values())))
        ranked = (own[at][turn] for turn in rounds for at in order if turn < len(own.get(at, ())))
        drawn[name] = [sample for _, sample in zip(range(each), ranked, strict=False)]
    return drawn


def _says(context: str, response: str) -> str:
    """What tells a row's texts from others, however a spreadsheet writes ends of lines."""
    return fingerprint([one_line(context), one_line(response)])


def _key(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """The rows of a key, by number."""
    if not path.exists():
        raise InputError(f"{path}: there is no such key; it was written with the sheet, name it with --key")
    try:
        facts = parse_json(read_text(path))
        if facts["format"] != _FORMAT:
            raise KeyError("format")
        rows: Mapping[str, Mapping[str, Any]] = facts["rows"]
        return {
            at: {name: row[name] for name in ("source", "transforms", "says")} for at, row in rows.items()
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{path}: no key of a sheet") from error


def _said(row: Mapping[str, str], where: str) -> _Said | None:
    """What a row says; None where a column is empty."""
    meant: dict[str, str] = {}
    for name, allowed in _ALLOWED.items():
        word = row[name].strip().lower()
        if word and word not in allowed:
            raise InputError(f"{where}: {name} is {row[name].strip()!r}; write {_words(name)}")
        if word:
            meant[name] = allowed[word]
    if len(meant) < len(_ALLOWED):
        return None
    return _Said(meant[GRAMMATICAL] == "yes", meant[SENSIBLE] == "yes", meant[VERDICT])


def _words(column: str) -> str:
    """The words of a column: ``yes or no``."""
    return " or ".join(dict.fromkeys(_ALLOWED[column].values()))


def _line(name: str, said: Sequence[_Said]) -> Line:
    shares = {share: _share(map(counts, said), len(said)) for share, counts in SHARES.items()}
    return Line(name, len(said), **shares)


def _share(holds: Iterable[bool], of: int) -> Estimate:
    """A share with Wilson's 95% interval."""
    try:
        from statsmodels.stats.proportion import proportion_confint
    except ImportError as error:
        raise GraphnegError('intervals need statsmodels: pip install "graphneg[evaluation]"') from error
    count = sum(holds)
    ends: Any = proportion_confint(count, of, method="wilson")
    return Estimate(count / of, *map(float, ends))
