"""Collect responses that may be contradictory (Sato et al. 2024).

Models contradict themselves most when they are asked about something that they said before.
`collect_contexts` scores contexts that end in such a question and keeps the best. `collect_responses` writes
the responses of generators, language models and files to these contexts. Both write JSON lines and continue
where an earlier run stopped. The next step is `graphneg.evaluation.review.contradictory`, in which people
label the responses.

A line of contexts has the fields of `graphneg.generators.base.Context`, ``referent`` (the index of the turn
that is asked about) and ``log_fqness`` (the score). A line of responses has a context, a ``generator`` and a
``response``.

Example:
    The context "A: I sail every weekend." "B: Nice! Where do you sail?" ends in a question about A's first
    turn. A model may respond "I have never sailed.", which is contradictory.
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
from graphneg.generators.base import Candidate, Context, Generator, Turn
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
# Contexts between two checkpoints of a run.
BATCH = 16
LONGEST = 64
"""Maximum length of a language model's response in tokens."""


@dataclass(frozen=True, slots=True)
class ContextChoice:
    """The criteria for choosing contexts.

    Attributes:
        top: Number of contexts to choose.
        per_dialogue: Maximum number of contexts per dialogue.
        furthest: How many of the answerer's last turns a question may refer to.
    """

    top: int = 1000
    per_dialogue: int = 1
    furthest: int = 3

    def __post_init__(self) -> None:
        """Check that all numbers are positive.

        Raises:
            InputError: A number is less than 1.
        """
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
    """Score the follow-up questions of contexts and write the contexts with the best ones.

    The scores are kept in a file beside ``out`` until the end. An interrupted run continues if it is repeated
    with the same facts. An existing ``out``, or one that cannot be written, raises `InputError`.

    Args:
        contexts: The contexts.
        model: The language model that scores the questions.
        out: The file to write (``.jsonl``).
        choice: The criteria.
        facts: JSON values that identify the model and the contexts.
        overwrite: Replace an existing file.
        progress: Receives progress updates.

    Returns:
        The chosen contexts, best first.

    Raises:
        InputError: No context ends in a question.
    """
    choice = choice or ContextChoice()
    path = _destination(out, overwrite)
    scores = path.with_name(f"{path.stem}.scores.jsonl")
    settings = {"facts": dict(facts or {}), "furthest": choice.furthest}
    bar = progress or NoProgress()
    bar.start("follow-ups", None, "questions")
    asked = followups(contexts, choice.furthest)

    def lines(some: Sequence[FollowUp]) -> Iterable[str]:
        """Return the lines of scored follow-ups."""
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
    """Write the responses of each generator to each context.

    A generator may have fewer responses than requested. If two generators give the same response to a
    context, it is written once, for the first. An interrupted run continues if it is repeated. An existing
    ``out`` of another run raises `InputError`. A generator that does not answer for each context raises
    `GeneratorError`.

    Args:
        contexts: The contexts.
        generators: The generators.
        out: The file to write (``.jsonl``).
        per_context: Maximum number of responses per generator and context.
        seed: Seed of the generators.
        overwrite: Replace an existing file.
        progress: Receives progress updates.

    Returns:
        The number of responses.

    Raises:
        InputError: There are no generators, or two have the same name.
    """
    names = [item.name for item in generators]
    if not names or len(set(names)) < len(names):
        raise InputError(f"generators {', '.join(names) or '(none)'}: name at least one, and each only once")
    path = check_output(out, (".jsonl",))
    settings = {
        "contexts": [context_line(item) for item in contexts],
        "generators": [[item.name, dict(item.settings())] for item in generators],
        "per_context": per_context,
        "seed": seed,
    }

    def lines(some: Sequence[FollowUp]) -> Iterator[str]:
        """Yield the lines of responses to some contexts."""
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
    """Write the lines of all items, or of those that an earlier run has not finished.

    Args:
        path: The file to write.
        settings: What the lines depend on; a run with other settings is not continued.
        items: The items.
        lines: Returns the lines of some items.
        bar: Receives progress updates.
        overwrite: Replace an existing file.

    Returns:
        The numbers of items and of lines, those of the earlier run included.
    """
    with ResumableWriter(path, fingerprint(settings), overwrite=overwrite) as writer:
        done, written = writer.resumed.dialogues, writer.resumed.negatives
        bar.advance(done)
        # The items come in the same order in each run, so finished ones are skipped by number.
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
    """Write labelled responses as JSON lines, which `read_labelled` can read.

    An existing file, or one that cannot be written, raises `InputError`.

    Args:
        labelled: The labelled responses.
        out: The file to write (``.jsonl``).
        overwrite: Replace an existing file.
    """
    _write(_destination(out, overwrite), labelled_lines(labelled))


def _responses(
    some: Sequence[FollowUp], generators: Sequence[Generator], per_context: int, seed: int
) -> Iterable[Responded]:
    """Yield the responses of all generators to some contexts."""
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
                # The id is a hash of the response, so that it does not reveal the generator to annotators.
                digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
                yield Responded(f"{item.context.id}~{digest}", item, name, text)


def _destination(out: str | Path, overwrite: bool) -> Path:
    """Return the path of an output file after checking that it can be written."""
    path = check_output(out, (".jsonl",))
    check_new(path, overwrite)
    return path


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file in one step."""
    write_atomically(path, "".join(f"{line}\n" for line in lines))


class FileResponses(Generator):
    """A generator that returns responses from a file.

    The file has JSON lines with the ``id`` of a context and a ``response``. Any program can write it.

    Attributes:
        name: The name of the generator.
    """

    def __init__(self, name: str, path: str | Path) -> None:
        """Read the responses; a file that cannot be read raises `InputError`.

        Args:
            name: The name of the generator.
            path: The file of responses.
        """
        self.name = name
        self._path = Path(path)
        self._by_context: dict[str, list[str]] = {}
        for line in read_lines_as(GivenLine, self._path):
            self._by_context.setdefault(line.id, []).append(line.response)

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """Return the responses of the file to each context.

        Args:
            contexts: The contexts.
            per_context: Maximum number of responses per context.
            seed: Ignored.

        Returns:
            The responses to each context, in the order of the file.
        """
        return [
            [Candidate(text, ()) for text in self._by_context.get(item.id, ())[:per_context]]
            for item in contexts
        ]

    def settings(self) -> Mapping[str, object]:
        """Return the settings that the responses depend on: a hash of the file."""
        return {"responses": hashlib.sha256(self._path.read_bytes()).hexdigest()}


class Replies(Generator):
    """A generator that continues the dialogue with a causal language model.

    Attributes:
        name: The name of the generator.
    """

    def __init__(self, name: str, model: CausalLM) -> None:
        """Initialize the generator.

        Args:
            name: The name of the generator.
            model: The language model.
        """
        self.name = name
        self._model = model

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """Sample replies of one line to each context.

        Args:
            contexts: The contexts.
            per_context: Number of replies per context.
            seed: Seed of the samples.

        Returns:
            The replies to each context. Empty replies are left out.
        """
        from graphneg.nn.generation import Sampling
        from graphneg.nn.writers import GenerationSettings, LocalWriter, Prompt

        prompts = [Prompt(written(item.turns, item.speaker), item.id) for item in contexts]
        settings = GenerationSettings(Sampling(temperature=0.8, top_p=0.9), LONGEST)
        texts = LocalWriter(self._model).complete(
            prompts, per_context, seed=seed, stop=["\n"], settings=settings
        )
        return [[Candidate(one.text, ()) for one in each if one.text] for each in texts]

    def settings(self) -> Mapping[str, object]:
        """Return the settings that the replies depend on."""
        return {"model": str(self._model.path), "longest": LONGEST}


class TurnLine(msgspec.Struct):
    """A turn of a context in a JSON line.

    Attributes:
        speaker: The speaker.
        text: The text.
    """

    speaker: Text
    text: Text


class ContextLine(msgspec.Struct):
    """A scored context in a JSON line.

    Attributes:
        id: The id of the context.
        corpus: The corpus.
        split: The split.
        dialogue: The id of the dialogue.
        speaker: The speaker of the response.
        turn: The position of the response in the dialogue.
        turns: The turns of the context.
        positives: The right responses.
        referent: The index of the turn that the question may refer to.
        log_fqness: The natural logarithm of the FQness.
    """

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
        """Check that the referent is a turn before the question.

        Raises:
            ValueError: The referent is the question or no turn.
        """
        if not 0 <= self.referent < len(self.turns) - 1:
            # msgspec reports a ValueError with the path of the field.
            raise ValueError(f'"referent" {self.referent} is not one of the turns before the question')

    @property
    def followup(self) -> FollowUp:
        """The context as a `FollowUp`."""
        turns = tuple(Turn(turn.speaker, turn.text) for turn in self.turns)
        place = (self.id, self.corpus, self.split, self.dialogue, self.turn)
        context = Context(*place, turns, self.speaker, tuple(self.positives))
        return FollowUp(context, self.referent, self.log_fqness)


class ResponseLine(msgspec.Struct):
    """A response to a context in a JSON line.

    Attributes:
        id: The id of the response.
        generator: The name of the generator.
        response: The text.
        context: The context.
    """

    id: Text
    generator: Text
    response: Text
    context: ContextLine


class GivenLine(msgspec.Struct):
    """A response of another program in a JSON line.

    Attributes:
        id: The id of the context.
        response: The text.
    """

    id: str
    response: Text


@dataclass(frozen=True, slots=True)
class Responded:
    """A response of a generator to a context.

    Attributes:
        id: The id of the context and a hash of the response, which do not reveal the generator.
        followup: The context with its question.
        generator: The name of the generator.
        response: The text.
    """

    id: str
    followup: FollowUp
    generator: str
    response: str


def context_line(item: FollowUp) -> str:
    """Return a scored context as a JSON line.

    Args:
        item: The context.

    Returns:
        One line of JSON.
    """
    return json_line(_context_fields(item))


def _context_fields(item: FollowUp) -> dict[str, object]:
    """Return the fields of a `ContextLine`, in its order."""
    values = asdict(item) | asdict(item.context) | {"turns": [turn._asdict() for turn in item.context.turns]}
    return {name: values[name] for name in ContextLine.__struct_fields__}


def read_contexts_file(path: str | Path) -> list[FollowUp]:
    """Read contexts that `collect_contexts` wrote.

    A file that cannot be read, or an invalid line, raises `InputError`.

    Args:
        path: The file of contexts.

    Returns:
        The contexts in the order of the file.
    """
    return [line.followup for line in read_lines_as(ContextLine, path)]


def read_responses_file(path: str | Path) -> list[Responded]:
    """Read responses that `collect_responses` wrote.

    A file that cannot be read, or an invalid line, raises `InputError`.

    Args:
        path: The file of responses.

    Returns:
        The responses in the order of the file.

    Raises:
        InputError: Two responses have the same id.
    """
    responses: dict[str, Responded] = {}
    for number, line in enumerate(read_lines_as(ResponseLine, path), 1):
        if line.id in responses:
            raise InputError(f"{path}: the id {line.id!r} occurs twice (again in entry {number})")
        responses[line.id] = Responded(line.id, line.context.followup, line.generator, line.response)
    return list(responses.values())


def read_lines_as(kind: type[Line], path: str | Path) -> list[Line]:
    """Read a JSON Lines file and check the type of each line.

    A file that cannot be read raises `InputError`.

    Args:
        kind: The type of the lines, a ``msgspec.Struct``.
        path: The file.

    Returns:
        The lines.

    Raises:
        InputError: A line has another type, or the file is empty.
    """
    lines: list[Line] = []
    for item in accepted(json_lines(Path(path), NoProgress())):
        try:
            lines.append(msgspec.convert(item.value, kind))
        except msgspec.ValidationError as error:
            raise InputError(f"{item.place}: {error}") from error
    if not lines:
        raise InputError(f"{path}: the file is empty")
    return lines


def read_dialogues_file(path: str | Path) -> Iterator[Context]:
    """Read dialogues and yield the context of each turn but the first.

    The loader ``dialogues`` reads the file. An invalid file or dialogue raises `InputError` with its place.

    Args:
        path: The file of dialogues.

    Yields:
        The contexts.
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
