"""Tests of `DialogueGraph.negatives`: reproducible, well formed, stored and resumable negatives."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphneg.amr.penman import format_graph, parse_graph
from graphneg.amr.wellformed import check
from graphneg.decoders.base import Decoder, get_decoder
from graphneg.dialogue_graph import DialogueGraph
from graphneg.editing.generation import Negatives
from graphneg.editing.proposals import MOST_EDITS
from graphneg.editing.transforms import load_transforms
from graphneg.english.tokens import sentences
from graphneg.errors import InputError, TransformError
from graphneg.ids import natural_order
from graphneg.model import Decoded, EditedUtterance, Negative
from graphneg.progress import Progress
from graphneg.records.files import negative_to_json, read_jsonl
from graphneg.records.resumable import NegativeStream
from graphneg.store.connection import Store
from graphneg.store.contents import content_digest, texts_digest
from graphneg.store.dialogues import GraphCache, Selection, dialogue_ids
from tests.interrupting import StopsAt
from tests.servers import wipe, write_past_graphneg
from tests.speller import Speller

DIALOGUES = 12
"""Number of bundled dialogues in most tests: enough sites for every transform in little time."""

DOUBT = """// doubt: Puts what is said in doubt.
// category: C-cont
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.position = 0 AND n.frame
RETURN d.id AS dialogue,
  collect({amr: t.amr, position: 0, op: 'wrap', concept: 'CONCEPT', role: 'ARG1'}) AS edits
"""


class Interrupted:
    """Wrap a decoder and raise KeyboardInterrupt after `calls` batches."""

    def __init__(self, decoder: Decoder, calls: int) -> None:
        self.name = decoder.name
        self._decoder = decoder
        self._calls = calls

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        self._calls -= 1
        if self._calls < 0:
            raise KeyboardInterrupt
        return self._decoder.decode(batch)


@pytest.fixture(scope="module")
def dialogues(store: Store) -> Generator[DialogueGraph]:
    """Load the bundled corpus on each server."""
    wipe(store)
    graph = DialogueGraph(store)
    graph.load("everyday")
    yield graph
    wipe(store)


def lines(negatives: Iterable[Negative]) -> list[str]:
    return [negative_to_json(one) for one in negatives]


def made(dialogues: DialogueGraph, **options: Any) -> list[Negative]:
    return list(
        dialogues.negatives(**{"limit": DIALOGUES, "splits": ["train"], "decoder": Speller(), **options})
    )


def write(negatives: Negatives, out: Path) -> None:
    if out.suffix == ".parquet":
        negatives.to_parquet(out)
    else:
        negatives.to_jsonl(out)


def transform_folder(folder: Path, query: str, name: str = "doubt") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.cypher").write_text(query, encoding="utf-8")
    return folder


def amounts(dialogues: DialogueGraph) -> dict[str, int]:
    return {kind: dialogues.info().counts[kind] for kind in ("Variant", "Edit", "AmrNode", "Term")}


ORIGINAL: dict[tuple[str, str], list[str]] = {}
"""Output of each recipe and decoder on the first server, which the other server must repeat."""


class TestReproducibility:
    @pytest.mark.parametrize("recipe", ["deam", "all"])
    @pytest.mark.parametrize("decoder", ["surface", "speller"])
    @pytest.mark.parametrize("batch", [1, 7, 200])
    def test_output_is_the_same_for_every_batch_and_server(
        self, dialogues: DialogueGraph, recipe: str, decoder: str, batch: int
    ) -> None:
        chosen = Speller() if decoder == "speller" else decoder
        found = lines(made(dialogues, recipe=recipe, decoder=chosen, batch=batch, per_dialogue=2))
        assert len(found) > DIALOGUES / 2
        assert found == ORIGINAL.setdefault((recipe, decoder), found)

    def test_files_do_not_depend_on_the_batch(self, dialogues: DialogueGraph, tmp_path: Path) -> None:
        for name, batch in (("one", 3), ("two", 50)):
            dialogues.negatives(
                "all", limit=DIALOGUES, splits=["train"], decoder=Speller(), batch=batch
            ).to_jsonl(tmp_path / f"{name}.jsonl")
        first = (tmp_path / "one.jsonl").read_bytes()
        assert first and first == (tmp_path / "two.jsonl").read_bytes()
        assert first.decode().splitlines() == lines(made(dialogues, recipe="all"))

    def test_the_limit_does_not_change_the_negatives_of_the_first_dialogues(
        self, dialogues: DialogueGraph
    ) -> None:
        few, many = made(dialogues, limit=4), made(dialogues, limit=8)
        assert lines(few) == lines(many)[: len(few)]

    def test_dialogues_without_graphs_do_not_count_for_the_limit(self, dialogues: DialogueGraph) -> None:
        """The test split comes first in the bundled corpus, and its dialogues have no graphs."""
        few = dialogues.negatives("all", limit=3, decoder=Speller())
        assert len({one.dialogue for one in few}) == 3
        assert not few.summary.skipped

    def test_another_seed_gives_other_negatives(self, dialogues: DialogueGraph) -> None:
        one, other = made(dialogues, recipe="deam"), made(dialogues, recipe="deam", seed=1)
        assert not {n.id for n in one} & {n.id for n in other}
        assert {str(n.edits) for n in one} != {str(n.edits) for n in other}


class TestNegatives:
    @pytest.fixture(scope="class", params=["deam", "contradiction", "all"])
    def negatives(self, request: pytest.FixtureRequest, dialogues: DialogueGraph) -> list[Negative]:
        return list(dialogues.negatives(request.param, per_dialogue=4))

    def test_ids_are_unique_and_the_number_per_dialogue_is_limited(self, negatives: list[Negative]) -> None:
        assert negatives
        assert len({one.id for one in negatives}) == len(negatives)
        by_dialogue: dict[str, int] = {}
        for one in negatives:
            by_dialogue[one.dialogue] = by_dialogue.get(one.dialogue, 0) + 1
        assert max(by_dialogue.values()) <= 4

    def test_negatives_differ_from_the_original_and_each_other(self, negatives: list[Negative]) -> None:
        seen: set[tuple[str, ...]] = set()
        for one in negatives:
            said = tuple(turn.text for turn in one.context)
            context = one.original.context
            before = said if context is None else tuple(turn.text for turn in context)
            response = one.original.response
            edited = {int(turn) for turn in one.amr}
            assert edited == {
                turn for turn, (a, b) in enumerate(zip(said, before, strict=True)) if a != b
            } | (set() if response is None else {one.turn})
            assert response is None or one.response.casefold() != response.casefold()
            key = (one.dialogue, *said, one.response)
            assert key not in seen
            seen.add(key)

    def test_edited_graphs_are_well_formed(self, negatives: list[Negative]) -> None:
        for one in negatives:
            assert one.amr
            for graphs in one.amr.values():
                after = parse_graph(graphs.after)
                assert check(after) == []
                assert format_graph(after) == graphs.after != graphs.before

    def test_edits_name_the_edited_turns(self, negatives: list[Negative]) -> None:
        for one in negatives:
            assert {str(edit.turn) for edit in one.edits} == set(one.amr)
            assert set(one.categories) == {edit.category for edit in one.edits}
            assert all(edit.before or edit.after for edit in one.edits)
            assert all(edit.before != edit.after for edit in one.edits)

    def test_the_target_response_leaves_the_context_unchanged(self, dialogues: DialogueGraph) -> None:
        found = made(dialogues, recipe="deam", target="response", per_dialogue=3)
        assert found
        for one in found:
            assert one.original.context is None
            assert set(one.amr) == {str(one.turn)}
            assert one.response != one.original.response

    def test_the_target_dialogue_edits_any_turn(self, dialogues: DialogueGraph) -> None:
        turns = {
            int(turn)
            for one in made(dialogues, recipe="all", target="dialogue", limit=50)
            for turn in one.amr
        }
        assert len(turns) > 3

    def test_dialogues_with_negatives_do_not_depend_on_per_dialogue(self, dialogues: DialogueGraph) -> None:
        assert {one.dialogue: 1 for one in made(dialogues, recipe="all")} == {
            one.dialogue: 1 for one in made(dialogues, recipe="all", per_dialogue=3)
        }

    def test_only_the_named_transforms_are_used(self, dialogues: DialogueGraph) -> None:
        found = made(dialogues, transforms=["self_contradiction", "person_swap"], per_dialogue=3, limit=50)
        assert {edit.transform for one in found for edit in one.edits} == {
            "self_contradiction",
            "person_swap",
        }

    def test_negatives_of_a_dialogue_add_different_words(self, dialogues: DialogueGraph) -> None:
        found = made(dialogues, transforms=["self_contradiction"], target="response", per_dialogue=4)
        new = [{*sentences(one.response)} - {*sentences(one.original.response)} for one in found]
        wrong = [(one.dialogue, *sorted(texts)) for one, texts in zip(found, new, strict=True)]
        assert len(wrong) == len({*wrong}) > len({one.dialogue for one in found})

    def test_split_and_corpus_limit_the_dialogues(self, dialogues: DialogueGraph) -> None:
        assert made(dialogues, corpora=["everyday"], splits=["train"])
        assert made(dialogues, corpora=["other"]) == []

    def test_a_statement_comes_in_a_second_frame_only_after_all_other_edits(
        self, dialogues: DialogueGraph
    ) -> None:
        found = made(dialogues, recipe="all", per_dialogue=3)
        repeated = Counter(
            (one.dialogue, one.error_type, one.evidence.words) for one in found if one.evidence
        )
        assert len(repeated) > DIALOGUES and max(repeated.values()) == 1


class TestMissingNegatives:
    @pytest.mark.parametrize("recipe", ["all", "deam"])
    @pytest.mark.parametrize("per_dialogue", [1, 60])
    def test_missing_negatives_are_counted_once_and_not_by_attempt(
        self, dialogues: DialogueGraph, recipe: str, per_dialogue: int
    ) -> None:
        """Dialogues without graphs are counted; a refused edit is not if another one replaced it."""
        negatives = dialogues.negatives(recipe, per_dialogue=per_dialogue)
        found = list(negatives)
        missing = negatives.summary.skipped
        assert len(found) + missing.total() == 50 * per_dialogue
        assert missing["no-graph"] == 32 * per_dialogue
        assert per_dialogue == 1 or recipe == "deam" or set(missing) > {"no-graph"}


class TestStore:
    def test_a_repeated_run_adds_nothing_to_the_store(self, dialogues: DialogueGraph) -> None:
        first = lines(made(dialogues, recipe="deam", seed=3))
        once = amounts(dialogues)
        assert lines(made(dialogues, recipe="deam", seed=3, batch=5)) == first
        assert amounts(dialogues) == once

    def test_the_store_has_every_edit_of_every_variant(self, dialogues: DialogueGraph) -> None:
        made(dialogues, recipe="deam", seed=4)
        rows = dialogues.cypher(
            "MATCH (v:Variant {seed: 4}) OPTIONAL MATCH (v)-[s:APPLIED]->(e:Edit)-[:AT]->(n:AmrNode) "
            "WITH v, s.step AS step ORDER BY step RETURN v.id AS id, collect(step) AS steps"
        )
        assert len(rows) and all(row["steps"] == list(range(len(row["steps"]))) for row in rows)

    def test_explain_gives_each_negative_as_it_was_made(self, dialogues: DialogueGraph) -> None:
        for one in dialogues.negatives("deam", splits=["train"], limit=3, per_dialogue=2):
            explained = dialogues.explain(one.id)
            assert negative_to_json(explained.negative) == negative_to_json(one)
            assert explained.refused == {}

    def test_stored_negatives_can_be_read_again(self, dialogues: DialogueGraph) -> None:
        new = {one.id: one for one in dialogues.negatives("deam", splits=["train"], limit=5, seed=8)}
        kept = [one for one in dialogues.stored_negatives() if one.seed == 8]
        assert new and [one for one in kept if one.id in new] == [
            new[id] for id in sorted(new, key=natural_order)
        ]

    def test_explain_refuses_unknown_ids(self, dialogues: DialogueGraph) -> None:
        with pytest.raises(InputError, match="no negative with this id"):
            dialogues.explain("everyday/train/1#1~deam.999.0")

    def test_materialize_adds_edited_graphs(self, dialogues: DialogueGraph) -> None:
        [one, *_] = made(dialogues, recipe="all", seed=5)
        before = amounts(dialogues)["AmrNode"]
        assert dialogues.materialize([one.id]) == len(one.amr)
        assert dialogues.materialize([one.id]) == 0
        added = sum(len(parse_graph(graphs.after).nodes) for graphs in one.amr.values())
        assert amounts(dialogues)["AmrNode"] == before + added
        found = dialogues.cypher(
            "MATCH (:Variant {id: $id})-[:MEANS]->(:Amr)-[:TOP]->(n:AmrNode) RETURN n.concept AS top",
            id=one.id,
        )
        assert {row["top"] for row in found} == {parse_graph(g.after).top.concept for g in one.amr.values()}


class TestResuming:
    @pytest.mark.parametrize("calls", [0, 1, 3])
    @pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
    def test_a_resumed_run_gives_the_same_bytes(
        self, dialogues: DialogueGraph, tmp_path: Path, calls: int, suffix: str
    ) -> None:
        options: dict[str, Any] = {
            "recipe": "deam",
            "limit": DIALOGUES,
            "splits": ["train"],
            "batch": 3,
            "seed": 6,
        }
        whole, part = tmp_path / f"whole{suffix}", tmp_path / f"part{suffix}"
        surface = get_decoder("surface")
        negatives = dialogues.negatives(decoder=surface, **options)
        write(negatives, whole)
        with pytest.raises(KeyboardInterrupt):
            write(dialogues.negatives(decoder=Interrupted(surface, calls), **options), part)
        assert not part.exists()
        resumed = dialogues.negatives(decoder=surface, **options)
        write(resumed, part)
        assert part.read_bytes() == whole.read_bytes()
        assert resumed.summary.state() == negatives.summary.state()

    @pytest.mark.parametrize("method", ["negatives", "generate"])
    def test_a_load_during_a_stopped_run_restarts_it(
        self, dialogues: DialogueGraph, tmp_path: Path, method: str
    ) -> None:
        """The added dialogues sort before the finished ones, so skipping the first N would be wrong."""

        def stream(progress: Progress | None = None) -> NegativeStream:
            if method == "negatives":
                return dialogues.negatives("all", decoder=Speller(), batch=3, progress=progress)
            return dialogues.generate("turn-shuffle", batch=3, progress=progress)

        out, fresh = tmp_path / "out.jsonl", tmp_path / "fresh.jsonl"
        with pytest.raises(KeyboardInterrupt):
            stream(StopsAt(33)).to_jsonl(out)
        added = tmp_path / "added.jsonl"
        turns = [{"text": text, "amr": amr} for text, amr in 2 * SAID]
        rows = (json.dumps({"id": f"{number}", "turns": turns}) for number in range(5))
        added.write_text("\n".join(rows), encoding="utf-8")
        dialogues.load("dialogues", added, name="aardvark")
        try:
            resumed = stream()
            resumed.to_jsonl(out)
            assert "has changed since the run was started" in (resumed.resumed.discarded or "")
            ids = [negative.id for negative in read_jsonl(out)]
            assert len(set(ids)) == len(ids)
            assert "aardvark" in {id.partition("/")[0] for id in ids}
            stream().to_jsonl(fresh)
            assert out.read_bytes() == fresh.read_bytes()
            again = stream()
            again.to_jsonl(out)
            assert again.resumed.is_complete
        finally:
            for label in ("Variant", "AmrNode", "Amr", "Utterance", "Dialogue"):
                dialogues.cypher_write(f"MATCH (n:{label}) WHERE n.id STARTS WITH 'aardvark' DETACH DELETE n")
        with pytest.raises(InputError, match="made with other settings or from other content"):
            stream().to_jsonl(out)

    def test_a_resumed_run_continues_after_the_last_dialogue_id(self, dialogues: DialogueGraph) -> None:
        """A page starts after the id of the last dialogue and not after a number of dialogues."""
        ids = list(dialogue_ids(dialogues.store, Selection()))
        for limit in (None, 20):
            selection = Selection(limit=limit)
            rest = dialogue_ids(dialogues.store, selection, 7, natural_order(ids[6]), page=4)
            assert list(rest) == ids[7:limit]
            assert list(dialogue_ids(dialogues.store, selection, 7, page=4)) == ids[7:limit]


SAID = [
    ("I like slow trains.", "(l / like-01 :ARG0 (i / i) :ARG1 (t / train :ARG1-of (s / slow-05)))"),
    ("Do you like them?", "(l / like-01 :polarity (a / amr-unknown) :ARG0 (y / you) :ARG1 (t / they))"),
]


CHANGES = [
    ("(n:Utterance)", "n.text"),
    ("(n:Utterance)", "n.speaker"),
    ("(:Utterance)-[:HAS_RESPONSE]->(n:Response)", "n.text"),
    ("(n:AmrNode)", "n.concept"),
    ("(:AmrNode)-[n:ROLE]->(:AmrNode)", "n.role"),
    ("(:Term)-[n:OPPOSITE]->(:Term)", "n.relation"),
    ("(:Term)-[n:SHIFTS_TO]->(:Term)", "n.count"),
    ("(n:Frame)", "n.lemma"),
]
"""A pattern of the data that a run reads, and a property to change."""
ENOUGH = "MATCH (a:Term) WITH a ORDER BY a.text LIMIT 3 MERGE (a)-[:SHIFTS_TO {count: 1}]->(a)"


class TestContentDigest:
    """The content digest, by which a resumed run notices that the store has changed."""

    def test_generation_does_not_change_the_digest(self, dialogues: DialogueGraph) -> None:
        before = content_digest(dialogues.store, Selection())
        made(dialogues, recipe="all", seed=99)
        for generator in ("turn-shuffle", "overlap"):
            list(dialogues.generate(generator, limit=3))
        list(dialogues.negatives("hard", limit=3))
        dialogues.materialize([made(dialogues, recipe="all", seed=99)[0].id])
        assert content_digest(dialogues.store, Selection()) == before

    @pytest.mark.parametrize(
        "added",
        [
            "CREATE (n:Parse {id: 'added'})",
            "CREATE (n:Frame {id: 'added-01'})",
            "CREATE (n:Dialogue {id: 'added', order: 'added', corpus: 'added', split: 'all', digest: 'x'})",
            "MATCH (a:Term) WITH a LIMIT 1 CREATE (a)-[:SHIFTS_TO {count: 1}]->(n:Term {text: 'added'})",
        ],
    )
    def test_added_data_change_the_digest(self, dialogues: DialogueGraph, added: str) -> None:
        selection = Selection(corpora=("everyday",), limit=5)
        before = content_digest(dialogues.store, selection)
        write_past_graphneg(dialogues.store, added)
        assert content_digest(dialogues.store, selection) != before
        removed = "MATCH (n) WHERE n.id STARTS WITH 'added' OR n.text = 'added' DETACH DELETE n"
        write_past_graphneg(dialogues.store, removed)
        assert content_digest(dialogues.store, selection) == before

    @pytest.mark.parametrize(("there", "property"), CHANGES)
    def test_changed_data_change_the_digest(
        self, dialogues: DialogueGraph, there: str, property: str
    ) -> None:
        write_past_graphneg(dialogues.store, ENOUGH)
        before = content_digest(dialogues.store, Selection())
        [row] = dialogues.cypher(f"MATCH {there} RETURN {property} AS value ORDER BY value LIMIT 1")
        change = f"MATCH {there} WHERE {property} = $before WITH * LIMIT 1 SET {property} = $after"
        write_past_graphneg(dialogues.store, change, before=row["value"], after="another")
        assert content_digest(dialogues.store, Selection()) != before
        write_past_graphneg(dialogues.store, change, before="another", after=row["value"])
        assert content_digest(dialogues.store, Selection()) == before

    @pytest.mark.parametrize(("there", "property"), [*CHANGES, ("(n:AmrNode {position: 0})", "n.repeatable")])
    def test_writes_through_graphneg_change_the_digest(
        self, dialogues: DialogueGraph, there: str, property: str
    ) -> None:
        write_past_graphneg(dialogues.store, ENOUGH)
        before = texts_digest(dialogues.store, Selection(limit=1))
        change = f"MATCH {there} WHERE {property} IS NOT NULL WITH * LIMIT 1 SET {property} = {property}"
        dialogues.cypher_write(change)
        assert texts_digest(dialogues.store, Selection(limit=1)) != before

    def test_a_load_without_new_data_keeps_the_digest(self, dialogues: DialogueGraph) -> None:
        before = content_digest(dialogues.store, Selection())
        assert not dialogues.load("everyday").written.total()
        dialogues.cypher_write("MATCH (n:Dialogue {id: 'none'}) SET n.split = 'none'")
        assert content_digest(dialogues.store, Selection()) == before


class TestUserTransforms:
    def test_transforms_of_a_folder_are_used(self, dialogues: DialogueGraph, tmp_path: Path) -> None:
        folder = transform_folder(tmp_path / "own", DOUBT.replace("CONCEPT", "possible-01"))
        found = made(dialogues, transforms=["doubt"], folders=[folder])
        assert len(found) >= DIALOGUES / 2
        for one in found:
            assert one.recipe == "doubt"
            assert one.response.startswith("possible_01 ")
            assert one.categories == ("C-cont",)

    def test_a_changed_transform_makes_negatives_with_new_ids(
        self, dialogues: DialogueGraph, tmp_path: Path
    ) -> None:
        denied = "{amr: t.amr, position: -1, op: 'add', role: 'polarity', value: '-', site: t.amr + '.0'}"
        query = DOUBT.replace("'ARG1'})", f"'ARG1'}}) + collect({denied})")
        folder = transform_folder(tmp_path / "own", query.replace("CONCEPT", "possible-01"))
        before = made(dialogues, transforms=["doubt"], folders=[folder])
        transform_folder(folder, query.replace("CONCEPT", "obligate-01"))
        after = made(dialogues, transforms=["doubt"], folders=[folder])
        stems = [[one.id.rpartition(".")[0] for one in some] for some in (before, after)]
        assert stems[0] == stems[1] and {one.id for one in before}.isdisjoint(one.id for one in after)
        assert all(one.response.startswith("obligate_01 | _ ") for one in after)
        assert dialogues.explain(before[0].id, Speller()).negative == before[0]
        assert dialogues.explain(after[0].id, Speller()).negative == after[0]

    def test_newer_edits_replace_those_of_the_same_id(self, dialogues: DialogueGraph) -> None:
        older = made(dialogues, transforms=["polarity_flip"], sites=1)
        newer = made(dialogues, transforms=["polarity_flip"], sites=9)
        assert {one.id for one in newer} & {one.id for one in older}
        stored = dialogues.cypher("MATCH (v:Variant) RETURN count(*) AS all, count(DISTINCT v.id) AS ids")
        assert stored[0]["all"] == stored[0]["ids"]
        assert all(dialogues.explain(one.id, Speller()).negative == one for one in newer)

    def test_a_copy_of_a_shipped_transform_makes_the_same_negatives(
        self, dialogues: DialogueGraph, tmp_path: Path
    ) -> None:
        folder = transform_folder(tmp_path / "own", load_transforms()["polarity_flip"].query, "polarity_flip")
        copied = made(dialogues, transforms=["polarity_flip"], folders=[folder])
        assert copied == made(dialogues, transforms=["polarity_flip"]) and copied

    def test_unknown_frames_in_edits_are_noted(self, dialogues: DialogueGraph, tmp_path: Path) -> None:
        folder = transform_folder(tmp_path / "own", DOUBT.replace("CONCEPT", "mistrust-77"))
        stream = dialogues.negatives(transforms=["doubt"], folders=[folder], decoder=Speller())
        assert stream.notes == []
        for _ in range(2):
            amount = len(list(stream))
            [told] = stream.notes
            assert told.startswith("transform doubt: mistrust-77 is neither a PropBank frame nor")
            assert f"({amount:,} edits)" in told
        dialogues.cypher_write("CREATE (:Frame {id: 'mistrust-77', lemma: 'mistrust'})")
        try:
            stream = dialogues.negatives(transforms=["doubt"], folders=[folder], decoder=Speller())
            assert len(list(stream)) == amount and stream.notes == []
        finally:
            dialogues.cypher_write("MATCH (f:Frame {id: 'mistrust-77'}) DELETE f")

    @pytest.mark.parametrize(
        ("old", "new", "reason"),
        [
            ("category: C-cont", "category: C-odd", "'// category:' must be one of"),
            ("// doubt: Puts", "// Puts", "the first line must be '// doubt: what it does'"),
            ("$dialogues", "[]", r"does not read \$dialogues"),
            ("RETURN", "CREATE (:Term) RETURN", "writes nothing"),
            # The text check takes `as CREATE` for an alias, so only the server can refuse this write.
            (
                "RETURN",
                "WITH *, 1 AS as CREATE (:Term {text: 'hacked'}) RETURN",
                r"doubt\.cypher: .*only read",
            ),
            ("RETURN", "RETURNING", r"doubt\.cypher: the query is not valid Cypher"),
            ("AS edits", "AS changes", r"it returned dialogue \(text\), changes \(list\)"),
            (" AS edits", "[0] AS edits", r"it returned dialogue \(text\), edits \(map\)"),
            ("category: C-cont", "category: C-cont\n// needs: antonyms", "must be one of .*, not 'antonyms'"),
            (
                "category: C-cont",
                "category: C-cont\n// needs: (claims)",
                r"must be one of .*, not '\(claims\)'",
            ),
            ("d.id AS dialogue", "d.id + 'x' AS dialogue", "is not one of the requested dialogues"),
            ("d.id AS dialogue", "[d.id] AS dialogue", "must return 'dialogue' and 'edits'"),
            ("d.id AS dialogue", "{id: d.id} AS dialogue", "must return 'dialogue' and 'edits'"),
            ("'wrap'", "'warp'", "op 'warp' is not one of add, drop, graft, say, set, wrap"),
            ("op: 'wrap'", "op: 'wrap', target: 'reply'", "target 'reply' is not one of dialogue, response"),
            ("role:", "`rôle`:", "unknown key 'rôle'"),
            ("role: 'ARG1'", "rank: 'ARG1'", "unknown key 'rank'"),
            ("role: 'ARG1'", "role: 1", "role must be text, not 1"),
            ("position: 0", "position: 'top'", "position must be an integer, not 'top'"),
            ("position: 0", "position: true", "position must be an integer, not True"),
            ("position: 0", "position: 0, score: true", "score must be an integer, not True"),
            (
                "position: 0",
                "position: 0, from_position: false",
                "from_position must be an integer, not False",
            ),
            ("position: 0", "position: null", "is not a node of the dialogue"),
            ("position: 0", "position: 999", "doubt: there is no node 999 in graph everyday/"),
            ("amr: t.amr, position", "amr: 'other', position", "'other'.0 is not a node of the dialogue"),
            (
                "op: 'wrap'",
                "op: 'graft', from_amr: 'other', from_position: 0",
                "from_amr 'other' is neither a graph of",
            ),
            ("op: 'wrap'", "op: 'graft', from_amr: t.amr", "from_amr needs from_position"),
            (
                "op: 'wrap'",
                "op: 'say', from_amr: t.amr, from_position: null, voice: 'own', frame: 'claim'",
                "from_amr needs from_position",
            ),
            (
                "op: 'wrap'",
                "op: 'say', from_amr: t.amr, from_position: 0",
                "voice None is not one of own, other",
            ),
            ("op: 'wrap'", "op: 'say', voice: 'own', frame: 'why'", "'why' is not one of claim, said"),
            ("op: 'wrap'", "op: 'say', voice: 'own', frame: 'claim'", "'say' needs position 0 and from_amr"),
            (
                "op: 'wrap'",
                "op: 'graft', from_amr: t.amr, from_position: 999",
                "there is no node 999 in graph",
            ),
        ],
    )
    def test_invalid_transforms_are_refused(
        self, dialogues: DialogueGraph, tmp_path: Path, old: str, new: str, reason: str
    ) -> None:
        query = DOUBT.replace("CONCEPT", "possible-01")
        assert old in query
        folder = transform_folder(tmp_path / "own", query.replace(old, new))
        with pytest.raises(TransformError, match=reason):
            made(dialogues, transforms=["doubt"], folders=[folder])

    @pytest.mark.parametrize("site", ["'one'", "toString(at)"])
    def test_too_many_edits_of_a_graph_are_refused(
        self, dialogues: DialogueGraph, tmp_path: Path, site: str
    ) -> None:
        query = (
            "// many: Adds the same word many times.\n// category: C-cont\n"
            "UNWIND $dialogues AS d WITH d, [t IN d.turns WHERE t.amr IS NOT NULL][0] AS t\n"
            "UNWIND range(1, AMOUNT) AS at\n"
            f"RETURN d.id AS dialogue, collect({{amr: t.amr, position: 0, site: {site},\n"
            "  op: 'add', role: 'mod', concept: 'very'}) AS edits"
        )
        some: dict[str, Any] = {"transforms": ["many"], "limit": 1}
        allowed = transform_folder(tmp_path / "few", query.replace("AMOUNT", "200"), "many")
        made(dialogues, folders=[allowed], **some)
        folder = transform_folder(tmp_path / "own", query.replace("AMOUNT", str(MOST_EDITS + 1)), "many")
        with pytest.raises(
            TransformError, match=r"many\.cypher: the query returned 2,001 edits of the graph"
        ):
            made(dialogues, folders=[folder], **some)

    def test_edits_that_break_a_graph_are_counted(self, dialogues: DialogueGraph, tmp_path: Path) -> None:
        folder = transform_folder(tmp_path / "own", DOUBT.replace("CONCEPT", "two words"))
        negatives = dialogues.negatives(
            transforms=["doubt"], folders=[folder], splits=["train"], decoder=Speller()
        )
        assert list(negatives) == []
        assert any(reason.startswith("ill-formed") for reason in negatives.summary.skipped)

    def test_a_folder_without_transforms_is_refused(self, dialogues: DialogueGraph, tmp_path: Path) -> None:
        with pytest.raises(TransformError, match=r"no folder with \.cypher files"):
            made(dialogues, folders=[tmp_path])

    def test_an_unknown_transform_is_named(self, dialogues: DialogueGraph) -> None:
        with pytest.raises(InputError, match="no transform named 'doubt'; choose one of antonym_claim, "):
            made(dialogues, transforms=["doubt"])


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"recipe": "none"}, "no recipe named 'none'"), ({"target": "context"}, "target 'context'"),
     ({"per_dialogue": 0}, "negatives per dialogue"), ({"batch": 0}, "the batch size must be at least 1")],
)  # fmt: skip
def test_invalid_options_are_refused(dialogues: DialogueGraph, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        made(dialogues, **options)


class TestGraphCache:
    def test_cached_graphs_are_read_again_for_another_digest(self, dialogues: DialogueGraph) -> None:
        [row] = dialogues.store.read(
            "MATCH (a:Amr)-[:TOP]->(n:AmrNode) RETURN a.id AS id, n.concept AS top ORDER BY id LIMIT 1"
        )
        id, top = row["id"], row["top"]
        rename = (
            "MATCH (n:AmrNode {amr: $id}) WHERE n.position = 0 SET n.concept = $concept RETURN n.position"
        )
        graph_cache = GraphCache(dialogues.store)
        assert graph_cache.get([id], {id: "first"})[id].top.concept == top
        dialogues.cypher_write(rename, id=id, concept="other")
        try:
            assert graph_cache.get([id], {id: "first"})[id].top.concept == top
            assert graph_cache.get([id])[id].top.concept == top
            assert graph_cache.get([id], {id: "second"})[id].top.concept == "other"
        finally:
            dialogues.cypher_write(rename, id=id, concept=top)
