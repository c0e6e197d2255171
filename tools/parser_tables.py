"""Make the tables of the dependency parser: ``python -m tools.parser_tables``.

The sources are annotated graphs and PropBank. ``concepts.tsv`` counts the concepts of words: the noun *boy*
mostly becomes ``boy``. ``roles.tsv`` counts the roles of arguments by their relation to the predicate: the
``nsubj`` of ``say-01`` is mostly its ``ARG0``. ``frames.tsv`` lists the frames that AMR uses, with their
aliases and roles.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphneg.amr.alignment import align
from graphneg.amr.penman import is_inverted, iter_blocks, metadata, parse_graph
from graphneg.english.propbank import PropBankExample, ReadError, Roleset, read_rolesets
from graphneg.english.tokens import tokenize
from graphneg.loaders.propbank import frame_records
from graphneg.model import AmrGraph
from graphneg.parsers.dependency.lexicon import DELETED
from graphneg.parsers.dependency.text import (
    Word,
    class_of,
    load_model,
    read_words,
    readable,
    signature,
)
from graphneg.progress import NoProgress

# Counts of concepts and roles in annotated graphs.


_INVERSES = {"mod": "domain", "domain": "mod"}


_POS = frozenset("vnj")
"""Parts of speech of aliases: verb, noun, adjective."""


def phrase_head(words: Sequence[Word], start: int, end: int) -> Word | None:
    """Return the syntactic head of a span. The head of a prepositional phrase is the preposition's object.

    Args:
        words: The words of the sentence.
        start: Index of the first word in the span.
        end: Index after the last word in the span.

    Returns:
        The word, or None for an empty span.
    """
    for word in words[start:end]:
        if not start <= word.head < end or word.head == word.i:
            if word.dep in {"prep", "agent", "dative"} and word.tag in {"IN", "TO"}:
                return word.child("pobj", "pcomp") or word
            return word
    return None


@dataclass(slots=True)
class GraphCounts:
    """Counts of concepts and roles.

    Attributes:
        concepts: Counts, keyed by lemma, word class and concept.
        roles: Counts, keyed by kind of word property, property, syntactic signature and role. The kinds are
            ``F`` (concept of the head), ``S`` (word class of the head) and ``W`` (lemma of the argument).
    """

    concepts: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    roles: Counter[tuple[str, str, str, str]] = field(default_factory=Counter[tuple[str, str, str, str]])

    def add(self, words: Sequence[Word], graph: AmrGraph, weight: int) -> None:
        """Count the words and arcs of one graph.

        Args:
            words: The words of the sentence.
            graph: The graph.
            weight: Number of times to count each word and arc.
        """
        spans = _word_spans(words, graph)
        tops: dict[int, int] = {}
        for k, (first, _) in spans.items():
            if graph.nodes[k].concept is not None:
                # The first aligned node of a word counts as its concept: "person" for "teacher".
                tops.setdefault(first, k)
        covered = {i for first, end in spans.values() for i in range(first, end)}
        for word in words:
            concept = graph.nodes[tops[word.i]].concept if word.i in tops else None
            # Count a word without a concept as deleted, except a later word of a span: in "New York", "York"
            # belongs to the concept of "New".
            if concept is not None or word.i not in covered:
                self.concepts[word.lemma, class_of(word), concept or DELETED] += weight
        self._add_roles(words, graph, {k: first for k, (first, _) in spans.items()}, weight)

    def _add_roles(self, words: Sequence[Word], graph: AmrGraph, places: dict[int, int], weight: int) -> None:
        for up, role, to in arcs(graph):
            # Two nodes of the same word, as in "teacher", have no syntactic relation.
            if up not in places or to not in places or places[up] == places[to]:
                continue
            h, d = places[up], places[to]
            found = signature(words[h], words[d])
            name = graph.nodes[up].concept or ""
            if found is None:
                continue
            self.roles["F", name, found, role] += weight
            self.roles["S", class_of(words[h]), found, role] += weight
            self.roles["W", words[d].lemma, found, role] += weight


def arcs(graph: AmrGraph) -> Iterator[tuple[int, str, int]]:
    """Yield the arcs of a graph from head to argument, with inverse roles normalized.

    Args:
        graph: The graph.

    Yields:
        Head, role and argument of each arc.
    """
    tree = [(node.parent or 0, node.role or "", node.position) for node in graph.nodes[1:]]
    for up, role, to in (*tree, *((one.parent, one.role, one.target) for one in graph.mentions)):
        if role == "domain":
            yield to, "mod", up
        elif is_inverted(role):
            yield to, role[:-3], up
        else:
            yield up, role, to


def _word_spans(words: Sequence[Word], graph: AmrGraph) -> dict[int, tuple[int, int]]:
    """Return the range of words with which each node is aligned, keyed by node."""
    text = metadata(graph.metadata).get("snt", "")
    tokens = tokenize(text)
    spans = align(graph, [token.text for token in tokens])
    starts = {word.start: word.i for word in words}
    found: dict[int, tuple[int, int]] = {}
    for k, (first, end) in spans.items():
        start = starts.get(tokens[first].start)
        if start is not None:
            found[k] = (start, start + end - first)
    return found


def read_graphs(paths: Iterable[Path], excluded: Collection[str]) -> list[AmrGraph]:
    """Read the graphs of PENMAN files.

    Args:
        paths: The files.
        excluded: Sentences to leave out, normalized by `letters`.

    Returns:
        The graphs that have a sentence.
    """
    graphs: list[AmrGraph] = []
    for path in paths:
        for line, block in iter_blocks(path.read_text(encoding="utf-8")):
            if "::snt" in block:
                graph = parse_graph(block, "", line)
                if letters(sentence(graph)) not in excluded:
                    graphs.append(graph)
    return graphs


def sentence(graph: AmrGraph) -> str:
    """Return the sentence of a graph.

    Args:
        graph: The graph.

    Returns:
        The sentence, or ``""`` if the graph has no sentence.
    """
    return metadata(graph.metadata).get("snt", "")


def letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, to compare sentences regardless of their form.

    Args:
        text: The text.

    Returns:
        The letters and digits.

    Example:
        >>> letters("Don't go!") == letters("don 't go .")
        True
    """
    return "".join(one for one in text.lower() if one.isalnum())


def count_graphs(nlp: Any, graphs: Sequence[AmrGraph], weight: int, counts: GraphCounts) -> None:
    """Parse the sentences of graphs and count their words and arcs.

    Args:
        nlp: The spaCy model for tagging and parsing.
        graphs: The graphs.
        weight: Number of times to count each graph.
        counts: The counts to add to.
    """
    for graph, doc in zip(graphs, nlp.pipe(readable(sentence(one)) for one in graphs), strict=True):
        counts.add(read_words(doc), graph, weight)


def write_counts(counts: GraphCounts, folder: Path) -> None:
    """Write ``concepts.tsv`` and ``roles.tsv``, most frequent first.

    Args:
        counts: The counts.
        folder: Folder of the two files.
    """
    for name, counter in (("concepts", counts.concepts), ("roles", counts.roles)):
        rows = sorted(counter.items(), key=lambda one: (-one[1], one[0]))
        lines = ["\t".join((*key, str(count))) + "\n" for key, count in rows]
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")


# Frames from PropBank's frame files: aliases, roles, and their realisation in annotated examples.
#
# PropBank frames are licensed CC BY-SA 4.0; see ``graphneg/english/NOTICE``.


def write_frames(sources: Sequence[Path], nlp: Any, target: Path) -> int:
    """Write the table of the frames that AMR uses.

    The columns are the frame's id, its roles as ``number:function``, its aliases as ``pos:lemma``, the number
    of its examples, and the counts of roles in the examples as ``signature=role:count``.

    Args:
        sources: ``.tar.gz`` files of the release, and ``.xml`` files.
        nlp: The spaCy model for tagging and parsing.
        target: The file to write.

    Returns:
        The number of frames.
    """

    def read_file(name: str, data: bytes) -> Iterator[Roleset]:
        for part in read_rolesets(data):
            if isinstance(part, ReadError):
                print(f"{name}:{part.line}: {part.reason}")
            # PropBank states for each roleset which releases of AMR use it.
            elif ("AMR", "2019", "+") in part.usages and part.id is not None:
                yield part

    parts = frame_records(sources, "propbank", read_file, NoProgress())
    rolesets = sorted((part for part in parts if isinstance(part, Roleset)), key=lambda part: part.id or "")
    examples = [(k, one) for k, roleset in enumerate(rolesets) for one in roleset.examples]
    used, seen = _count_examples(nlp, [(k, one) for k, one in examples if one.predicate is not None])
    rows = (_row(roleset, used[k], seen[k]) for k, roleset in enumerate(rolesets))
    target.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return len(rolesets)


def _count_examples(
    nlp: Any, examples: Sequence[tuple[int, PropBankExample]]
) -> tuple[Counter[int], defaultdict[int, Counter[tuple[str, str]]]]:
    """Count the usable examples of each roleset, and the roles in them by syntactic signature."""
    from spacy.tokens import Doc

    used: Counter[int] = Counter()
    seen: defaultdict[int, Counter[tuple[str, str]]] = defaultdict(Counter[tuple[str, str]])
    docs = nlp.pipe((Doc(nlp.vocab, words=list(one.words)) for _, one in examples), batch_size=128)
    for (k, example), doc in zip(examples, docs, strict=True):
        words = read_words(doc)
        if example.predicate is None or example.predicate >= len(words):
            continue
        used[k] += 1
        for kind, start, end in example.arguments:
            head = phrase_head(words, start, end + 1)
            form = None if head is None else signature(words[example.predicate], head)
            if form is not None and (kind.startswith("ARG") and "-" not in kind.replace("ARGM-", "")):
                seen[k][form, kind[3:] if kind[3:].isdigit() else "M"] += 1
    return used, seen


def _row(roleset: Roleset, examples: int, seen: Counter[tuple[str, str]]) -> str:
    roles = " ".join(f"{role.number}:{role.function}" for role in roleset.roles)
    words = [alias for alias in roleset.aliases if alias.pos in _POS and alias.word]
    aliases = dict.fromkeys(f"{alias.pos}:{alias.word.replace(' ', '_')}" for alias in words)
    cells = " ".join(f"{form}={role}:{count}" for (form, role), count in seen.most_common())
    return "\t".join((roleset.id or "", roles, " ".join(aliases), str(examples), cells))


# The command line.


PACKAGE = Path(__file__).parent.parent / "graphneg"
DATA = PACKAGE / "parsers" / "dependency" / "data"
FRAMES = PACKAGE / "english" / "frames.tsv"


def main() -> None:
    """Write the tables that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tools.parser_tables", description=__doc__)
    parser.add_argument(
        "--propbank", type=Path, nargs="*", default=[], help="PropBank's .tar.gz and .xml files"
    )
    parser.add_argument(
        "--gold", type=Path, nargs="*", default=[], help="PENMAN files with graphs made by annotators"
    )
    parser.add_argument(
        "--silver", type=Path, nargs="*", default=[], help="PENMAN files with graphs made by a parser"
    )
    parser.add_argument(
        "--exclude",
        type=Path,
        nargs="*",
        default=[],
        help="PENMAN files with test sentences, which are left out",
    )
    parser.add_argument(
        "--weight",
        type=int,
        default=3,
        help="how often a gold graph is counted; a silver graph is counted once",
    )
    parser.add_argument("--out", type=Path, default=DATA, help="folder for concepts.tsv and roles.tsv")
    parser.add_argument("--frames", type=Path, default=FRAMES, help="file to write the frames to")
    options = parser.parse_args()
    nlp = load_model(None)
    if options.propbank:
        count = write_frames(options.propbank, nlp, options.frames)
        print(f"frames.tsv: {count} frames")
    if options.gold or options.silver:
        excluded = {letters(sentence(one)) for one in read_graphs(options.exclude, ())}
        counts = GraphCounts()
        count_graphs(nlp, read_graphs(options.gold, excluded), options.weight, counts)
        count_graphs(nlp, read_graphs(options.silver, excluded), 1, counts)
        write_counts(counts, options.out)
        print(f"concepts.tsv: {len(counts.concepts)} rows; roles.tsv: {len(counts.roles)} rows")


if __name__ == "__main__":
    main()
