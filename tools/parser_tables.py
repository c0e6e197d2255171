"""Makes the tables that ship with the dependency parser."""

from __future__ import annotations

import argparse
import re
import tarfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphneg.amr.alignment import align
from graphneg.amr.penman import is_inverted, iter_blocks, metadata, parse_graph
from graphneg.english.tokens import tokenize
from graphneg.model import AmrGraph
from graphneg.parsers.dependency.lexicon import DELETED
from graphneg.parsers.dependency.text import load_model, readable
from graphneg.parsers.dependency.words import Word, phrase_head, read_words, signature, word_class

# Annotated graphs to ``concepts.tsv`` and ``roles.tsv``: what words became, and what roles they took.


_INVERSES = {"mod": "domain", "domain": "mod"}


@dataclass(slots=True)
class GraphCounts:
    """``concepts`` counts ``(lemma, class, concept)``, ``roles`` ``(kind, key, signature, role)``."""

    concepts: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    roles: Counter[tuple[str, str, str, str]] = field(default_factory=Counter[tuple[str, str, str, str]])

    def add(self, words: Sequence[Word], graph: AmrGraph, weight: int) -> None:
        """Counts one graph's words and arcs ``weight`` times."""
        spans = _word_spans(words, graph)
        tops: dict[int, int] = {}
        for k, (first, _) in spans.items():
            if graph.nodes[k].concept is not None:
                tops.setdefault(first, k)
        covered = {i for first, behind in spans.values() for i in range(first, behind)}
        for word in words:
            concept = graph.nodes[tops[word.i]].concept if word.i in tops else None
            if concept is not None or word.i not in covered:
                self.concepts[word.lemma, word_class(word), concept or DELETED] += weight
        self._add_roles(words, graph, {k: first for k, (first, _) in spans.items()}, weight)

    def _add_roles(self, words: Sequence[Word], graph: AmrGraph, places: dict[int, int], weight: int) -> None:
        for up, role, to in arcs(graph):
            if up not in places or to not in places or places[up] == places[to]:
                continue
            h, d = places[up], places[to]
            found = signature(words[h], words[d])
            name = graph.nodes[up].concept or ""
            if found is None:
                continue
            self.roles["F", name, found, role] += weight
            self.roles["S", word_class(words[h]), found, role] += weight
            self.roles["W", words[d].lemma, found, role] += weight


def arcs(graph: AmrGraph) -> Iterator[tuple[int, str, int]]:
    """The graph's arcs from head to argument, inverse roles turned round."""
    tree = [(node.up or 0, node.role or "", node.k) for node in graph.nodes[1:]]
    for up, role, to in (*tree, *((one.up, one.role, one.target) for one in graph.mentions)):
        if role == "domain":
            yield to, "mod", up
        elif is_inverted(role):
            yield to, role[:-3], up
        else:
            yield up, role, to


def _word_spans(words: Sequence[Word], graph: AmrGraph) -> dict[int, tuple[int, int]]:
    """The aligner's spans as ranges over ``words``."""
    text = metadata(graph.metadata).get("snt", "")
    tokens = tokenize(text)
    spans = align(graph, [token.text for token in tokens])
    starts = {word.start: word.i for word in words}
    found: dict[int, tuple[int, int]] = {}
    for k, (first, behind) in spans.items():
        start = starts.get(tokens[first].start)
        if start is not None:
            found[k] = (start, start + behind - first)
    return found


def read_graphs(paths: Iterable[Path], excluded: Collection[str]) -> list[AmrGraph]:
    """The graphs of PENMAN files whose sentences are not ``excluded`` (compared by their letters)."""
    graphs: list[AmrGraph] = []
    for path in paths:
        for line, block in iter_blocks(path.read_text(encoding="utf-8")):
            if "::snt" in block:
                graph = parse_graph(block, "", line)
                if letters(sentence(graph)) not in excluded:
                    graphs.append(graph)
    return graphs


def sentence(graph: AmrGraph) -> str:
    """The graph's sentence."""
    return metadata(graph.metadata).get("snt", "")


def letters(text: str) -> str:
    """The text's letters and digits, lower case: equal for sentences that only differ in form."""
    return "".join(one for one in text.lower() if one.isalnum())


def count_graphs(nlp: Any, graphs: Sequence[AmrGraph], weight: int, counts: GraphCounts) -> None:
    """Counts the graphs into ``counts``."""
    for graph, doc in zip(graphs, nlp.pipe(readable(sentence(one)) for one in graphs), strict=True):
        counts.add(read_words(doc), graph, weight)


def write_counts(counts: GraphCounts, folder: Path) -> None:
    """Writes ``concepts.tsv`` and ``roles.tsv``, most frequent first."""
    for name, counter in (("concepts", counts.concepts), ("roles", counts.roles)):
        rows = sorted(counter.items(), key=lambda one: (-one[1], one[0]))
        lines = ["\t".join((*key, str(count))) + "\n" for key, count in rows]
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")


# PropBank's frame files to ``frames.tsv``: aliases, roles, and how annotated examples realise them.
#
# PropBank frames are licensed CC BY-SA 4.0; see ``graphneg/english/NOTICE``.


_ROLESET = re.compile(r"<roleset\b.*?</roleset>", re.DOTALL)
_POS = frozenset("vnj")


@dataclass(slots=True)
class _Roleset:
    id: str
    roles: list[tuple[str, str]]
    aliases: list[str]
    examples: int = 0
    seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])


@dataclass(slots=True)
class _Example:
    roleset: _Roleset
    tokens: list[str]
    rel: int
    arguments: list[tuple[str, int, int]]


def write_frames(sources: Sequence[Path], nlp: Any, target: Path) -> int:
    """Writes the table of the frames that AMR uses; returns how many there are.

    ``sources`` are the release's ``.tar.gz`` and single ``.xml`` files. One row a frame: id, roles
    as ``number:function``, aliases as ``pos:lemma``, number of examples, ``signature=role:count``.
    """
    rolesets: list[_Roleset] = []
    examples: list[_Example] = []
    for element in (one for source in sources for one in _elements(source)):
        roleset = _roleset(element)
        if roleset is not None:
            rolesets.append(roleset)
            examples.extend(_examples(roleset, element))
    _count(nlp, examples)
    rolesets.sort(key=lambda one: one.id)
    target.write_text("".join(f"{_row(one)}\n" for one in rolesets), encoding="utf-8")
    return len(rolesets)


def _elements(source: Path) -> Iterator[ElementTree.Element]:
    """The rolesets that are well-formed XML; some files of release 3.4 are not, as a whole."""
    for name, text in _files(source):
        for match in _ROLESET.finditer(text):
            try:
                yield ElementTree.fromstring(match.group())
            except ElementTree.ParseError as error:
                print(f"{name}: a roleset was left out, it is not well-formed XML ({error})")


def _files(source: Path) -> Iterator[tuple[str, str]]:
    if source.suffix == ".xml":
        yield source.name, source.read_text(encoding="utf-8", errors="replace")
        return
    with tarfile.open(source) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".xml") else None
            if file is not None and member.name.startswith("frames/"):
                yield member.name, file.read().decode("utf-8", errors="replace")


def _roleset(element: ElementTree.Element) -> _Roleset | None:
    used = {(one.get("resource"), one.get("version")): one.get("inuse") for one in element.iter("usage")}
    if used.get(("AMR", "2019")) != "+":
        return None
    name, _, sense = (element.get("id") or "").rpartition(".")
    roles = [(role.get("n") or "", (role.get("f") or "").upper()) for role in element.iter("role")]
    aliases = [
        f"{one.get('pos')}:{(one.text or '').strip().replace(' ', '_')}"
        for one in element.iter("alias")
        if one.get("pos") in _POS and one.text
    ]
    if not sense.isdigit():
        return None
    return _Roleset(
        f"{name.replace('_', '-')}-{sense}",
        [one for one in roles if one[0].isdigit()],
        list(dict.fromkeys(aliases)),
    )


def _examples(roleset: _Roleset, element: ElementTree.Element) -> Iterator[_Example]:
    for one in element.iter("example"):
        text, rel = one.findtext("text"), one.find(".//rel")
        places = (rel.get("relloc") or "").split() if rel is not None else []
        if not text or not places or not places[0].isdigit():
            continue
        arguments = [
            (arg.get("type") or "", int(arg.get("start") or ""), int(arg.get("end") or ""))
            for arg in one.iter("arg")
            if (arg.get("start") or "").isdigit() and (arg.get("end") or "").isdigit()
        ]
        yield _Example(roleset, text.split(), int(places[0]), arguments)


def _count(nlp: Any, examples: list[_Example]) -> None:
    from spacy.tokens import Doc

    docs = nlp.pipe((Doc(nlp.vocab, words=one.tokens) for one in examples), batch_size=128)
    for example, doc in zip(examples, docs, strict=True):
        words = read_words(doc)
        if example.rel >= len(words):
            continue
        example.roleset.examples += 1
        for kind, start, end in example.arguments:
            head = phrase_head(words, start, end + 1)
            found = None if head is None else signature(words[example.rel], head)
            if found is not None and (kind.startswith("ARG") and "-" not in kind.replace("ARGM-", "")):
                role = kind[3:] if kind[3:].isdigit() else "M"
                example.roleset.seen[found, role] += 1


def _row(one: _Roleset) -> str:
    roles = " ".join(f"{number}:{function}" for number, function in one.roles)
    seen = " ".join(f"{form}={role}:{count}" for (form, role), count in one.seen.most_common())
    return "\t".join((one.id, roles, " ".join(one.aliases), str(one.examples), seen))


# Makes the tables that ship in ``data/`` from PropBank's release and annotated graphs.


PACKAGE = Path(__file__).parent.parent / "graphneg"
DATA = PACKAGE / "parsers" / "dependency" / "data"
FRAMES = PACKAGE / "english" / "frames.tsv"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.parser_tables", description=__doc__)
    parser.add_argument(
        "--propbank", type=Path, nargs="*", default=[], help="PropBank's .tar.gz and .xml files"
    )
    parser.add_argument("--gold", type=Path, nargs="*", default=[], help="PENMAN files that people annotated")
    parser.add_argument("--silver", type=Path, nargs="*", default=[], help="PENMAN files that a parser wrote")
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="PENMAN files kept for testing")
    parser.add_argument(
        "--weight", type=int, default=3, help="what a gold graph counts; a silver one counts 1"
    )
    parser.add_argument("--out", type=Path, default=DATA, help="folder of concepts.tsv and roles.tsv")
    parser.add_argument("--frames", type=Path, default=FRAMES, help="file that the frames are written to")
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
