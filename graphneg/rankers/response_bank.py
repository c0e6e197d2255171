"""Build and search a bank of responses with a poly-encoder and FAISS.

A bank is a large set of responses that are encoded once. For a context, a FAISS index finds the responses
whose vectors are nearest to the context, and the ranker scores only these.

A bank is stored in a folder with ``texts.jsonl`` (the responses, one JSON string per line), ``index.faiss``
(the index with all vectors) and ``manifest.json`` (the model, the number of responses and the kind of index).
The manifest is written last, so a folder without a manifest is incomplete. During the build, vectors are
appended to ``vectors.part``, so that an interrupted build can continue.

Example:
    In a bank of the two responses "Yes, green tea." and "It rains.",
    ``bank.search([["Do you like tea?"]], k=1)`` returns one list. It holds the response with the higher
    score, for instance ``RankedResponse("Yes, green tea.", 0.9)``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from graphneg.datasets.groups import read_groups
from graphneg.english.tokens import match_key, one_line
from graphneg.errors import InputError
from graphneg.hashing import fingerprint
from graphneg.ingest.content import read_text
from graphneg.json_input import json_line
from graphneg.nn.vectors import import_faiss
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.base import Ranker, argsort_descending
from graphneg.records.runs import RunNote, atomic_file, write_atomically

if TYPE_CHECKING:
    from graphneg.rankers.poly_encoder import PolyEncoder

IndexKind = Literal["flat", "ivf", "hnsw"]
"""The kind of FAISS index: exact search, inverted lists, or a graph of neighbours."""
QueryVectors = Literal["mean", "codes"]
"""The vectors that query the index: the mean of a context's vectors, or each vector in turn."""
ContextTurns = Literal["left-out", "kept"]
"""Whether a response that equals a turn of the context is left out of the results or kept."""
RETRIEVED = 100
"""Default number of responses that the index retrieves, and that the ranker then scores."""
_MANIFEST, _TEXTS, _INDEX = "manifest.json", "texts.jsonl", "index.faiss"
_BUILDING, _VECTORS = "building.json", "vectors.part"
_FILES = (_MANIFEST, _BUILDING, _VECTORS, _INDEX, _TEXTS)
# Number of responses that are encoded between two writes of vectors to disk.
_CHUNK = 1024


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of ``manifest.json``, which describes a bank.

    Attributes:
        model: The hash of the model that encoded the responses, from `PolyEncoder.digest`.
        count: Number of responses.
        size: Number of dimensions of a response's vector.
        index: The kind of index.
    """

    model: str
    count: int
    size: int
    index: IndexKind


@dataclass(frozen=True, slots=True)
class RankedResponse:
    """A response and its score for a context.

    Attributes:
        text: The text of the response.
        score: The score that the ranker gives it, from 0 (does not fit) to 1 (fits).
    """

    text: str
    score: float


class ResponseBank:
    """A bank of responses that is loaded and can be searched.

    Attributes:
        texts: The responses, in the order of their vectors in the index.
    """

    def __init__(self, ranker: PolyEncoder, texts: Sequence[str], index: Any) -> None:
        """Initialize a bank with a loaded index; use `open` instead.

        Args:
            ranker: The ranker that encoded the responses.
            texts: The responses.
            index: The FAISS index of their vectors.
        """
        self.texts = texts
        self._ranker = ranker
        self._index = index

    def __len__(self) -> int:
        """Return the number of responses."""
        return len(self.texts)

    @classmethod
    def open(cls, folder: str | Path, ranker: PolyEncoder) -> Self:
        """Open the bank in a folder.

        Raises `ModelError` if FAISS is not installed.

        Args:
            folder: The folder.
            ranker: The ranker that the bank was built with.

        Returns:
            The bank.

        Raises:
            InputError: The folder has no complete bank, the bank is damaged, or it was built with another
                model.
        """
        faiss = import_faiss("a bank of responses")
        path = Path(folder)
        try:
            manifest = Manifest(**json.loads((path / _MANIFEST).read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            if (path / _BUILDING).is_file():
                raise InputError(f"{path}: this bank is unfinished; build it again to continue") from error
            raise InputError(
                f"{path}: not a bank of responses; build one with graphneg rank index"
            ) from error
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"{path / _MANIFEST}: not a file of a bank; build the bank again") from error
        # The vectors of a context and a response can be compared only if the same model made them.
        if manifest.model != ranker.digest():
            raise InputError(f"{path}: another model made this bank; build it again with this one")
        try:
            lines = (path / _TEXTS).read_text(encoding="utf-8").split("\n")
            texts = [str(json.loads(line)) for line in lines if line]
            index = faiss.read_index(str(path / _INDEX))
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(f"{path}: the bank can't be read; build it again") from error
        # The counts differ if, for example, someone copied the files from different builds.
        if not len(texts) == index.ntotal == manifest.count:
            raise InputError(f"{path}: {len(texts)} texts and {index.ntotal} vectors; build it again")
        return cls(ranker, texts, index)

    def search(
        self,
        contexts: Sequence[Sequence[str]],
        k: int = 10,
        *,
        by: QueryVectors = "mean",
        retrieved: int = RETRIEVED,
        context_turns: ContextTurns = "left-out",
    ) -> list[list[RankedResponse]]:
        """Find the best responses for contexts.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            k: Number of responses to return per context.
            by: How the index is queried. ``mean``: once, with the mean of a context's vectors. ``codes``:
                once with each vector of the context; the results are merged.
            retrieved: Number of responses that the index retrieves per query. The ranker scores these only.
            context_turns: ``left-out`` removes responses that equal a turn of the context, ignoring case and
                white space. ``kept`` keeps them.

        Returns:
            For each context, the responses with the highest scores, best first.

        Raises:
            InputError: ``by`` or ``context_turns`` has an unknown value.
        """
        for name, value, known in (
            ("retrieval by", by, QueryVectors),
            ("own turns", context_turns, ContextTurns),
        ):
            if value not in get_args(known):
                raise InputError(f"{name} {value!r}: choose {' or '.join(get_args(known))}")
        best: list[list[RankedResponse]] = []
        vectors = self._ranker.context_vectors(contexts) if contexts else ()
        for turns, context in zip(contexts, vectors, strict=True):
            # The vector of a turn is very similar to that of its context, so the index would return it,
            # although it does not answer the context.
            never = set(map(match_key, turns)) if context_turns == "left-out" else set[str]()
            queries = context.mean(axis=0, keepdims=True) if by == "mean" else context
            # Turns of the context are removed from the result below, so retrieve that many more. FAISS
            # fills up with the index -1 if it finds fewer responses.
            _, indices = self._index.search(queries, min(max(k, retrieved) + len(never), len(self.texts)))
            nearest = {int(index) for index in indices.flat if index >= 0}
            # Sort by index, so that responses with equal scores are returned in the order of the bank.
            near = sorted(index for index in nearest if match_key(self.texts[index]) not in never)
            scores = self._ranker.score_vectors(context, self._index.reconstruct_batch(near)) if near else []
            best.append(
                [RankedResponse(self.texts[near[at]], scores[at]) for at in argsort_descending(scores)[:k]]
            )
        return best


def build_bank(
    ranker: PolyEncoder,
    responses: Iterable[str],
    folder: str | Path,
    *,
    index: IndexKind = "flat",
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ResponseBank:
    """Build a bank of responses in a folder.

    If a build was interrupted, the same call continues it; the finished files are the same as without the
    interruption. Raises `InputError` if the folder has other content, and `ModelError` if FAISS is not
    installed.

    Args:
        ranker: The ranker that encodes the responses.
        responses: The responses. Of texts that differ only in case and white space, the first is kept.
        folder: The folder of the bank.
        index: The kind of index. ``flat`` is exact. ``ivf`` and ``hnsw`` miss a few neighbours, but are
            faster for millions of responses.
        overwrite: Replace an existing bank.
        progress: Progress display; advanced by the number of responses encoded.

    Returns:
        The bank.

    Raises:
        InputError: The kind of index is unknown, or there are no responses.
    """
    if index not in get_args(IndexKind):
        raise InputError(f"index {index!r}: choose {', '.join(get_args(IndexKind))}")
    faiss = import_faiss("a bank of responses")
    path = Path(folder)
    _check_folder(path, overwrite)
    texts = unique(responses)
    if not texts:
        raise InputError(f"{path}: a bank needs at least one response")
    manifest = Manifest(ranker.digest(), len(texts), ranker.model.size, index)
    _begin(path, manifest, texts, overwrite)
    _embed(ranker, texts, path / _VECTORS, progress or NoProgress())
    made = _index(faiss, path / _VECTORS, manifest)
    with atomic_file(path / _INDEX) as unfinished:
        faiss.write_index(made, str(unfinished))
    write_atomically(path / _MANIFEST, json.dumps(asdict(manifest), indent=2) + "\n")
    for name in (_BUILDING, _VECTORS):
        (path / name).unlink()
    return ResponseBank(ranker, texts, made)


def unique(texts: Iterable[str]) -> list[str]:
    """Remove duplicates, ignoring case and white space.

    Args:
        texts: The texts.

    Returns:
        The first of each set of equal texts, with white space reduced to single blanks. Empty texts are
        dropped.

    Example:
        >>> unique(["Oh, really?", " oh,  really?", "", "No."])
        ['Oh, really?', 'No.']
    """
    first: dict[str, str] = {}
    for text in texts:
        if key := match_key(text):
            first.setdefault(key, one_line(text))
    return list(first.values())


def read_responses(paths: Sequence[str | Path]) -> Iterator[str]:
    """Read responses from files.

    Raises `InputError` if a file cannot be read.

    Args:
        paths: Files of negatives (``.jsonl``, ``.parquet``), of which the correct responses are read, or text
            files with one response per line.

    Yields:
        The responses.
    """
    for path in map(Path, paths):
        if path.suffix in (".jsonl", ".parquet"):
            yield from (answer.text for group in read_groups([path]) for answer in group.positives)
        else:
            yield from _lines(read_text(path))


def rank_candidates(
    ranker: Ranker, candidates: Sequence[str], contexts: Iterable[Sequence[str]], k: int
) -> list[list[RankedResponse]]:
    """Rank the same candidates for each context.

    Args:
        ranker: The ranker.
        candidates: The candidate responses.
        contexts: The contexts, each a list of turns, oldest first.
        k: Number of candidates to return per context.

    Returns:
        For each context, the ``k`` candidates with the highest scores, best first.
    """
    ranked: list[list[RankedResponse]] = []
    for turns in contexts:
        scores = ranker.score([turns] * len(candidates), candidates)
        ranked.append([RankedResponse(candidates[at], scores[at]) for at in argsort_descending(scores)[:k]])
    return ranked


def read_candidates(path: Path) -> list[str]:
    """Read candidate responses from a text file with one response per line.

    Args:
        path: The file.

    Returns:
        The candidates.

    Raises:
        InputError: The file is empty.
    """
    texts = _lines(read_text(path))
    if not texts:
        raise InputError(f"{path}: the file has no candidates")
    return texts


def contexts_of(text: str, name: str) -> list[list[str]]:
    r"""Parse contexts from a text with one turn per line and empty lines between contexts.

    Args:
        text: The text.
        name: The name of the text for error messages, such as its path.

    Returns:
        The contexts, each a list of turns.

    Raises:
        InputError: The text is empty.

    Example:
        >>> contexts_of("Hi!\nDo you like tea?\n\nDo you ski?", "contexts.txt")
        [['Hi!', 'Do you like tea?'], ['Do you ski?']]
    """
    contexts = [turns for block in re.split(r"\n\s*\n", text) if (turns := _lines(block))]
    if not contexts:
        raise InputError(f"{name}: no context; write one turn per line, oldest first")
    return contexts


def _lines(text: str) -> list[str]:
    """Return the non-empty lines of a text, stripped of outer white space."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def _check_folder(folder: Path, overwrite: bool) -> None:
    """Check that a bank may be built in a folder: it is missing, empty, or has only files of a bank."""
    if folder.is_file():
        raise InputError(f"{folder}: a file has this name; name another folder")
    if not folder.is_dir():
        return
    names = {path.name.removesuffix(".tmp") for path in folder.iterdir()}
    if strange := sorted(names - set(_FILES)):
        raise InputError(f"{folder}: there are other files in it ({strange[0]}); choose another folder")
    if _MANIFEST in names and not overwrite:
        raise InputError(f"{folder}: there is a bank in it already; choose another folder, or overwrite it")


def _begin(folder: Path, manifest: Manifest, texts: Sequence[str], overwrite: bool) -> None:
    """Write the texts and start a build, or keep the files of an interrupted build of the same bank."""
    building = RunNote(folder / _BUILDING, fingerprint([asdict(manifest), texts]))
    if building.state == "same":
        return
    if building.state == "other" and not overwrite:
        raise InputError(
            f"{folder}: a build with other responses or another model was stopped here; "
            "repeat that build, choose another folder, or overwrite it"
        )
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / _TEXTS, "".join(json_line(text) + "\n" for text in texts))
    building.write()


def _embed(ranker: PolyEncoder, texts: Sequence[str], path: Path, progress: Progress) -> None:
    """Encode the texts that have no vector in the file yet, and append their vectors."""
    # The size of a vector in bytes: each of its numbers is a 4-byte float.
    row = 4 * ranker.model.size
    progress.start("embedding", len(texts), "responses")
    with path.open("ab") as file:
        # Keep complete chunks only. Batches then contain the same texts as in an uninterrupted build, and
        # the vectors, which vary slightly with the other texts in the batch, are exactly the same.
        done = min(file.tell() // row, len(texts)) // _CHUNK * _CHUNK
        file.truncate(done * row)
        progress.advance(done)
        for start in range(done, len(texts), _CHUNK):
            some = texts[start : start + _CHUNK]
            file.write(ranker.response_vectors(some).astype("<f4").tobytes())
            file.flush()
            # Force the chunk to disk, since a continued build relies on it even after a power failure.
            os.fsync(file.fileno())
            progress.advance(len(some))
    progress.finish()


def _index(faiss: Any, path: Path, manifest: Manifest) -> Any:
    """Build the index of the vectors in a file."""
    import numpy

    vectors = numpy.memmap(path, dtype="<f4", mode="r", shape=(manifest.count, manifest.size))
    # The number of cells of an "ivf" index. FAISS warns if a cell has fewer than 39 training vectors.
    cells = max(1, min(4 * int(manifest.count**0.5), manifest.count // 39))
    form = {"flat": "Flat", "ivf": f"IVF{cells},Flat", "hnsw": "HNSW32,Flat"}[manifest.index]
    made = faiss.index_factory(manifest.size, form, faiss.METRIC_INNER_PRODUCT)
    threads = faiss.omp_get_max_threads()
    # Use one thread: with several, the index would depend on their timing.
    faiss.omp_set_num_threads(1)
    try:
        if not made.is_trained:
            made.train(vectors)
        # The vectors are in a memory-mapped file. Add them in parts, because each part is copied to memory.
        for start in range(0, manifest.count, 64 * _CHUNK):
            made.add(numpy.ascontiguousarray(vectors[start : start + 64 * _CHUNK]))
    finally:
        faiss.omp_set_num_threads(threads)
    if manifest.index == "ivf":
        # `search` reconstructs vectors from their indices, which needs a direct map in an "ivf" index. Search
        # an eighth of the cells for each query.
        made.make_direct_map()
        made.nprobe = max(1, cells // 8)
    return made
