"""Tests of swapping "I" and "you" when a speaker denies what the other one said."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphneg.parsers.base import get_parser
from graphneg.store.connection import Store
from tests.loaded_dialogues import loaded
from tests.servers import wipe

DENY_BACK = """// deny-back: The reply denies what the other speaker has just said.
// category: C-cont
UNWIND $dialogues AS d UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
OPTIONAL MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'speaker'}]->(x:Term)
WITH d.id AS dialogue, collect({n: n, turn: t.turn, position: n.position, amr: n.amr, other: x.text}) AS ns
UNWIND [p IN ns WHERE p.n.clause_type = 'statement' AND p.n.repeatable IS NOT NULL] AS p
UNWIND [r IN ns WHERE r.position = 0 AND r.turn = p.turn + 1] AS r
WITH dialogue, p, r, [m IN ns WHERE m.amr = p.amr AND p.n.sentence_top IN m.n.pronoun_sentences] AS said
UNWIND [{position: 0, op: 'graft', from_amr: p.amr, from_position: p.n.sentence_top}]
  + [m IN said | {position: m.position, op: 'set', concept: m.other, copy_of: p.amr}]
  + [{position: p.position, op: 'add', role: 'polarity', value: '-', copy_of: p.amr}] AS edit
RETURN dialogue, collect(edit {.*, amr: r.amr,
  site: r.amr + '<' + p.amr + '.' + toString(p.position)}) AS edits
"""

SAID = {
    "I'm leaving tomorrow. I'm packing my bags.": "You're not packing your bags.",
    "I have a hobby. I like writing poems.": "You don't like writing poems.",
    "I have a sister. I live with my sister.": "You don't live with your sister.",
    "I was tired. I've been working at the bank.": "You haven't been working at the bank.",
    "I need a break. I'm going to the beach.": "You're not going to the beach.",
    "I moved here. My brother is living with me.": "Your brother isn't living with you.",
    "We met in May. We started learning Spanish.": "You didn't start learning Spanish.",
    "I called him. He is helping me with my project.": "He isn't helping you with your project.",
    "You look busy. You're packing your bags.": "I'm not packing my bags.",
    "I love music. I play the guitar.": "You don't play the guitar.",
}


@pytest.fixture(scope="module")
def texts(embedded: Store, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("deixis")
    talks = [{"id": f"d{i}", "turns": [{"text": said}, {"text": "Good."}]} for i, said in enumerate(SAID)]
    Path(folder / "deny-back.cypher").write_text(DENY_BACK)
    graph = loaded(embedded, folder, "talks", talks)
    graph.parse(get_parser("dependency"))
    made = graph.negatives(transforms=["deny-back"], folders=[folder], target="response", per_dialogue=2)
    found = {negative.response for negative in made}
    wipe(embedded)
    return found


@pytest.mark.parametrize("said", SAID)
def test_a_denial_by_the_other_speaker_swaps_all_pronouns(texts: set[str], said: str) -> None:
    assert SAID[said] in texts, texts
