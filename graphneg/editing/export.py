"""What is loaded, written to files: dialogues as positives, AMR graphs, one GraphML graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from graphneg import __version__
from graphneg.amr.penman import format_graph, is_inverted
from graphneg.editing.variants import positive_of
from graphneg.hashing import fingerprint
from graphneg.ingest.rows import GOLD
from graphneg.model import AmrGraph, Negative
from graphneg.progress import Progress
from graphneg.records.files import write_lines, write_rows
from graphneg.records.runs import atomic_file, check_output, check_replaceable, finished_run, note_finished
from graphneg.store.connection import Store
from graphneg.store.dialogues import (
    Selection,
    StoredDialogue,
    answering,
    content_digest,
    count_dialogues,
    dialogue_ids,
    read_dialogues,
    read_responses,
    read_whole_graphs,
)

BATCH = 500
NOT_XML = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Exported:
    """How many items a file has, and whether it ``was_complete``: an export like it wrote it before."""

    items: int
    was_complete: bool = False


Writer = Callable[[Store, Path, Iterator[list[StoredDialogue]]], int]
"""Writes batches of dialogues to a file, and says how many items it has."""


def export(
    store: Store,
    out: Path,
    selection: Selection,
    progress: Progress,
    *,
    overwrite: bool = False,
    write: Writer | None = None,
    facts: Sequence[Any] = (),
) -> Exported:
    """Write the selected dialogues to ``out`` in the form that its suffix names, or as ``write`` does, which
    depends on ``facts`` beside the store.

    The file is there when it is complete: it is written beside and renamed.

    Raises `InputError`: an unknown suffix, a folder that is not there or can't be written, or another file,
    which ``overwrite`` replaces.
    """
    check_output(out, SUFFIXES if write is None else LINES)
    check_replaceable(out, overwrite)
    settings = [__version__, store.description, selection.conditions(), selection.limit, *facts]
    run = fingerprint([*settings, content_digest(store, selection)])
    if done := finished_run(out, run, overwrite):
        return Exported(done["items"], was_complete=True)
    progress.start("export", count_dialogues(store, selection), "dialogues")
    ids = dialogue_ids(store, selection)

    def batches() -> Iterator[list[StoredDialogue]]:
        while batch := list(islice(ids, BATCH)):
            yield read_dialogues(store, batch)
            progress.advance(len(batch))

    try:
        with atomic_file(out) as unfinished:
            items = (write or _WRITERS[out.suffix])(store, unfinished, batches())
            note_finished(out, unfinished, run, items=items)
    finally:
        progress.finish()
    return Exported(items)


def _positives(store: Store, dialogues: Iterator[list[StoredDialogue]]) -> Iterator[Negative]:
    """Each dialogue, then its responses, each with the turns up to the one it answers."""
    for batch in dialogues:
        responses = read_responses(store, [dialogue.id for dialogue in batch])
        for dialogue in batch:
            yield positive_of(dialogue)
            speakers = {turn.turn: turn.speaker for turn in dialogue.turns}
            for id, turn, text, label, source in sorted(responses.get(dialogue.id, ())):
                before = [said for said in dialogue.turns if said.turn <= turn]
                context = [{"speaker": said.speaker, "text": said.text} for said in before]
                yield Negative(
                    id, dialogue.corpus, dialogue.split, dialogue.id, turn + 1, context, text, label,
                    {"context": None, "response": None}, [], source, "response", 0, "", [], {},
                    speaker=speakers.get(turn + 1) or answering(before),
                )  # fmt: skip


def _write_jsonl(store: Store, out: Path, dialogues: Iterator[list[StoredDialogue]]) -> int:
    with out.open("wb") as file:
        return write_lines(_positives(store, dialogues), file)


def _write_parquet(store: Store, out: Path, dialogues: Iterator[list[StoredDialogue]]) -> int:
    return write_rows(_positives(store, dialogues), out)


def _write_penman(store: Store, out: Path, dialogues: Iterator[list[StoredDialogue]]) -> int:
    count = 0
    with out.open("w", encoding="utf-8") as file:
        for batch in dialogues:
            said = {turn.amr: turn.text for one in batch for turn in one.turns if turn.amr is not None}
            for graph in read_whole_graphs(store, list(said)):
                utterance, _, source = graph.id.rpartition("@")
                if source != GOLD and not graph.metadata:  # parsed: it takes its utterance's id and text
                    text = " ".join(said[graph.id].split())
                    graph = replace(graph, metadata=(f"# ::id {utterance}", f"# ::snt {text}"))
                file.write(format_graph(graph) + "\n\n")
                count += 1
    return count


def _write_graphml(store: Store, out: Path, dialogues: Iterator[list[StoredDialogue]]) -> int:
    import networkx

    whole: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    count = 0
    for batch in dialogues:
        graphs = {g.id: g for g in read_whole_graphs(store, [id for d in batch for id in d.graphs])}
        for dialogue in batch:
            count += 1
            _add_dialogue(whole, dialogue, graphs)
    write_graphml(whole, out)
    return count


def write_graphml(graph: Any, path: Path) -> None:
    """Write a graph of networkx as GraphML. What is no character of XML stands as in JSON: ``\\u001b``."""
    import networkx

    for *_, data in chain(graph.nodes(data=True), graph.edges(data=True)):
        data |= {key: _xml(value) for key, value in data.items() if isinstance(value, str)}
    names = {node: _xml(node) for node in graph.nodes if NOT_XML.search(node)}
    networkx.write_graphml(networkx.relabel_nodes(graph, names) if names else graph, path)


def _xml(text: str) -> str:
    return NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _add_dialogue(whole: Any, dialogue: StoredDialogue, graphs: dict[str, AmrGraph]) -> None:
    whole.add_node(dialogue.id, label="Dialogue", corpus=dialogue.corpus, split=dialogue.split)
    before: str | None = None
    for turn in dialogue.turns:
        id = f"{dialogue.id}#{turn.turn}"
        whole.add_node(id, label="Utterance", turn=turn.turn, speaker=turn.speaker, text=turn.text)
        whole.add_edge(dialogue.id, id, type="HAS_TURN")
        if before is not None:
            whole.add_edge(before, id, type="NEXT")
        before = id
        graph = graphs.get(turn.amr or "")
        if graph is not None:
            whole.add_edge(id, f"{graph.id}.0", type="MEANS")
            _add_graph(whole, graph)


def _add_graph(whole: Any, graph: AmrGraph) -> None:
    for node in graph.nodes:
        whole.add_node(f"{graph.id}.{node.k}", label="AmrNode", concept=node.label)
    edges = [(node.up, node.k, node.role or "") for node in graph.nodes if node.up is not None]
    edges += [(mention.up, mention.target, mention.role) for mention in graph.mentions]
    for up, target, role in edges:
        ends = (target, up) if is_inverted(role) else (up, target)
        name = role[:-3] if is_inverted(role) else role
        whole.add_edge(f"{graph.id}.{ends[0]}", f"{graph.id}.{ends[1]}", type="ROLE", role=name)


_WRITERS = {
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
    ".amr": _write_penman,
    ".penman": _write_penman,
    ".graphml": _write_graphml,
}
SUFFIXES = tuple(_WRITERS)
LINES = (".json", ".jsonl")
"""What a file of JSON lines of another form ends in."""
