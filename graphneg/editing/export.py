"""Write the content of a store to files: dialogues as correct examples, AMR graphs in PENMAN, or GraphML.

The suffix of the file determines the format. ``.jsonl`` and ``.parquet`` files contain a record for each
dialogue and each loaded response. ``.amr`` and ``.penman`` files contain graphs. ``.graphml`` files contain
dialogues, utterances and graphs as one network. The file gets its final name only when it is complete. If the
export of a shard is interrupted, the next call continues it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from graphneg import __version__
from graphneg.amr.penman import format_graph, is_inverted
from graphneg.editing.variants import positive_of
from graphneg.hashing import fingerprint
from graphneg.ids import natural_order
from graphneg.ingest.exported import HEADER, dialogue_values, resource_values
from graphneg.ingest.rows import GOLD
from graphneg.json_input import json_line
from graphneg.model import AmrGraph, Negative, Original, Turn
from graphneg.progress import Progress
from graphneg.records.files import from_record, to_record, write_lines, write_rows
from graphneg.records.runs import (
    check_output,
    check_replaceable,
    finished_run,
    locking,
    note_finished,
    replacing,
)
from graphneg.records.shards import RECORDS, Header, ShardBatch, open_shard, write_batches
from graphneg.store.connection import Store
from graphneg.store.contents import content_digest, texts_digest
from graphneg.store.corpus_data import check_selection, shared_content
from graphneg.store.dialogues import (
    Selection,
    StoredDialogue,
    count_dialogues,
    dialogue_ids,
    next_speaker,
    read_dialogues,
    read_responses,
    read_whole_graphs,
)

BATCH = 500
"""Number of dialogues that are read from the store at a time."""
NOT_XML = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Pattern that matches a character that XML does not allow."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Attributes:
        items: Number of records, graphs or dialogues in the file.
        was_complete: True if an earlier export with the same input had written the file already, so that this
            export wrote nothing.
    """

    items: int
    was_complete: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A file format, with functions that convert dialogues into items, such as records, and write them.

    Attributes:
        kind: Name of the type of the items, such as ``graphs``. It is stored in the files of shards.
        items: Function that takes some dialogues and yields pairs of a dialogue's id and an item of this
            dialogue.
        write: Function that writes items to a file and returns how many it has written.
        encode: Function that converts an item into a JSON value for the file of a shard.
        decode: Function that converts such a JSON value back into an item.
        leading_items: Function that yields the items that belong to no dialogue. They precede the items of
        dialogues.
    """

    kind: str
    items: Callable[[Store, Sequence[StoredDialogue]], Iterator[tuple[str, Any]]]
    write: Callable[[Iterable[Any], Path], int]
    encode: Callable[[Any], Any] = lambda item: item
    decode: Callable[[Any], Any] = lambda item: item
    leading_items: Callable[[Store], Iterator[Any]] = lambda store: iter(())


def export(
    store: Store,
    out: Path,
    selection: Selection,
    progress: Progress,
    *,
    overwrite: bool = False,
    form: Form | None = None,
    facts: Sequence[Any] = (),
) -> Exported:
    """Write the selected dialogues to a file.

    A temporary file in the same folder is written and renamed when it is complete. If the selection is a
    shard, only the file of this shard is written.

    Args:
        store: Store to export from.
        out: File to write.
        selection: Dialogues to export.
        progress: Progress display, which is advanced by the number of finished dialogues.
        overwrite: Whether to replace a file that an export with different input wrote.
        form: Format of the file; None chooses the format by the suffix of ``out``.
        facts: JSON values that determine the content of the file in addition to the store, such as options of
            the format. If one of the values has changed, the file is written again.

    Returns:
        The number of items in the file, and whether the file was complete before the call.
    """
    check_output(out, SUFFIXES if form is None else LINES)
    form = form or FORMS[out.suffix]
    check_selection(store, selection)
    settings = [__version__, form.kind, selection.conditions(), selection.limit, *facts]
    # Records contain only texts, so compute their digest without the graphs. An export of records then stays
    # valid if the texts are parsed again.
    content = (texts_digest if form.kind == RECORDS else content_digest)(store, selection)
    if selection.shard is not None:
        named = {"settings": settings}
        header = Header(str(selection.shard), form.kind, named, shared_content(store, selection))
        return _export_shard(store, out, selection, progress, form, header, content, overwrite)
    check_replaceable(out, overwrite)
    run = fingerprint([settings[0], store.description, *settings[1:], content])
    # If an earlier export of the same content wrote the file, there is nothing to do.
    if done := finished_run(out, run, overwrite):
        return Exported(done["items"], was_complete=True)
    progress.start("export", count_dialogues(store, selection), "dialogues")

    def items() -> Iterator[Any]:
        yield from form.leading_items(store)
        for batch in _batches(store, selection):
            yield from (item for _, item in form.items(store, batch))
            progress.advance(len(batch))

    try:
        with locking(out) as held, replacing(out, held.token) as unfinished:
            amount = form.write(items(), unfinished)
            note_finished(out, unfinished, run, held.token, items=amount)
    finally:
        progress.finish()
    return Exported(amount)


def _batches(
    store: Store, selection: Selection, skip: int = 0, after: str = ""
) -> Iterator[list[StoredDialogue]]:
    """Yield the selected dialogues in batches of at most `BATCH`."""
    ids = dialogue_ids(store, selection, skip, after)
    while batch := list(islice(ids, BATCH)):
        yield read_dialogues(store, batch)


def _export_shard(
    store: Store,
    out: Path,
    selection: Selection,
    progress: Progress,
    form: Form,
    header: Header,
    content_digest: str,
    overwrite: bool,
) -> Exported:
    """Write the file of a shard, or continue it if an earlier call was interrupted."""
    with open_shard(out, header, content_digest, overwrite=overwrite) as writer:
        resumed = writer.resumed
        progress.start("export", count_dialogues(store, selection), "dialogues")
        progress.advance(resumed.dialogues)

        def batches() -> Iterator[ShardBatch]:
            done = resumed.dialogues
            # Items that belong to no dialogue are in the first shard. Their sort keys are integers instead of
            # dialogue ids, so that they are sorted before the items of dialogues.
            is_first = not done and selection.shard is not None and selection.shard.index == 1
            first = enumerate(form.leading_items(store) if is_first else ())
            before = ((place, form.encode(item)) for place, item in first)
            for batch in _batches(store, selection, done, resumed.last):
                items = [(natural_order(id), form.encode(item)) for id, item in form.items(store, batch)]
                done += len(batch)
                yield ShardBatch(done, chain(before, items), natural_order(batch[-1].id))
                before = iter(())
                progress.advance(len(batch))
            # The loop writes the items that belong to no dialogue together with the first batch of dialogues.
            # If the shard has no dialogues, the loop has not run, so write these items here.
            if not done:
                yield ShardBatch(done, before)

        try:
            items = write_batches(writer, batches())
        finally:
            progress.finish()
    return Exported(items, resumed.is_complete)


def _positives(store: Store, dialogues: Sequence[StoredDialogue]) -> Iterator[tuple[str, Negative]]:
    """Yield a record for each dialogue, and a record for each response that was loaded with a dialogue.

    The context of a loaded response consists of the turns before this response.

    Yields:
        Pairs of a dialogue's id and a record of this dialogue.
    """
    responses = read_responses(store, [dialogue.id for dialogue in dialogues])
    for dialogue in dialogues:
        yield dialogue.id, positive_of(dialogue)
        # No speaker is stored for a loaded response, so use the speaker of the turn that the response
        # replaces. If the response answers the last turn, use the speaker who would speak next.
        speakers = {turn.turn: turn.speaker for turn in dialogue.turns}
        for id, turn, text, label, source in sorted(responses.get(dialogue.id, ())):
            before = [said for said in dialogue.turns if said.turn <= turn]
            yield (
                dialogue.id,
                Negative(
                    id=id,
                    corpus=dialogue.corpus,
                    split=dialogue.split,
                    dialogue=dialogue.id,
                    turn=turn + 1,
                    context=tuple(Turn(said.speaker, said.text) for said in before),
                    response=text,
                    speaker=speakers.get(turn + 1) or next_speaker(before),
                    label=label,
                    original=Original(None, None),
                    categories=(),
                    recipe=source,
                    target="response",
                    seed=0,
                    decoder="",
                    edits=(),
                    amr={},
                    scores={},
                ),
            )


def _graphs(store: Store, dialogues: Sequence[StoredDialogue]) -> Iterator[tuple[str, str]]:
    """Yield a pair for each graph of the dialogues: the id of the dialogue, and the graph as PENMAN text."""
    said = {
        turn.graph_id: (one.id, turn.text)
        for one in dialogues
        for turn in one.turns
        if turn.graph_id is not None
    }
    for graph in read_whole_graphs(store, list(said)):
        dialogue, text = said[graph.id]
        utterance, _, source = graph.id.rpartition("@")
        if source != GOLD and not graph.metadata:
            # A graph from a parser has no comment lines, so add lines with the id and the text of its
            # utterance.
            metadata = (f"# ::id {utterance}", f"# ::snt {' '.join(text.split())}")
            graph = replace(graph, metadata=metadata)
        yield dialogue, format_graph(graph)


def _networks(store: Store, dialogues: Sequence[StoredDialogue]) -> Iterator[tuple[str, Any]]:
    """Yield the id of each dialogue, and the dialogue with its graphs as lists of nodes and edges."""
    import networkx

    graphs = {g.id: g for g in read_whole_graphs(store, [id for d in dialogues for id in d.graphs])}
    for dialogue in dialogues:
        own: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
        _add_dialogue(own, dialogue, graphs)
        yield dialogue.id, [list(own.nodes(data=True)), list(own.edges(data=True))]


def _whole_dialogues(store: Store, dialogues: Sequence[StoredDialogue]) -> Iterator[tuple[str, Any]]:
    """Yield the id of each dialogue, and the dialogue with its graphs, responses and attributes."""
    return dialogue_values(store, [dialogue.id for dialogue in dialogues])


def _write_values(items: Iterable[Any], out: Path) -> int:
    """Write a header line and one JSON line per dialogue or other record. Return the number of dialogues."""
    count = 0
    with out.open("wb") as file:
        for value in chain([HEADER], items):
            file.write(json_line(value).encode() + b"\n")
            count += "turns" in value
    return count


def _write_jsonl(items: Iterable[Any], out: Path) -> int:
    """Write records as JSON Lines. Return the number of records."""
    with out.open("wb") as file:
        return write_lines(items, file)


def _write_penman(items: Iterable[Any], out: Path) -> int:
    """Write graphs, each followed by an empty line. Return the number of graphs."""
    count = 0
    with out.open("w", encoding="utf-8") as file:
        for text in items:
            file.write(text + "\n\n")
            count += 1
    return count


def _write_networks(items: Iterable[Any], out: Path) -> int:
    """Merge the networks of dialogues and write them as one GraphML file. Return the number of dialogues."""
    import networkx

    whole: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    count = 0
    for nodes, edges in items:
        whole.add_nodes_from((node, data) for node, data in nodes)
        whole.add_edges_from((*ends, data) for *ends, data in edges)
        count += 1
    write_graphml(whole, out)
    return count


def write_graphml(graph: Any, path: Path) -> None:
    r"""Write a networkx graph as GraphML.

    Characters that XML does not allow are escaped as in JSON, for example ``\u001b``. They are also replaced
    in the node and edge properties of the graph that is passed.

    Args:
        graph: A networkx graph whose node names are strings.
        path: File to write.
    """
    import networkx

    for *_, data in chain(graph.nodes(data=True), graph.edges(data=True)):
        data |= {key: _xml(value) for key, value in data.items() if isinstance(value, str)}
    # Renaming nodes copies the whole graph, so nodes are renamed only if a name contains a character to
    # escape.
    names = {node: _xml(node) for node in graph.nodes if NOT_XML.search(node)}
    networkx.write_graphml(networkx.relabel_nodes(graph, names) if names else graph, path)


def _xml(text: str) -> str:
    """Escape the characters of a text that XML does not allow."""
    return NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _add_dialogue(whole: Any, dialogue: StoredDialogue, graphs: dict[str, AmrGraph]) -> None:
    """Add a dialogue, its utterances and their AMR graphs to a networkx graph."""
    whole.add_node(dialogue.id, label="Dialogue", corpus=dialogue.corpus, split=dialogue.split)
    before: str | None = None
    for turn in dialogue.turns:
        id = f"{dialogue.id}#{turn.turn}"
        whole.add_node(id, label="Utterance", turn=turn.turn, speaker=turn.speaker, text=turn.text)
        whole.add_edge(dialogue.id, id, type="HAS_TURN")
        if before is not None:
            whole.add_edge(before, id, type="NEXT")
        before = id
        graph = graphs.get(turn.graph_id or "")
        if graph is not None:
            whole.add_edge(id, f"{graph.id}.0", type="MEANS")
            _add_graph(whole, graph)


def _add_graph(whole: Any, graph: AmrGraph) -> None:
    """Add the nodes and roles of an AMR graph to a networkx graph."""
    for node in graph.nodes:
        whole.add_node(f"{graph.id}.{node.position}", label="AmrNode", concept=node.label)
    edges = [(node.parent, node.position, node.role or "") for node in graph.nodes if node.parent is not None]
    edges += [(mention.parent, mention.target, mention.role) for mention in graph.mentions]
    for up, target, role in edges:
        # Edges run from the predicate to the argument, even if the PENMAN notation has the inverted role
        # (:ARG0-of).
        ends = (target, up) if is_inverted(role) else (up, target)
        name = role[:-3] if is_inverted(role) else role
        whole.add_edge(f"{graph.id}.{ends[0]}", f"{graph.id}.{ends[1]}", type="ROLE", role=name)


DIALOGUES = Form("dialogues", _whole_dialogues, _write_values, leading_items=resource_values)
"""The format for the export of a whole store, which the loader ``dialogues`` can read."""
_RECORDS = Form(RECORDS, _positives, _write_jsonl, to_record, from_record)
_PENMAN = Form("graphs", _graphs, _write_penman)
FORMS = {
    ".jsonl": _RECORDS,
    ".parquet": replace(_RECORDS, write=write_rows),
    ".amr": _PENMAN,
    ".penman": _PENMAN,
    ".graphml": Form("networks", _networks, _write_networks),
}
"""The file formats, keyed by file suffix."""
SUFFIXES = tuple(FORMS)
"""File suffixes that `export` accepts if no format is passed."""
LINES = (".json", ".jsonl")
"""File suffixes that `export` accepts if a format is passed; such formats write JSON Lines."""
