"""Collect responses in which dialogue models may contradict earlier turns (Sato et al. 2024).

Models contradict themselves most often when they are asked about something that they said before.
`collect_contexts` finds contexts that end in such a question, and chooses those with the highest scores.
`collect_responses` collects responses to these contexts from generators, from language models and from files.
Both functions write JSON Lines files, and can resume an interrupted run. The next step is that people label
the responses, which `graphneg.evaluation.review.contradiction_labels` supports.

Each line of a file of contexts contains the fields of `graphneg.generators.base.Context`, and the fields
``referent`` (the index of the turn that the question is about) and ``log_fqness`` (the score of the
question). Each line of a file of responses contains the fields ``id``, ``context``, ``generator`` and
``response``.

Example:
    The context "A: I sail every weekend." "B: Nice! Where do you sail?" ends in a question about A's first
    turn. A model may respond "I have never sailed.", which is contradictory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec

from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import Candidate, Context, Generator
from graphneg.hashing import fingerprint, with_model_digests
from graphneg.ingest.labelled import JudgedResponse, labelled_lines
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.reading import accepted, json_lines
from graphneg.json_input import json_line
from graphneg.model import Dialogue, Turn
from graphneg.progress import NoProgress, Progress
from graphneg.records.resumable import ResumableWriter
from graphneg.records.runs import check_new, check_output, remove_finished, write_atomically
from graphneg.scorers.followups import FollowUp, best, followups, fqness, written

if TYPE_CHECKING:
    from graphneg.nn.language_models import CausalLM, LanguageModel

Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
Line = TypeVar("Line")
Item = TypeVar("Item")
# Number of contexts to process before the progress of a run is saved.
BATCH = 16
LONGEST = 64
"""Maximum length of a language model's response in tokens."""


@dataclass(frozen=True, slots=True)
class ContextChoice:
    """The criteria for choosing contexts.

    Attributes:
        top: Maximum number of contexts to choose.
        per_dialogue: Maximum number of contexts per dialogue.
        max_turns_back: Maximum number of turns that the question at the end of a context may refer to. They
            are the last turns of the speaker who is asked.
    """

    top: int = 1000
    per_dialogue: int = 1
    max_turns_back: int = 3

    def __post_init__(self) -> None:
        """Check that ``top``, ``per_dialogue`` and ``max_turns_back`` are positive.

        Raises:
            InputError: One of the three numbers is less than 1.
        """
        if min(self.top, self.per_dialogue, self.max_turns_back) < 1:
            raise InputError("top, per_dialogue and max_turns_back must each be at least 1")


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
    """Score the follow-up questions at the ends of contexts, and save the contexts with the highest scores.

    Until all questions are scored, the scores are stored in a temporary file next to ``out``. If a run was
    interrupted, a call with the same ``facts`` resumes it. Raises `InputError` if ``out`` exists or cannot be
    written.

    Args:
        contexts: The contexts to choose from. Contexts that end in no question are skipped.
        model: The language model that scores the questions.
        out: The output file (``.jsonl``).
        choice: The criteria for choosing contexts; None for the defaults.
        facts: JSON values that identify the model and the contexts. An interrupted run is resumed only if
            they are the same.
        overwrite: Whether to replace an existing file.
        progress: Progress display; advanced by the number of questions scored.

    Returns:
        The chosen contexts, highest score first.

    Raises:
        InputError: No context ends in a question.
    """
    choice = choice or ContextChoice()
    path = _destination(out, overwrite)
    scores = path.with_name(f"{path.stem}.scores.jsonl")
    settings = {"facts": dict(facts or {}), "max_turns_back": choice.max_turns_back}
    bar = progress or NoProgress()
    bar.start("follow-ups", None, "questions")
    asked = followups(contexts, choice.max_turns_back)

    def lines(some: Sequence[FollowUp]) -> Iterable[str]:
        """Score how much questions refer to earlier turns (FQness). Return a JSON line for each question."""
        return map(context_line, fqness(model, some))

    done, _ = _write_in_batches(scores, settings, asked, lines, bar, overwrite=True)
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
    """Collect responses to each context from each generator, and write them to a file.

    A generator may return fewer responses than requested. If several generators return the same response to a
    context, it is written only once, with the name of the first of these generators. If a run was
    interrupted, the same call resumes it. Raises `InputError` if ``out`` exists and belongs to another run,
    and `GeneratorError` if a generator does not return one list of responses per context.

    Args:
        contexts: The contexts, each ending in a question.
        generators: The generators that respond to the contexts, with distinct names.
        out: The output file (``.jsonl``).
        per_context: Maximum number of responses per generator and context.
        seed: Seed for the random choices of the generators.
        overwrite: Whether to replace an existing file.
        progress: Progress display; advanced by the number of contexts processed.

    Returns:
        The number of responses in the file.

    Raises:
        InputError: There are no generators, or two have the same name.
    """
    names = [item.name for item in generators]
    if not names or len(set(names)) < len(names):
        raise InputError(
            f"generators {', '.join(names) or '(none)'}: give at least one generator, and each only once"
        )
    path = check_output(out, (".jsonl",))
    settings = {
        "contexts": [context_line(item) for item in contexts],
        "generators": [[item.name, dict(item.settings())] for item in generators],
        "per_context": per_context,
        "seed": seed,
    }

    def lines(some: Sequence[FollowUp]) -> Iterator[str]:
        """Collect responses to contexts, and yield a JSON line for each response."""
        for item in _responses(some, generators, per_context, seed):
            names = {"id": item.id, "generator": item.generator, "response": item.response}
            yield json_line({**names, "context": _context_fields(item.followup)})

    bar = progress or NoProgress()
    bar.start("responses", len(contexts), "contexts")
    _, written = _write_in_batches(path, settings, contexts, lines, bar, overwrite)
    bar.finish()
    return written


def _write_in_batches(
    path: Path,
    settings: Mapping[str, object],
    items: Iterable[Item],
    lines: Callable[[Sequence[Item]], Iterable[str]],
    bar: Progress,
    overwrite: bool,
) -> tuple[int, int]:
    """Convert items into lines in batches, and write the lines to a file.

    Items that were already converted by an interrupted run are skipped.

    Args:
        path: The output file.
        settings: Everything that determines the lines. An interrupted run is resumed only if its settings are
            the same.
        items: The items, such as follow-up questions, in the same order in each run.
        lines: A function that converts a batch of items into lines.
        bar: Progress display; advanced by the number of items converted.
        overwrite: Whether to replace an existing file.

    Returns:
        The number of items and the number of lines, including those that an interrupted run has already
        processed.
    """
    with ResumableWriter(path, fingerprint(with_model_digests(settings)), overwrite=overwrite) as writer:
        done, written = writer.resumed.dialogues, writer.resumed.negatives
        bar.advance(done)
        # Skip the items that an interrupted run has finished. These are the first items, because `items` has
        # the same order in each run.
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


def write_responses(labelled: Iterable[JudgedResponse], out: str | Path, *, overwrite: bool = False) -> None:
    """Write labelled responses to a JSON Lines file.

    `graphneg.ingest.labelled.read_labelled` can read the file. Raises `InputError` if the file exists or
    cannot be written.

    Args:
        labelled: The responses with their labels.
        out: The output file (``.jsonl``).
        overwrite: Whether to replace an existing file.
    """
    _write(_destination(out, overwrite), labelled_lines(labelled))


def _responses(
    some: Sequence[FollowUp], generators: Sequence[Generator], per_context: int, seed: int
) -> Iterable[CollectedResponse]:
    """Yield the responses of all generators to some contexts, without duplicates."""
    contexts = [item.context for item in some]
    given: list[list[tuple[str, str]]] = [[] for _ in some]
    for generator in generators:
        answers = generator.generate(contexts, per_context, seed)
        if len(answers) != len(contexts):
            raise GeneratorError(
                f"generator {generator.name} answered {len(answers)} of {len(contexts)} contexts; it must "
                "give one response for each"
            )
        for index, candidates in enumerate(answers):
            given[index] += [(generator.name, item.text) for item in candidates[:per_context]]
    for item, pairs in zip(some, given, strict=True):
        texts: set[str] = set()
        for name, text in pairs:
            text = text.strip()
            if text and text not in texts:
                texts.add(text)
                # People who label the responses see the id, and it must not reveal the generator. It
                # therefore contains a digest of the text.
                digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
                yield CollectedResponse(f"{item.context.id}~{digest}", item, name, text)


def _destination(out: str | Path, overwrite: bool) -> Path:
    """Return the path of an output file. Raise an error if it is not ``.jsonl`` or may not be replaced."""
    path = check_output(out, (".jsonl",))
    check_new(path, overwrite)
    return path


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file. An existing file is replaced only when all lines are written."""
    write_atomically(path, "".join(f"{line}\n" for line in lines))


class FileResponses(Generator):
    """A generator that reads its responses from a file, which another program may have written.

    Each line of the file is a JSON object with the ``id`` of a context and a ``response`` to it.

    Attributes:
        name: The name of the generator.
    """

    def __init__(self, name: str, path: str | Path) -> None:
        """Read the responses in a file. Raises `InputError` if the file cannot be read.

        Args:
            name: A name for the generator, which is stored with its responses.
            path: The file of responses.
        """
        self.name = name
        self._path = Path(path)
        self._by_context: dict[str, list[str]] = {}
        for line in read_lines_as(FileResponseLine, self._path):
            self._by_context.setdefault(line.id, []).append(line.response)

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """Return the responses to each context that the file contains.

        Args:
            contexts: The contexts, which are looked up by their ids.
            per_context: Maximum number of responses per context.
            seed: Ignored, because nothing is random.

        Returns:
            For each context, the responses in the order of the file.
        """
        return [
            [Candidate(text, ()) for text in self._by_context.get(item.id, ())[:per_context]]
            for item in contexts
        ]

    def settings(self) -> Mapping[str, object]:
        """Return a digest of the file of responses, because only the file determines the output."""
        return {"responses": hashlib.sha256(self._path.read_bytes()).hexdigest()}


class LanguageModelReplies(Generator):
    """A generator that lets a causal language model continue a dialogue.

    Attributes:
        name: The name of the generator.
    """

    def __init__(self, name: str, model: CausalLM) -> None:
        """Initialize the generator.

        Args:
            name: A name for the generator, which is stored with its responses.
            model: The language model that writes the replies.
        """
        self.name = name
        self._model = model

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """Sample replies to each context. A reply ends at the first line break.

        Args:
            contexts: The contexts, which the model continues.
            per_context: Number of replies to sample per context.
            seed: Seed for sampling.

        Returns:
            For each context, the replies that are not empty.
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
        """Return the settings that determine the replies: the model and the maximum length of a reply."""
        return {"model": str(self._model.path), "longest": LONGEST}


class ContextLine(msgspec.Struct):
    """A line of a JSON Lines file of contexts: a context with a scored question.

    Attributes:
        id: The id of the context.
        corpus: The name of the corpus.
        split: The name of the split.
        dialogue: The id of the dialogue.
        speaker: The name of the speaker of the response.
        turn: The index of the response in the dialogue.
        turns: The turns of the context. The last turn contains the question.
        positives: The correct responses to the context.
        referent: The index of the turn that the question may refer to.
        log_fqness: The natural logarithm of the question's FQness, which is above 0 if the question probably
            refers to the referent.
    """

    id: Text
    corpus: Text
    split: Text
    dialogue: Text
    speaker: Text
    turn: int
    turns: tuple[Turn, ...]
    positives: tuple[str, ...]
    referent: int
    log_fqness: float

    def __post_init__(self) -> None:
        """Check that each turn has a speaker and a text, and that the question is about an earlier turn.

        Raises:
            ValueError: A turn has no speaker or no text, the referent is the index of the question, or it is
                out of range.
        """
        for at, turn in enumerate(self.turns):
            if not (turn.speaker.strip() and turn.text.strip()):
                raise ValueError(f'turn {at} of "turns" has no speaker or no text')
        if not 0 <= self.referent < len(self.turns) - 1:
            # Raise a ValueError, because msgspec converts it into a ValidationError whose message names the
            # field.
            raise ValueError(f'"referent" {self.referent} is not one of the turns before the question')

    @property
    def followup(self) -> FollowUp:
        """The context, the referent and the score of the question, as a `FollowUp`."""
        place = (self.id, self.corpus, self.split, self.dialogue, self.turn)
        context = Context(*place, self.turns, self.speaker, self.positives)
        return FollowUp(context, self.referent, self.log_fqness)


class ResponseLine(msgspec.Struct):
    """A line of a JSON Lines file of responses: a response to a context.

    Attributes:
        id: The id of the response.
        generator: The name of the generator that made the response.
        response: The text of the response.
        context: The context that the response answers.
    """

    id: Text
    generator: Text
    response: Text
    context: ContextLine


class FileResponseLine(msgspec.Struct):
    """A line of a file that `FileResponses` reads.

    Attributes:
        id: The id of the context.
        response: The text of the response.
    """

    id: str
    response: Text


@dataclass(frozen=True, slots=True)
class CollectedResponse:
    """A response of a generator to a context.

    Attributes:
        id: The id of the response. It consists of the id of the context, ``~`` and a digest of the text, so
            that it does not reveal the generator.
        followup: The context with its question.
        generator: The name of the generator.
        response: The text of the response.
    """

    id: str
    followup: FollowUp
    generator: str
    response: str


def context_line(item: FollowUp) -> str:
    """Convert a context with a scored question into a JSON line.

    Args:
        item: The context with its question.

    Returns:
        One line of JSON.
    """
    return json_line(_context_fields(item))


def _context_fields(item: FollowUp) -> dict[str, object]:
    """Return the values of a follow-up question and its context, keyed by the fields of `ContextLine`."""
    values = {**msgspec.to_builtins(item), **msgspec.to_builtins(item.context)}
    return {name: values[name] for name in ContextLine.__struct_fields__}


def read_contexts_file(path: str | Path) -> list[FollowUp]:
    """Read contexts from a file that `collect_contexts` wrote.

    Raises `InputError` if the file cannot be read or a line is invalid.

    Args:
        path: The file of contexts.

    Returns:
        The contexts in the order of the file.
    """
    return [line.followup for line in read_lines_as(ContextLine, path)]


def read_responses_file(path: str | Path) -> list[CollectedResponse]:
    """Read responses from a file that `collect_responses` wrote.

    Args:
        path: The file of responses.

    Returns:
        The responses in the order of the file.

    Raises:
        InputError: The file cannot be read, a line is invalid, or two responses have the same id.
    """
    responses: dict[str, CollectedResponse] = {}
    for number, line in enumerate(read_lines_as(ResponseLine, path), 1):
        if line.id in responses:
            raise InputError(f"{path}: the id {line.id!r} occurs twice (again in entry {number})")
        responses[line.id] = CollectedResponse(line.id, line.context.followup, line.generator, line.response)
    return list(responses.values())


def read_lines_as(kind: type[Line], path: str | Path) -> list[Line]:
    """Read a JSON Lines file, and convert each line into an object of a given type.

    Raises `InputError` if the file cannot be read.

    Args:
        kind: The type of the objects, a subclass of ``msgspec.Struct``.
        path: The JSON Lines file.

    Returns:
        One object per line.

    Raises:
        InputError: A line does not have the fields of the type, or the file is empty.
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
    """Read dialogues, and yield a context for each turn that has a turn before it.

    The file has the format of the loader ``dialogues``. Raises `InputError` if the file or a dialogue in it
    is invalid.

    Args:
        path: The file of dialogues.

    Yields:
        The contexts. The correct response to a context is the turn that follows it.
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
