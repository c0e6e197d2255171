"""Count the nouns that occur as subjects and objects of verbs: ``python -m tools.takes FILE...``.

``FILE`` is a path with its loader: ``personachat:valid.json``, ``topical_chat:valid.json``,
``propbank_examples:frames.tar.gz``. The counts are written to ``takes.tsv``: for example, the objects of
*abolish* are *rule*, *law* and *trading*. Names and pronouns are not counted, because they do not show which
kinds of arguments a verb takes. The tool also groups the nouns in ``nouns.tsv``: nouns of the same kind whose
vectors are similar form a row, which begins with the most frequent noun.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from graphneg.english.noun_kinds import OTHER, kind_of
from graphneg.english.words import readings
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue, Sentence
from graphneg.nn.embedders import BUNDLED
from graphneg.nn.vectors import StaticVectors
from graphneg.parsers.dependency.text import load_model

ENGLISH = Path(__file__).parents[1] / "graphneg" / "english"
ROLES = {"nsubj": "ARG0", "dobj": "ARG1", "nsubjpass": "ARG1"}
"""AMR roles, keyed by dependency label."""
NEAR = 0.56
"""Minimum mean cosine between a noun and the nouns of a group that it joins."""
LARGEST = 24
"""Maximum number of nouns in a group."""

Counts = dict[tuple[str, str], Counter[str]]


def texts(sources: Iterable[str]) -> Iterator[str]:
    """Yield the utterances and sentences of files.

    Args:
        sources: Paths with their loaders, as ``LOADER:FILE``.

    Yields:
        The texts.
    """
    for source in sources:
        name, _, path = source.partition(":")
        for record in get_loader(name).read([Path(path)], LoadOptions()):
            if isinstance(record, Dialogue):
                yield from (utterance.text for utterance in record.utterances)
            elif isinstance(record, Sentence):
                yield record.text


def counted(sources: Iterable[str]) -> Counts:
    """Count the nouns of each verb and role.

    Args:
        sources: Paths with their loaders, as ``LOADER:FILE``.

    Returns:
        Counts of nouns, keyed by pairs of a verb (with its particle) and a role.
    """
    found: Counts = defaultdict(Counter)
    nlp = load_model(None)
    for parsed in nlp.pipe(texts(sources), batch_size=256):
        for token in parsed:
            role = ROLES.get(token.dep_)
            if role is None or token.tag_ not in ("NN", "NNS") or not token.head.tag_.startswith("VB"):
                continue
            # Nouns without a kind are not in ``nouns.tsv`` and are not counted.
            noun = _lemma(token.text.lower(), "NOUN")
            if kind_of(noun) != OTHER:
                found[_verb(token.head), role][noun] += 1
    return found


def _verb(token: Any) -> str:
    particles = [child.text.lower() for child in token.children if child.dep_ == "prt"]
    return " ".join([_lemma(token.text.lower(), "VERB"), *particles])


def _lemma(word: str, word_class: str) -> str:
    return readings(word).get(word_class, (word,))[0]


def sorts(words: list[str], vectors: StaticVectors) -> list[list[str]]:
    """Group the nouns of one kind by their vectors.

    In the order of frequency, each noun joins the group with the highest mean cosine. If this cosine is below
    `NEAR`, the noun starts a new group.

    Args:
        words: The nouns.
        vectors: The word vectors, the most frequent words first.

    Returns:
        The groups, each with its most frequent noun first. A noun without a vector forms a separate group.
    """
    import numpy

    known = [word for word in vectors.words if word in set(words) and word in vectors]
    groups: list[list[str]] = []
    sums: list[Any] = []
    for word in known:
        own = vectors.embed([word])[0]
        best = max(
            (
                (float(own @ total) / len(group), at)
                for at, (total, group) in enumerate(zip(sums, groups, strict=True))
                if len(group) < LARGEST
            ),
            default=(0.0, -1),
        )
        if best[0] >= NEAR:
            groups[best[1]].append(word)
            sums[best[1]] = sums[best[1]] + own
        else:
            groups.append([word])
            sums.append(numpy.array(own))
    return [*groups, *([word] for word in words if word not in set(known))]


def write_sorts(path: Path) -> None:
    """Group the nouns in the table ``nouns.tsv`` again.

    Args:
        path: The table, which is overwritten.
    """
    by_kind: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        kind, _, words = line.partition("\t")
        by_kind.setdefault(kind, []).extend(words.split(" "))
    vectors = StaticVectors(BUNDLED)
    rows = [(kind, " ".join(group)) for kind in by_kind for group in sorted(sorts(by_kind[kind], vectors))]
    path.write_text("".join(f"{kind}\t{words}\n" for kind, words in rows), "utf-8")


def write_takes(path: Path, found: Counts) -> None:
    """Write a row for each verb and role, with the nouns most frequent first.

    Args:
        path: The file to write.
        found: The counts. Verbs and roles with a single count are left out.
    """
    rows = [
        "\t".join([verb, role, " ".join(f"{noun}:{n}" for noun, n in sorted(nouns.items(), key=_rank))])
        for (verb, role), nouns in sorted(found.items())
        # A single count can be a parsing error.
        if sum(nouns.values()) > 1
    ]
    path.write_text("".join(f"{row}\n" for row in rows), "utf-8")


def _rank(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def main() -> None:
    """Group the nouns in ``nouns.tsv``, and write ``takes.tsv`` if files are given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", help="files to count in, as LOADER:FILE")
    asked = parser.parse_args()
    write_sorts(ENGLISH / "nouns.tsv")
    if asked.sources:
        write_takes(ENGLISH / "takes.tsv", counted(asked.sources))


if __name__ == "__main__":
    main()
