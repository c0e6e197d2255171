"""A bank of responses: texts in, read once by a poly-encoder; the best of them for a context out, by FAISS.

A bank is a folder: ``texts.jsonl`` (a text a line, as JSON), ``index.faiss`` (their vectors, whole) and
``manifest.json`` (what made it), which is written last. While it is built the vectors grow in
``vectors.part``, so that a build that was stopped goes on.
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
from graphneg.rankers.base import Ranker, by_score
from graphneg.records.runs import RunNote, atomic_file, write_atomically

if TYPE_CHECKING:
    from graphneg.rankers.poly_encoder import PolyEncoder

IndexKind = Literal["flat", "ivf", "hnsw"]
Retrieval = Literal["mean", "codes"]
OwnTurns = Literal["left-out", "kept"]
RETRIEVED = 100
_MANIFEST, _TEXTS, _INDEX = "manifest.json", "texts.jsonl", "index.faiss"
_BUILDING, _VECTORS = "building.json", "vectors.part"
_FILES = (_MANIFEST, _BUILDING, _VECTORS, _INDEX, _TEXTS)
_CHUNK = 1024


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bank is made of: the digest of the model, how many responses, their vectors' size, the index."""

    model: str
    count: int
    size: int
    index: IndexKind


@dataclass(frozen=True, slots=True)
class RankedResponse:
    """A response of a bank, and its score by the whole ranker, from 0 to 1."""

    text: str
    score: float


class ResponseBank:
    """A bank that is open for one ranker."""

    def __init__(self, ranker: PolyEncoder, texts: Sequence[str], index: Any) -> None:
        self.texts = texts
        self._ranker = ranker
        self._index = index

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def open(cls, folder: str | Path, ranker: PolyEncoder) -> Self:
        """The bank in a folder.

        Raises:
            InputError: there is none, it is not finished, it can't be read, or another model made it.
            ModelError: FAISS is not installed.
        """
        faiss = import_faiss("a bank of responses")
        path = Path(folder)
        try:
            manifest = Manifest(**json.loads((path / _MANIFEST).read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            if (path / _BUILDING).is_file():
                raise InputError(f"{path}: this bank is not finished; build it again, it goes on") from error
            raise InputError(f"{path}: no bank of responses; graphneg bank makes one") from error
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"{path / _MANIFEST}: not what a bank holds; build it anew") from error
        if manifest.model != ranker.digest():
            raise InputError(f"{path}: another model made this bank; build it anew with this one")
        try:
            lines = (path / _TEXTS).read_text(encoding="utf-8").split("\n")
            texts = [str(json.loads(line)) for line in lines if line]
            index = faiss.read_index(str(path / _INDEX))
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(f"{path}: the bank can't be read; build it anew") from error
        if not len(texts) == index.ntotal == manifest.count:
            raise InputError(f"{path}: {len(texts)} texts and {index.ntotal} vectors; build it anew")
        return cls(ranker, texts, index)

    def search(
        self,
        contexts: Sequence[Sequence[str]],
        k: int = 10,
        *,
        by: Retrieval = "mean",
        retrieved: int = RETRIEVED,
        own_turns: OwnTurns = "left-out",
    ) -> list[list[RankedResponse]]:
        """For each context (its turns' texts, oldest first) the ``k`` best responses, best first.

        The index gives the ``retrieved`` nearest, and the ranker scores them. ``by`` is what they are near
        to: ``mean``, the mean of a context's vectors, or ``codes``, any of them (so many for each). A turn of
        the context is near to it, and no answer: its text, case and white space aside, is no response of
        that context unless ``own_turns`` are ``kept``.

        Raises `InputError`: another way is asked for.
        """
        for name, value, known in (("retrieval by", by, Retrieval), ("own turns", own_turns, OwnTurns)):
            if value not in get_args(known):
                raise InputError(f"{name} {value!r}: choose {' or '.join(get_args(known))}")
        best: list[list[RankedResponse]] = []
        vectors = self._ranker.context_vectors(contexts) if contexts else ()
        for turns, context in zip(contexts, vectors, strict=True):
            never = set(map(match_key, turns)) if own_turns == "left-out" else set[str]()
            queries = context.mean(axis=0, keepdims=True) if by == "mean" else context
            _, indices = self._index.search(queries, min(max(k, retrieved) + len(never), len(self.texts)))
            nearest = {int(index) for index in indices.flat if index >= 0}
            near = sorted(index for index in nearest if match_key(self.texts[index]) not in never)
            scores = self._ranker.score_vectors(context, self._index.reconstruct_batch(near)) if near else []
            best.append([RankedResponse(self.texts[near[at]], scores[at]) for at in by_score(scores)[:k]])
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
    """Make a bank of responses in a folder; each text counts once, case and white space aside.

    ``flat`` finds the nearest exactly; ``ivf`` and ``hnsw`` find nearly all of them, and quicker where there
    are millions. A build that was stopped goes on when the same call is made again, to the same bytes.

    Raises:
        InputError: there are no responses, the folder holds a bank, another build or other files, or there
            is no such index.
        ModelError: FAISS is not installed.
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
    """Each text once, as it came up first; case and white space do not count, and empty ones are left out.

    >>> unique(["Oh, really?", " oh,  really?", "", "No."])
    ['Oh, really?', 'No.']
    """
    first: dict[str, str] = {}
    for text in texts:
        if key := match_key(text):
            first.setdefault(key, one_line(text))
    return list(first.values())


def read_responses(paths: Sequence[str | Path]) -> Iterator[str]:
    """The responses of files: of negatives (.jsonl, .parquet) the right ones, of others each line.

    Raises `InputError`: a file can't be read, or is none of negatives.
    """
    for path in map(Path, paths):
        if path.suffix in (".jsonl", ".parquet"):
            yield from (answer.text for group in read_groups([path]) for answer in group.positives)
        else:
            yield from _lines(read_text(path))


def rank_candidates(
    ranker: Ranker, candidates: Sequence[str], contexts: Iterable[Sequence[str]], k: int
) -> list[list[RankedResponse]]:
    """For each context the ``k`` candidates that score highest, best first."""
    ranked: list[list[RankedResponse]] = []
    for turns in contexts:
        scores = ranker.score([turns] * len(candidates), candidates)
        ranked.append([RankedResponse(candidates[at], scores[at]) for at in by_score(scores)[:k]])
    return ranked


def read_candidates(path: Path) -> list[str]:
    """The responses of a text file, one a line.

    Raises `InputError`: it can't be read, or there is none.
    """
    texts = _lines(read_text(path))
    if not texts:
        raise InputError(f"{path}: there is no candidate in it")
    return texts


def contexts_of(text: str, name: str) -> list[list[str]]:
    """The contexts of a text: a turn a line, empty lines between contexts.

    Raises `InputError`: there is none; the text is called ``name``.
    """
    contexts = [turns for block in re.split(r"\n\s*\n", text) if (turns := _lines(block))]
    if not contexts:
        raise InputError(f"{name}: there is no context in it; write a turn a line, oldest first")
    return contexts


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _check_folder(folder: Path, overwrite: bool) -> None:
    """A folder that holds anything but a bank is never touched."""
    if folder.is_file():
        raise InputError(f"{folder}: a file is in the folder's place; name another")
    if not folder.is_dir():
        return
    names = {path.name.removesuffix(".tmp") for path in folder.iterdir()}
    if strange := sorted(names - set(_FILES)):
        raise InputError(f"{folder}: there are other files in it ({strange[0]}); choose another folder")
    if _MANIFEST in names and not overwrite:
        raise InputError(f"{folder}: there is a bank in it already; choose another folder, or overwrite it")


def _begin(folder: Path, manifest: Manifest, texts: Sequence[str], overwrite: bool) -> None:
    """Write the texts and what is going to be built; a build of the same is left as it is."""
    building = RunNote(folder / _BUILDING, fingerprint([asdict(manifest), texts]))
    if building.state == "same":
        return
    if building.state == "other" and not overwrite:
        raise InputError(
            f"{folder}: a build with other responses or another model was stopped here; "
            "repeat it as it was, choose another folder, or overwrite it"
        )
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / _TEXTS, "".join(json_line(text) + "\n" for text in texts))
    building.write()


def _embed(ranker: PolyEncoder, texts: Sequence[str], path: Path, progress: Progress) -> None:
    """Add the vectors of the texts that are not in the file yet, a chunk after another."""
    row = 4 * ranker.model.size
    progress.start("embedding", len(texts), "responses")
    with path.open("ab") as file:
        done = min(file.tell() // row, len(texts)) // _CHUNK * _CHUNK
        file.truncate(done * row)
        progress.advance(done)
        for start in range(done, len(texts), _CHUNK):
            some = texts[start : start + _CHUNK]
            file.write(ranker.response_vectors(some).astype("<f4").tobytes())
            file.flush()
            os.fsync(file.fileno())
            progress.advance(len(some))
    progress.finish()


def _index(faiss: Any, path: Path, manifest: Manifest) -> Any:
    """The index of the vectors in the file. One thread makes it: several would make another each time."""
    import numpy

    vectors = numpy.memmap(path, dtype="<f4", mode="r", shape=(manifest.count, manifest.size))
    cells = max(1, min(4 * int(manifest.count**0.5), manifest.count // 39))
    form = {"flat": "Flat", "ivf": f"IVF{cells},Flat", "hnsw": "HNSW32,Flat"}[manifest.index]
    made = faiss.index_factory(manifest.size, form, faiss.METRIC_INNER_PRODUCT)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        if not made.is_trained:
            made.train(vectors)
        for start in range(0, manifest.count, 64 * _CHUNK):
            made.add(numpy.ascontiguousarray(vectors[start : start + 64 * _CHUNK]))
    finally:
        faiss.omp_set_num_threads(threads)
    if manifest.index == "ivf":
        made.make_direct_map()
        made.nprobe = max(1, cells // 8)
    return made
