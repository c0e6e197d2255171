"""Collecting responses that may contradict (Sato et al. 2024): contexts, then responses to them.

Contexts that end in a question about what was said are scored and the best kept; then generators, files and
language models respond. Each step writes JSON lines, and goes on where it was stopped: a context's line has
the fields of `graphneg.generators.base.Context`, ``referent`` and ``log_fqness``; a response's line a
context, its ``generator`` and its ``response``. `graphneg.evaluation.review.contradictory` comes next.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec

from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import Candidate, Context, Generator, Turn, settings_of
from graphneg.hashing import fingerprint
from graphneg.ingest.labelled import Labelled, labelled_lines
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.reading import accepted, json_lines
from graphneg.json_input import json_line
from graphneg.model import Dialogue
from graphneg.progress import NoProgress, Progress
from graphneg.records.resumable import ResumableWriter
from graphneg.records.runs import check_new, check_output, remove_finished, write_atomically
from graphneg.scorers.followups import FollowUp, best, followups, fqness, written

if TYPE_CHECKING:
    from graphneg.nn.language_models import CausalLM, LanguageModel

Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
Line = TypeVar("Line")
Item = TypeVar("Item")
BATCH = 16
LONGEST = 64
"""Tokens of a language model's response, at most."""


@dataclass(frozen=True, slots=True)
class ContextChoice:
    """The ``top`` contexts by score, at most ``per_dialogue`` of each dialogue; referents are among the
    last ``furthest`` turns of the one who answers."""

    top: int = 1000
    per_dialogue: int = 1
    furthest: int = 3

    def __post_init__(self) -> None:
        if min(self.top, self.per_dialogue, self.furthest) < 1:
            raise InputError("top, per_dialogue and furthest must each be at least 1")


def collect_contexts(
    contexts: Iterable[Context],
    model: LanguageModel,
    out: str | Path,
    choice: ContextChoice | None = None,
    *,
    facts: Mapping[str, object] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> list[FollowUp]:
    """Score all follow-ups of contexts, write the best ones, best first, and return them.

    ``facts`` (what JSON can hold: the model, where contexts are from) decide whether a run that was
    stopped is gone on with; scores so far are in a file beside ``out``.

    Raises `InputError`: ``out`` is there already, or can't be written; no context ends in a question.
    """
    choice = choice or ContextChoice()
    path = _destination(out, overwrite)
    scores = path.with_name(f"{path.stem}.scores.jsonl")
    settings = {"facts": dict(facts or {}), "furthest": choice.furthest}
    bar = progress or NoProgress()
    bar.start("follow-ups", None, "questions")
    asked = followups(contexts, choice.furthest)

    def lines(some: Sequence[FollowUp]) -> Iterable[str]:
        return map(context_line, fqness(model, some))

    done, _ = _collect(scores, settings, asked, lines, bar, overwrite=True)
    if not done:
        remove_finished(scores)
        raise InputError("no context ends in a question to a speaker who said something before")
    bar.finish()
    chosen = best(read_contexts_file(scores), choice.top, choice.per_dialogue)
    _write(path, map(context_line, chosen))
    remove_finished(scores)
    return chosen


def collect_responses(
    contexts: Sequence[FollowUp],
    generators: Sequence[Generator],
    out: str | Path,
    *,
    per_context: int = 1,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write the responses of each generator to each context; returns how many there are.

    Responses that a generator lacks are not made up for. Text that stands twice for one context is written
    for the first generator alone.

    Raises:
        InputError: ``out`` is there already, not written by this call, or no generator or two of one name
            are given.
        GeneratorError: a generator answers with too few lists.
    """
    names = [item.name for item in generators]
    if not names or len(set(names)) < len(names):
        raise InputError(f"generators {', '.join(names) or '(none)'}: one or more, each once, please")
    path = check_output(out, (".jsonl",))
    settings = {
        "contexts": [context_line(item) for item in contexts],
        "generators": [[item.name, settings_of(item)] for item in generators],
        "per_context": per_context,
        "seed": seed,
    }

    def lines(some: Sequence[FollowUp]) -> Iterator[str]:
        for item in _responses(some, generators, per_context, seed):
            names = {"id": item.id, "generator": item.generator, "response": item.response}
            yield json_line({**names, "context": _context_fields(item.followup)})

    bar = progress or NoProgress()
    bar.start("responses", len(contexts), "contexts")
    _, written = _collect(path, settings, contexts, lines, bar, overwrite)
    bar.finish()
    return written


def _collect(
    path: Path,
    settings: Mapping[str, object],
    items: Iterable[Item],
    lines: Callable[[Sequence[Item]], Iterable[str]],
    bar: Progress,
    overwrite: bool,
) -> tuple[int, int]:
    """Write the lines of all items, some at a time, where a stopped run of these settings ended. Returns how
    many items and lines there are in all."""
    with ResumableWriter(path, fingerprint(settings), overwrite=overwrite) as writer:
        done, written = writer.resumed.dialogues, writer.resumed.negatives
        bar.advance(done)
        rest = islice(items, done, None)
        while some := list(islice(rest, BATCH)):
            for line in lines(some):
                writer.write_line(line)
                written += 1
            done += len(some)
            writer.checkpoint(done)
            bar.advance(len(some))
        writer.finish()
    return done, written


def write_responses(labelled: Iterable[Labelled], out: str | Path, *, overwrite: bool = False) -> None:
    """Write labelled responses as JSON lines, in the form that `read_labelled` reads.

    Raises `InputError`: ``out`` is there already, or can't be written.
    """
    _write(_destination(out, overwrite), labelled_lines(labelled))


def _responses(
    some: Sequence[FollowUp], generators: Sequence[Generator], per_context: int, seed: int
) -> Iterable[Responded]:
    contexts = [item.context for item in some]
    given: list[list[tuple[str, str]]] = [[] for _ in some]
    for generator in generators:
        answers = generator.generate(contexts, per_context, seed)
        if len(answers) != len(contexts):
            raise GeneratorError(
                f"generator {generator.name} answered {len(answers)} of {len(contexts)} contexts"
            )
        for index, candidates in enumerate(answers):
            given[index] += [(generator.name, item.text) for item in candidates[:per_context]]
    for item, pairs in zip(some, given, strict=True):
        texts: set[str] = set()
        for name, text in pairs:
            text = text.strip()
            if text and text not in texts:
                texts.add(text)
                # The id does not tell an annotator who made the response.
                digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
                yield Responded(f"{item.context.id}~{digest}", item, name, text)


def _destination(out: str | Path, overwrite: bool) -> Path:
    path = check_output(out, (".jsonl",))
    check_new(path, overwrite)
    return path


def _write(path: Path, lines: Iterable[str]) -> None:
    write_atomically(path, "".join(f"{line}\n" for line in lines))


class FileResponses:
    """Responses that some program wrote: JSON lines with ``id`` (of a context) and ``response``.

    Raises `InputError`: the file can't be read, or a line is none of these.
    """

    def __init__(self, name: str, path: str | Path) -> None:
        self.name = name
        self._path = Path(path)
        self._by_context: dict[str, list[str]] = {}
        for line in read_lines_as(GivenLine, self._path):
            self._by_context.setdefault(line.id, []).append(line.response)

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """The file's responses to each context, in its order."""
        return [
            [Candidate(text, ()) for text in self._by_context.get(item.id, ())[:per_context]]
            for item in contexts
        ]

    def settings(self) -> Mapping[str, object]:
        """What decides the responses."""
        return {"responses": hashlib.sha256(self._path.read_bytes()).hexdigest()}


class Replies:
    """A causal language model that goes on with the dialogue, a line drawn from its likelier words."""

    def __init__(self, name: str, model: CausalLM) -> None:
        self.name = name
        self._model = model

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """``per_context`` replies of one line to each context; an empty one is left out."""
        from graphneg.nn.generation import Sampling
        from graphneg.nn.writers import GenerationSettings, LocalWriter, Prompt

        prompts = [Prompt(written(item.turns, item.speaker), item.id) for item in contexts]
        settings = GenerationSettings(Sampling(temperature=0.8, top_p=0.9), LONGEST)
        texts = LocalWriter(self._model).complete(
            prompts, per_context, seed=seed, stop=["\n"], settings=settings
        )
        return [[Candidate(one.text, ()) for one in each if one.text] for each in texts]

    def settings(self) -> Mapping[str, object]:
        """What decides the responses."""
        return {"model": str(self._model.path), "longest": LONGEST}


class TurnLine(msgspec.Struct):
    """A turn of a context."""

    speaker: Text
    text: Text


class ContextLine(msgspec.Struct):
    """A context, the turn that its question may ask about, and how sure that is."""

    id: Text
    corpus: Text
    split: Text
    dialogue: Text
    speaker: Text
    turn: int
    turns: list[TurnLine]
    positives: list[str]
    referent: int
    log_fqness: float

    def __post_init__(self) -> None:
        if not 0 <= self.referent < len(self.turns) - 1:
            raise ValueError(f'"referent" {self.referent} is none of the turns before the question')

    @property
    def followup(self) -> FollowUp:
        """The line's values as the rest of this package has them."""
        turns = tuple(Turn(turn.speaker, turn.text) for turn in self.turns)
        place = (self.id, self.corpus, self.split, self.dialogue, self.turn)
        context = Context(*place, turns, self.speaker, tuple(self.positives))
        return FollowUp(context, self.referent, self.log_fqness)


class ResponseLine(msgspec.Struct):
    """A generator's response to a context."""

    id: Text
    generator: Text
    response: Text
    context: ContextLine


class GivenLine(msgspec.Struct):
    """A response that some program wrote, to the context of that id."""

    id: str
    response: Text


@dataclass(frozen=True, slots=True)
class Responded:
    """A generator's response to a context. ``id`` is the context's and a digest of the response: it does not
    say who made it."""

    id: str
    followup: FollowUp
    generator: str
    response: str


def context_line(item: FollowUp) -> str:
    """A scored context as one line of JSON."""
    return json_line(_context_fields(item))


def _context_fields(item: FollowUp) -> dict[str, object]:
    """The values of a `ContextLine`, in its order."""
    values = asdict(item) | asdict(item.context) | {"turns": [turn._asdict() for turn in item.context.turns]}
    return {name: values[name] for name in ContextLine.__struct_fields__}


def read_contexts_file(path: str | Path) -> list[FollowUp]:
    """The contexts that `collect_contexts` wrote.

    Raises `InputError`: the file can't be read, or a line is none; file and line are named.
    """
    return [line.followup for line in read_lines_as(ContextLine, path)]


def read_responses_file(path: str | Path) -> list[Responded]:
    """The responses that `collect_responses` wrote.

    Raises `InputError`: the file can't be read, a line is none, or an id comes twice.
    """
    responses: dict[str, Responded] = {}
    for number, line in enumerate(read_lines_as(ResponseLine, path), 1):
        if line.id in responses:
            raise InputError(f"{path}: the id {line.id!r} comes a second time (entry {number})")
        responses[line.id] = Responded(line.id, line.context.followup, line.generator, line.response)
    return list(responses.values())


def read_lines_as(kind: type[Line], path: str | Path) -> list[Line]:
    """The lines of a JSON Lines file, each checked to be of a kind (a `msgspec.Struct`).

    Raises `InputError`: the file can't be read or is empty, or a line is none; file and line are named.
    """
    lines: list[Line] = []
    for item in accepted(json_lines(Path(path), NoProgress())):
        try:
            lines.append(msgspec.convert(item.value, kind))
        except msgspec.ValidationError as error:
            raise InputError(f"{item.place}: {error}") from error
    if not lines:
        raise InputError(f"{path}: there is nothing in it")
    return lines


def read_dialogues_file(path: str | Path) -> Iterator[Context]:
    """Contexts of a file of dialogues (as the loader ``dialogues`` reads them): one before each turn.

    Raises `InputError`: the file can't be read, or a dialogue in it; its place is named.
    """
    for record in accepted(get_loader("dialogues").read([Path(path)], LoadOptions())):
        if isinstance(record, Dialogue):
            turns = tuple(Turn(utterance.speaker, utterance.text) for utterance in record.utterances)
            for at, turn in enumerate(turns[1:], 1):
                yield Context(
                    id=f"{record.id}#{at}",
                    corpus=record.corpus,
                    split=record.split,
                    dialogue=record.id,
                    turn=at,
                    turns=turns[:at],
                    speaker=turn.speaker,
                    positives=(turn.text,),
                )
