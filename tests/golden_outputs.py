"""Compute the outputs of graphneg that are recorded in ``tests/golden``; ``make golden`` writes the files.

The inputs are the bundled corpus ``everyday`` and, if they exist, samples of the corpora in
``../shared/data``. There is one file per corpus and output, with one sorted line per item. For the bundled
corpus, the lines contain the texts (``.txt``). The texts of the other corpora must not be published, so their
lines contain only ids and digests (``.digests``).
"""

from __future__ import annotations

import argparse
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from functools import cache
from pathlib import Path

from graphneg.amr.overlay import apply_edits
from graphneg.amr.penman import format_graph
from graphneg.decoders.base import get_decoder
from graphneg.dialogue_graph import DialogueGraph
from graphneg.dialogue_graph import open as open_graph
from graphneg.editing.proposals import Proposal, paired, propose, utterances_of_graphs
from graphneg.editing.transforms import load_transforms
from graphneg.ingest.loader import LoadOptions, LoadReport, get_loader
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.model import AmrGraph, Decoded, Dialogue, Edit, EditedUtterance, GraphText, Negative, Record
from graphneg.parsers.base import CheckedParser, get_parser, warning_code
from graphneg.store.dialogues import GraphCache, Selection, StoredDialogue, dialogue_ids, read_dialogues

FOLDER = Path(__file__).parent / "golden"
DATA = Path(__file__).parents[2] / "shared" / "data"
BUNDLED = "everyday"
SAMPLED = ("prince", "dailydialog", "personachat")
SOURCES = {
    "prince": ("penman", "amr_little_prince/lpp-train.txt"),
    "dailydialog": ("dailydialog", "dailydialog/dialogues_validation.txt"),
    "personachat": ("personachat", "personachat/En_persona_valid.json"),
}
RESOURCES = {
    "conceptnet": "conceptnet/assertions-en-opposites.csv.gz",
    "propbank": "propbank/propbank-frames-3.4.tar.gz",
}
UTTERANCES = 320
TURNS = 8
SEEDS = (0, 1, 2)
PER_CONTEXT = 2
DIGITS = 8
COUNT, SAID = ": ", " | "
SHOWN = 40

GENERATORS = (
    "bm25", "hard", "insertion", "overlap", "random", "replacement", "semi-hard", "speaker-swap",
    "token-substitution", "turn-shuffle",
)  # fmt: skip
"""The generators that need no language model."""
RECIPES = ("all", "contradiction", "deam", "perspective")
TRANSFORMS = tuple(sorted(load_transforms()))
OUTPUTS = (
    "parses",
    "shifts",
    *(f"transforms/{name}" for name in TRANSFORMS),
    *(f"generators/{name}" for name in GENERATORS),
    *(f"recipes/{name}" for name in RECIPES),
)
"""The outputs that are recorded for each corpus, one file per output."""

ADVICE = """
The program gives something else than before. Where this is not meant, there is a fault in what was changed.
Where it is: run `make golden`, read `git diff tests/golden`, and commit the files together with that change
and nothing else, with a message that says why."""


class Outputs:
    """Computes the lines of each output file from an open dialogue graph."""

    def __init__(self, graph: DialogueGraph) -> None:
        self._graph = graph
        self._graph_cache = GraphCache(graph.store)
        self._transforms = load_transforms()

    def lines(self, corpus: str, output: str) -> list[str]:
        """Return the sorted lines of one output file, such as ``parses`` or ``recipes/deam``."""
        kind, _, name = output.partition("/")
        by_kind: Mapping[str, Callable[[str, str], Iterable[tuple[str, str]]]] = {
            "parses": self._parses,
            "shifts": self._shifts,
            "transforms": self._proposals,
            "generators": self._generated,
            "recipes": self._negatives,
        }
        items = by_kind[kind](corpus, name)
        told = str if corpus == BUNDLED else digested
        lines = (f"{id} {told(value)}".strip().replace("\n", "\\n") for id, value in items)
        return sorted(lines, key=natural)

    def _dialogues(self, corpus: str) -> list[StoredDialogue]:
        store = self._graph.store
        return read_dialogues(store, list(dialogue_ids(store, Selection((corpus,)))))

    def _parses(self, corpus: str, _: str) -> Iterator[tuple[str, str]]:
        """Yield the id of each utterance, and its graph by the ``dependency`` parser."""
        said = {f"{one.id}#{turn.turn}": turn.text for one in self._dialogues(corpus) for turn in one.turns}
        for id, parsed in zip(said, parser().parse_batch(list(said.values())), strict=True):
            codes = "".join(f"!{warning_code(one)} " for one in parsed.warnings)
            yield id, codes + ("" if parsed.graph is None else flat(parsed.graph))

    def _shifts(self, corpus: str, _: str) -> Iterator[tuple[str, str]]:
        """Yield each edge of the shift graph of a corpus with its count. The edges have no ids."""
        for focus, perspective, count in self._graph.shift_graph(corpora=[corpus]).edges(data="count"):
            yield "", f"{focus} > {perspective}{COUNT}{count}"

    def _proposals(self, corpus: str, name: str) -> Iterator[tuple[str, str]]:
        """Yield each proposal of a transform, a digest of its edited graph, and its text by ``surface``."""
        dialogues = self._dialogues(corpus)
        proposed = propose(self._graph.store, self._transforms[name], dialogues)
        sites = [(one, site) for one in dialogues for site in with_edits(proposed.get(one.id, ()))]
        edited = [self._edited(dialogue, edits) for dialogue, (_, edits) in sites]
        answers = iter(get_decoder("surface").decode([one for some in edited for one in some]))
        for (dialogue, (proposal, edits)), some in zip(sites, edited, strict=True):
            said = " / ".join(answer_text(next(answers)) for _ in some)
            graphs = digest("\n".join(flat(one.after) for one in some))
            pool = "" if proposal.swap_pool is None else f"({proposal.swap_pool}: {proposal.content}) "
            made = "; ".join(edit_text(edit) for edit in edits)
            text = f"{made} = {graphs}{SAID}{said}" if edits else "has no partner"
            yield proposal_id(dialogue, proposal), f"{pool}{text}"

    def _edited(self, dialogue: StoredDialogue, edits: Sequence[Edit]) -> list[EditedUtterance]:
        """Return the input of the decoder: one edited utterance for each graph that the edits change."""
        copied = {edit.from_amr for edit in edits if edit.from_amr is not None}
        changed = list(dict.fromkeys(edit.amr for edit in edits))
        graphs = self._graph_cache.get(copied.union(changed))
        turns = {turn.graph_id: turn for turn in dialogue.turns if turn.graph_id is not None}
        donors = (
            utterances_of_graphs(self._graph.store, copied - turns.keys()) if copied - turns.keys() else {}
        )
        said = {**donors, **turns}
        found: list[EditedUtterance] = []
        for amr in changed:
            own = tuple(edit for edit in edits if edit.amr == amr)
            sources = {edit.from_amr for edit in own if edit.from_amr is not None}
            found.append(
                EditedUtterance(
                    f"{dialogue.id}@{turns[amr].turn}",
                    turns[amr].speaker,
                    turns[amr].text,
                    graphs[amr],
                    apply_edits(graphs[amr], own, graphs),
                    own,
                    {source: graphs[source] for source in sources},
                    {source: said[source].text for source in sources},
                )
            )
        return found

    def _generated(self, corpus: str, name: str) -> Iterator[tuple[str, str]]:
        """Yield the negatives of a generator for the last turn of each dialogue."""
        for one in self._graph.generate(name, per_context=PER_CONTEXT, seed=SEEDS[0], corpora=[corpus]):
            yield one.id, negative_text(one)

    def _negatives(self, corpus: str, name: str) -> Iterator[tuple[str, str]]:
        """Yield the negatives of a recipe for each dialogue and each of several seeds."""
        for seed in SEEDS:
            for one in self._graph.negatives(name, seed=seed, corpora=[corpus]):
                yield one.id, negative_text(one)


def with_edits(proposals: Sequence[Proposal]) -> Iterator[tuple[Proposal, tuple[Edit, ...]]]:
    """Yield each proposal with its edits.

    A proposal with a ``swap_pool`` swaps its subtree with that of another proposal. The first possible
    partner is used; without a partner, there are no edits.
    """
    for one in proposals:
        yield one, one.edits if one.swap_pool is None else swap(one, proposals)


def swap(one: Proposal, proposals: Sequence[Proposal]) -> tuple[Edit, ...]:
    for other in proposals:
        if (
            other.swap_pool == one.swap_pool
            and other.content != one.content
            and not other.graphs & one.graphs
        ):
            return paired(one, other)[:1]
    return ()


def proposal_id(dialogue: StoredDialogue, proposal: Proposal) -> str:
    """Return an id for a proposal: the utterance, the edited node and, if it is restricted, the target."""
    amr = min(proposal.graphs)
    site = proposal.site.replace(f"{amr}.", "").replace(f"{dialogue.id}#", "#").replace(" ", "_")
    target = f" for:{proposal.target}" if proposal.target else ""
    return f"{amr.rpartition('@')[0]} {site}{target}"


def edit_text(edit: Edit) -> str:
    """Describe an edit on one line, such as ``set 3 concept=bad-01``."""
    source = None if edit.from_amr is None else f"{edit.from_amr}.{edit.from_position}"
    fields = {
        "role": edit.role,
        "concept": edit.concept,
        "value": edit.value,
        "from": source,
        "in": edit.copy_of,
        "voice": edit.voice,
        "frame": edit.frame,
    }
    given = [f"{name}={value}" for name, value in fields.items() if value is not None]
    return " ".join([edit.op, str(edit.position), *given])


def answer_text(answer: Decoded) -> str:
    """Return the decoded text; for a refused edit, ``!`` and the code of the reason."""
    return answer.text if answer.text is not None else f"!{(answer.reason or '').partition(':')[0]}"


def negative_text(negative: Negative) -> str:
    """Describe a negative on one line: its transforms, its edited turns and its response."""
    before = negative.original.context or negative.context
    turns = [
        f"[{turn}] {now.text}"
        for turn, (was, now) in enumerate(zip(before, negative.context, strict=False))
        if was != now
    ]
    more = [f"[{turn}] {one.text}" for turn, one in list(enumerate(negative.context))[len(before) :]]
    edits = ", ".join(f"{edit.transform}@{edit.turn}" for edit in negative.edits)
    return " ".join([f"{edits}:", *turns, *more, f"[{negative.turn}] {negative.response}"])


def digested(value: str) -> str:
    """Replace the texts in a line by digests. Counts and codes of refusals are kept.

    >>> digested("tea > milk: 3"), digested("drop 4 = 952499aa | !no-form")
    ('03f32410: 3', '4cbf8624 !no-form')
    """
    edge, colon, count = value.rpartition(COUNT)
    if colon and count.isdigit():
        return f"{digest(edge)}{COUNT}{count}"
    made, bar, said = value.rpartition(SAID)
    if not bar:
        return digest(value)
    return f"{digest(made)} {said if said.startswith('!') else digest(said)}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def flat(graph: AmrGraph) -> str:
    return " ".join(format_graph(AmrGraph("", graph.nodes, graph.mentions)).split())


def natural(line: str) -> list[tuple[int, str]]:
    """Return a sort key by which ``#10`` comes after ``#9``."""
    return [(int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", line)]


@cache
def parser() -> CheckedParser:
    """Return the ``dependency`` parser, which is created only once."""
    return get_parser("dependency")


def fill_bundled(graph: DialogueGraph) -> None:
    """Load the bundled corpus, parse the utterances without a graph, and build the shift graph."""
    graph.load(BUNDLED)
    _complete(graph)


def fill_sampled(graph: DialogueGraph) -> None:
    """Load samples of the other corpora, ConceptNet and PropBank. Parse them, and build the shift graph."""
    for loader, path in RESOURCES.items():
        graph.load(loader, DATA / path)
    for corpus, (loader, path) in SOURCES.items():
        records = list(get_loader(loader).read([DATA / path], LoadOptions(split="golden")))
        report = LoadReport(loader)
        write_records(graph.store, sample(records), report, GraphDialogues(corpus, "golden", TURNS))
    _complete(graph)


def missing() -> list[str]:
    """Return the input files that do not exist on this machine."""
    paths = [*(path for _, path in SOURCES.values()), *RESOURCES.values()]
    return [path for path in paths if not (DATA / path).exists()]


def sample(records: Sequence[Record]) -> list[Record]:
    """Choose dialogues at random, by hash, until they have about `UTTERANCES` utterances.

    In a corpus of graphs without dialogues, `TURNS` consecutive graphs count as a dialogue.
    """
    dialogues = [(one.id, [one], len(one.utterances)) for one in records if isinstance(one, Dialogue)]
    graphs = [one for one in records if isinstance(one, GraphText)]
    runs = [graphs[at : at + TURNS] for at in range(0, len(graphs), TURNS)]
    groups = [*dialogues, *((str(at), run, len(run)) for at, run in enumerate(runs))]
    chosen: set[str] = set()
    utterances = 0
    for id, _, size in sorted(groups, key=lambda group: digest(group[0])):
        if utterances < UTTERANCES:
            chosen.add(id)
            utterances += size
    return [record for id, some, _ in groups if id in chosen for record in some]


def _complete(graph: DialogueGraph) -> None:
    graph.parse(parser())
    graph.shift(keywords="yake")


@contextmanager
def opened(fill: Callable[[DialogueGraph], None]) -> Iterator[Outputs]:
    """Create a temporary store, fill it with the function ``fill``, and yield its outputs."""
    with tempfile.TemporaryDirectory() as folder, open_graph(Path(folder) / "store") as graph:
        fill(graph)
        yield Outputs(graph)


def path_of(corpus: str, output: str) -> Path:
    return FOLDER / corpus / f"{output}{'.txt' if corpus == BUNDLED else '.digests'}"


def difference(outputs: Outputs, corpus: str, output: str) -> str:
    """Compare an output with its file. Return a diff with advice, or an empty string if both are equal."""
    path = path_of(corpus, output)
    if not path.exists():
        return f"{path} is not there: run `make golden`, read it, and commit it."
    before = path.read_text(encoding="utf-8").split("\n")[:-1]
    now = outputs.lines(corpus, output)
    name = str(path.relative_to(FOLDER.parents[1]))
    lines = list(unified_diff(before, now, name, "now", n=0, lineterm=""))
    more = [f"... {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *more, ADVICE]) if lines else ""


def write(outputs: Outputs, corpora: Iterable[str]) -> None:
    """Write the files of some corpora, and remove files that belong to no output in `OUTPUTS`."""
    for corpus in corpora:
        for output in OUTPUTS:
            path = path_of(corpus, output)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = "".join(f"{line}\n" for line in outputs.lines(corpus, output))
            path.write_text(text, encoding="utf-8", newline="\n")
        expected = {path_of(corpus, output) for output in OUTPUTS}
        for path in (FOLDER / corpus).rglob("*.*"):
            if path not in expected:
                path.unlink()


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with opened(fill_bundled) as outputs:
        write(outputs, [BUNDLED])
    if absent := missing():
        print(f"left as they are, for {', '.join(absent)} is not in {DATA}: {', '.join(SAMPLED)}")
        return
    with opened(fill_sampled) as outputs:
        write(outputs, SAMPLED)


if __name__ == "__main__":
    main()
