"""Build and search a bank of responses with a poly-encoder and FAISS.

A bank is a large collection of responses that are encoded once. For a context, a FAISS index finds the
responses whose vectors are most similar to those of the context, and the ranker scores only these responses.

A bank is a folder with three files: ``texts.jsonl`` (the responses, one JSON string per line),
``index.faiss`` (the index with all vectors) and ``manifest.json`` (the model, the number of responses and the
kind of index). The manifest is written last, so a folder without a manifest contains an incomplete bank.
While a bank is built, vectors are appended to the file ``vectors.part``, so that the build can be resumed if
it is interrupted.

Example:
    In a bank of the two responses "Yes, green tea." and "It rains.",
    ``bank.search([["Do you like tea?"]], k=1)`` returns a list with one list. It contains the response with
    the higher score, for example ``RankedResponse("Yes, green tea.", 0.9)``.
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
from graphneg.json_input import json_line, parse_typed
from graphneg.nn.vectors import import_faiss
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.base import Ranker, argsort_descending
from graphneg.records.locks import refuse_links
from graphneg.records.runs import RunNote, atomic_file, write_atomically

if TYPE_CHECKING:
    from graphneg.rankers.poly_encoder import PolyEncoder

IndexKind = Literal["flat", "ivf", "hnsw"]
"""Kinds of FAISS indexes: ``flat`` (exact search), ``ivf`` (inverted lists) or ``hnsw`` (a graph of
neighbours)."""
QueryVectors = Literal["mean", "codes"]
"""Type of ``by``: whether to query the index with the mean of a context's vectors or with each of the
vectors."""
ContextTurns = Literal["left-out", "kept"]
"""Type of ``context_turns``: whether to leave out responses that are equal to a turn of the context."""
RETRIEVED = 100
"""Default number of responses that the FAISS index returns for a query, and that the ranker then scores."""
_MANIFEST, _TEXTS, _INDEX = "manifest.json", "texts.jsonl", "index.faiss"
_BUILDING, _VECTORS = "building.json", "vectors.part"
_FILES = (_MANIFEST, _BUILDING, _VECTORS, _INDEX, _TEXTS)
# Number of responses to encode before their vectors are written to disk.
_CHUNK = 1024


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of ``manifest.json``, which describes a bank.

    Attributes:
        model: The digest of the model that encoded the responses (`PolyEncoder.digest`).
        count: Number of responses in the bank.
        size: Number of dimensions of a response's vector.
        index: The kind of FAISS index: ``flat``, ``ivf`` or ``hnsw``.
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
        score: The score by the ranker, from 0 (does not fit) to 1 (fits).
    """

    text: str
    score: float


class ResponseBank:
    """A bank of responses that is loaded into memory and can be searched.

    Attributes:
        texts: The responses, in the order of their vectors in the index.
    """

    def __init__(self, ranker: PolyEncoder, texts: Sequence[str], index: Any) -> None:
        """Initialize a bank with data that are in memory. To load a bank from a folder, use `open`.

        Args:
            ranker: The ranker that encoded the responses.
            texts: The texts of the responses.
            index: The FAISS index of the responses' vectors.
        """
        self.texts = texts
        self._ranker = ranker
        self._index = index

    def __len__(self) -> int:
        """Return the number of responses in the bank."""
        return len(self.texts)

    @classmethod
    def open(cls, folder: str | Path, ranker: PolyEncoder) -> Self:
        """Open the bank in a folder.

        Raises `ModelError` if FAISS is not installed.

        Args:
            folder: The folder of the bank.
            ranker: The ranker with which the bank was built.

        Returns:
            The bank.

        Raises:
            InputError: The folder contains no complete bank, the bank is damaged, or it was built with
                another model.
        """
        faiss = import_faiss("a bank of responses")
        path = Path(folder)
        try:
            manifest = parse_typed((path / _MANIFEST).read_bytes(), Manifest, str(path / _MANIFEST))
        except FileNotFoundError as error:
            if (path / _BUILDING).is_file():
                raise InputError(
                    f"{path}: this bank is unfinished; run graphneg rank index again to complete the bank"
                ) from error
            raise InputError(
                f"{path}: not a bank of responses; build one with graphneg rank index"
            ) from error
        except (OSError, InputError) as error:
            raise InputError(
                f"{path / _MANIFEST}: not a valid manifest of a bank; rebuild the bank"
            ) from error
        # Refuse a bank that another model built: vectors of contexts and responses can be compared only if
        # the same model computed them.
        if manifest.model != ranker.digest():
            raise InputError(
                f"{path}: this bank was built with another model; rebuild the bank with this model"
            )
        try:
            lines = (path / _TEXTS).read_text(encoding="utf-8").split("\n")
            texts = [str(json.loads(line)) for line in lines if line]
            index = faiss.read_index(str(path / _INDEX))
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(f"{path}: the bank can't be read; rebuild the bank") from error
        # The numbers of texts and vectors can differ if, for example, files of different builds were copied
        # into the folder.
        if not len(texts) == index.ntotal == manifest.count:
            raise InputError(
                f"{path}: expected {manifest.count} responses but found {len(texts)} texts and "
                f"{index.ntotal} vectors; rebuild the bank"
            )
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
        """Find the responses in the bank that fit contexts best.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            k: Number of responses to return per context.
            by: How to query the index. ``mean`` queries it once, with the mean of the context's vectors.
                ``codes`` queries it with each vector of the context, and merges the results.
            retrieved: Number of responses that the index finds per query. The ranker scores only these.
            context_turns: ``left-out`` to leave out responses that are equal to a turn of the context, apart
                from case and white space; ``kept`` to keep them.

        Returns:
            For each context, the ``k`` responses with the highest scores, highest first.

        Raises:
            InputError: ``by`` or ``context_turns`` has an unknown value.
        """
        for name, value, known in (
            ("by", by, QueryVectors),
            ("context_turns", context_turns, ContextTurns),
        ):
            if value not in get_args(known):
                raise InputError(
                    f"unknown value {value!r} of {name}; choose one of {', '.join(get_args(known))}"
                )
        best: list[list[RankedResponse]] = []
        vectors = self._ranker.context_vectors(contexts) if contexts else ()
        for turns, context in zip(contexts, vectors, strict=True):
            # A turn of the context has nearly the same vector as the context. If the bank contains the text
            # of the turn, the index finds it, although a repeated turn is not a good response.
            never = set(map(match_key, turns)) if context_turns == "left-out" else set[str]()
            queries = context.mean(axis=0, keepdims=True) if by == "mean" else context
            # Responses that repeat a turn of the context are dropped below. So let FAISS find one more
            # response for each turn. If it finds too few, it fills up the result with the index -1.
            _, indices = self._index.search(queries, min(max(k, retrieved) + len(never), len(self.texts)))
            nearest = {int(index) for index in indices.flat if index >= 0}
            # The indices are sorted, so that responses with equal scores are in the order of the bank.
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

    If a build was interrupted, the same call resumes it, and the files are then the same as without the
    interruption. Raises `InputError` if the folder has different content, and `ModelError` if FAISS is not
    installed.

    Args:
        ranker: The ranker that encodes the responses.
        responses: The responses. If texts differ only in case and white space, only the first of them is
            used.
        folder: The folder of the bank.
        index: The kind of FAISS index. ``flat`` is exact. ``ivf`` and ``hnsw`` may miss some of the most
            similar responses, but are faster if there are millions of responses.
        overwrite: Whether to replace an existing bank.
        progress: Progress display; advanced by the number of responses encoded.

    Returns:
        The bank.

    Raises:
        InputError: The kind of index is unknown, or there are no responses.
    """
    if index not in get_args(IndexKind):
        raise InputError(f"unknown index {index!r}; choose one of {', '.join(get_args(IndexKind))}")
    faiss = import_faiss("a bank of responses")
    path = Path(folder)
    _check_folder(path, overwrite)
    texts = unique(responses)
    if not texts:
        raise InputError(f"{path}: a bank needs at least one response")
    manifest = Manifest(ranker.digest(), len(texts), ranker.model.size, index)
    _begin(path, manifest, texts, overwrite)
    _embed(ranker, texts, path / _VECTORS, progress or NoProgress())
    made = _build_index(faiss, path / _VECTORS, manifest)
    with atomic_file(path / _INDEX) as unfinished:
        faiss.write_index(made, str(unfinished))
    write_atomically(path / _MANIFEST, json.dumps(asdict(manifest), indent=2) + "\n")
    for name in (_BUILDING, _VECTORS):
        (path / name).unlink()
    return ResponseBank(ranker, texts, made)


def unique(texts: Iterable[str]) -> list[str]:
    """Remove duplicate texts. Texts that differ only in case and white space are duplicates.

    Args:
        texts: Texts, which may contain duplicates.

    Returns:
        The first text of each group of duplicates, with white space reduced to single spaces. Empty texts are
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
        paths: Files of negatives (``.jsonl``, ``.parquet``), from which the correct responses are read, or
            text files with one response per line.

    Yields:
        The text of one response.
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
        ranker: The ranker that scores the candidates.
        candidates: The candidate responses.
        contexts: The contexts, each a list of turns, oldest first.
        k: Number of candidates to return per context.

    Returns:
        For each context, the ``k`` candidates with the highest scores, highest first.
    """
    ranked: list[list[RankedResponse]] = []
    for turns in contexts:
        scores = ranker.score([turns] * len(candidates), candidates)
        ranked.append([RankedResponse(candidates[at], scores[at]) for at in argsort_descending(scores)[:k]])
    return ranked


def read_candidates(path: Path) -> list[str]:
    """Read candidate responses from a text file with one response per line.

    Args:
        path: The text file.

    Returns:
        The candidate responses, in the order of the file.

    Raises:
        InputError: The file is empty.
    """
    texts = _lines(read_text(path))
    if not texts:
        raise InputError(f"{path}: the file contains no candidates")
    return texts


def contexts_of(text: str, name: str) -> list[list[str]]:
    r"""Parse contexts from a text with one turn per line and an empty line between contexts.

    Args:
        text: The text to parse.
        name: The name of the text, for error messages, such as the path of its file.

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
        raise InputError(f"{name}: there is no context; write one turn per line, oldest first")
    return contexts


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _check_folder(folder: Path, overwrite: bool) -> None:
    """Raise an error if a folder contains files that do not belong to a bank."""
    if folder.is_file():
        raise InputError(f"{folder}: not a folder; name another folder")
    if not folder.is_dir():
        return
    refuse_links(folder / name for name in _FILES)
    names = {path.name.removesuffix(".tmp") for path in folder.iterdir()}
    if strange := sorted(names - set(_FILES)):
        raise InputError(f"{folder}: the folder contains other files ({strange[0]}); choose another folder")
    if _MANIFEST in names and not overwrite:
        raise InputError(
            f"{folder}: the folder already contains a bank; choose another folder, or overwrite it"
        )


def _begin(folder: Path, manifest: Manifest, texts: Sequence[str], overwrite: bool) -> None:
    """Prepare the folder of a bank. Keep the files of an interrupted build of the same bank."""
    building = RunNote(folder / _BUILDING, fingerprint([asdict(manifest), texts]))
    if building.state == "same":
        return
    if building.state == "other" and not overwrite:
        raise InputError(
            f"{folder}: the folder contains an unfinished build with other responses or another model; "
            "repeat that build, choose another folder, or overwrite it"
        )
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / _TEXTS, "".join(json_line(text) + "\n" for text in texts))
    building.write()


def _embed(ranker: PolyEncoder, texts: Sequence[str], path: Path, progress: Progress) -> None:
    """Encode the texts whose vectors are not in the file ``path`` yet, and append the vectors to the file."""
    # Size of a vector in bytes. Each number in a vector is a float of 4 bytes.
    row = 4 * ranker.model.size
    progress.start("embedding", len(texts), "responses")
    with path.open("ab") as file:
        # The vector of a text depends slightly on the other texts in its batch. Only the vectors of complete
        # chunks are kept, so that a resumed build forms the same batches and computes the same vectors as a
        # build without an interruption.
        done = min(file.tell() // row, len(texts)) // _CHUNK * _CHUNK
        file.truncate(done * row)
        progress.advance(done)
        for start in range(done, len(texts), _CHUNK):
            some = texts[start : start + _CHUNK]
            file.write(ranker.response_vectors(some).astype("<f4").tobytes())
            file.flush()
            # A resumed build keeps all complete chunks that it finds in the file. fsync ensures that their
            # vectors are really on disk, even after a power failure.
            os.fsync(file.fileno())
            progress.advance(len(some))
    progress.finish()


def _build_index(faiss: Any, path: Path, manifest: Manifest) -> Any:
    """Build a FAISS index of the vectors in a file."""
    import numpy

    vectors = numpy.memmap(path, dtype="<f4", mode="r", shape=(manifest.count, manifest.size))
    # An index of the kind "ivf" divides the vectors into cells. FAISS warns if a cell has fewer than 39
    # vectors on average.
    cells = max(1, min(4 * int(manifest.count**0.5), manifest.count // 39))
    form = {"flat": "Flat", "ivf": f"IVF{cells},Flat", "hnsw": "HNSW32,Flat"}[manifest.index]
    made = faiss.index_factory(manifest.size, form, faiss.METRIC_INNER_PRODUCT)
    threads = faiss.omp_get_max_threads()
    # Use a single thread, because the index would otherwise depend on the timing of the threads.
    faiss.omp_set_num_threads(1)
    try:
        if not made.is_trained:
            made.train(vectors)
        # The memory-mapped vectors may not fit into memory. Adding copies them to memory, so add them in
        # parts.
        for start in range(0, manifest.count, 64 * _CHUNK):
            made.add(numpy.ascontiguousarray(vectors[start : start + 64 * _CHUNK]))
    finally:
        faiss.omp_set_num_threads(threads)
    if manifest.index == "ivf":
        # `search` reads vectors by their indices. A FAISS index of the kind "ivf" needs a direct map for
        # this. `nprobe` limits each query to an eighth of the cells, which makes it faster.
        made.make_direct_map()
        made.nprobe = max(1, cells // 8)
    return made
