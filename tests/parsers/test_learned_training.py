"""Tests of the training of the dependency parser: alignment of gold graphs, and model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphneg.amr.penman import parse_graph
from graphneg.parsers.dependency.learned.arcs import denial_features, denials
from graphneg.parsers.dependency.learned.tables import GroupSums, Model, read_model
from graphneg.parsers.dependency.parser import write_draft
from graphneg.parsers.dependency.text import load_model
from tools.parser_arcs import joined, train_denial
from tools.parser_lessons import Anchoring, match_nodes, read_frames, words_of
from tools.parser_networks import write_model
from tools.parser_training import read_items

FRAMES = """
<frameset><predicate lemma="hum"><roleset id="hum.01" name="hum">
<aliases><alias pos="v">hum</alias><alias pos="n">humming</alias></aliases>
<roles><role descr="hummer" f="PAG" n="0"/>
<role descr="tune" f="PPT" n="1"/></roles>
<usagenotes><usage resource="AMR" version="2019" inuse="+"/></usagenotes>
<example name="a">
<text>She hummed a tune .</text><propbank><rel relloc="1">hummed</rel>
<arg type="ARG0" start="0" end="0">She</arg>
<arg type="ARG1" start="2" end="3">a tune</arg></propbank></example>
</roleset></predicate></frameset>"""
GRAPH = """# ::snt The baker did not sleep.
(s / sleep-01 :polarity - :ARG0 (p / person :ARG0-of (b / bake-01)))
"""


def test_gold_nodes_are_aligned_to_words() -> None:
    words = words_of(load_model(None), ["The baker did not sleep."])[0]
    graph = parse_graph(GRAPH)
    gold = Anchoring([(graph, words)]).gold(graph, "The baker did not sleep.", words)
    assert {node.label: words[node.token or 0].text for node in gold.nodes} == {
        "sleep-01": "sleep", "-": "not", "person": "baker", "bake-01": "baker",
    }  # fmt: skip
    assert (3, "ARG0", 2) in gold.arcs


def test_test_sentences_are_left_out(tmp_path: Path) -> None:
    train, test = tmp_path / "train.txt", tmp_path / "test.txt"
    train.write_text(GRAPH + "\n# ::snt It rained.\n(r / rain-01)\n")
    test.write_text("# ::snt the baker did not sleep\n(s / sleep-01)\n")
    items = read_items(load_model(None), [train], [], [test], 10, 2)
    assert [item.gold.text for item in items] == ["It rained."]


def test_draft_nodes_are_matched_with_gold_nodes(tmp_path: Path) -> None:
    from graphneg.parsers.dependency.lexicon import load_lexicon
    from tools.parser_training import draft_of

    train = tmp_path / "train.txt"
    train.write_text(GRAPH)
    (item,) = read_items(load_model(None), [train], [], [], 10, 2)
    draft = draft_of(item, load_lexicon())
    found = {draft.nodes[i].label: item.gold.nodes[j].label for i, j in match_nodes(draft, item.gold).items()}
    assert found["sleep-01"] == "sleep-01" and found["-"] == "-"


def test_propbank_examples_are_read_with_their_arguments(tmp_path: Path) -> None:
    file = tmp_path / "hum.xml"
    file.write_text(FRAMES)
    (roleset,) = read_frames([file])
    assert (roleset.id, roleset.in_amr) == ("hum-01", True)
    assert [(role.number, role.function) for role in roleset.roles] == [("0", "PAG"), ("1", "PPT")]
    assert roleset.examples[0].arguments == (("ARG0", 0, 0), ("ARG1", 2, 3))


def test_a_model_is_read_back_up_to_quantisation() -> None:
    np = pytest.importorskip("numpy")
    weights = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    model = Model({"pair": {"a": 0, "b": 1, "c": 2}}, {"pair": weights, "out": weights.T}, ["", "ARG0"])
    back = read_model(write_model(model))
    assert back.features == model.features and list(back.classes) == ["", "ARG0"]
    assert np.allclose(back.arrays["pair"][:3], weights, atol=0.05)
    assert np.array_equal(back.arrays["out"], weights.T)
    assert np.allclose(back.sums("pair", "pair", [["a", "c", "unknown"], []])[1], 0)


def test_cached_sums_of_groups_equal_new_ones() -> None:
    np = pytest.importorskip("numpy")
    weights = np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)
    model = read_model(write_model(Model({"pair": {"a": 0, "b": 1, "c": 2}}, {"pair": weights})))
    fresh, used = (GroupSums(model, "pair", lambda group: list(group)) for _ in range(2))
    used.sums([["ab", "c"], ["ba"]])
    bags = [["c", "ab"], ["ba", "a"]]
    assert np.array_equal(fresh.sums(bags), used.sums(bags))


def test_joined_networks_average_their_scores() -> None:
    np = pytest.importorskip("numpy")
    rng = np.random.default_rng(3)
    shapes = {
        "node": (4, 3), "pair": (5, 3), "bias": (3,), "node_bias": (3,), "head": (3, 3), "dep": (3, 3),
        "top": (3,), "out": (3, 2), "out_bias": (2,),
    }  # fmt: skip
    networks = [{name: rng.normal(size=shape) for name, shape in shapes.items()} for _ in range(2)]

    def scores(one: Any) -> tuple[Any, Any]:
        states = np.maximum(one["node"] + one["node_bias"], 0)
        hidden = states[:1] @ one["head"] + states[1:2] @ one["dep"] + one["pair"][:1] + one["bias"]
        return states @ one["top"], np.maximum(hidden, 0) @ one["out"] + one["out_bias"]

    whole = scores(joined(networks))
    for place, part in enumerate(zip(*map(scores, networks), strict=True)):
        assert np.allclose(whole[place], sum(part) / 2)


def test_the_scope_of_no_is_learned() -> None:
    texts = {
        "There is no man singing": "(s / sing-01 :polarity - :ARG0 (m / man))",
        "There is no dog running home": "(d / dog :polarity - :ARG0-of (r / run-02 :ARG4 (h / home)))",
    }
    words = words_of(load_model(None), list(texts))
    graphs = [parse_graph(text) for text in texts.values()]
    anchoring = Anchoring(list(zip(graphs, words, strict=True)))
    golds = [anchoring.gold(graph, text, own) for graph, text, own in zip(graphs, texts, words, strict=True)]
    drafts = [write_draft(text, own) for text, own in zip(texts, words, strict=True)]
    model = train_denial(drafts, golds)
    found = [next(denials(draft.words)) for draft in drafts]
    bags = [denial_features(denial) for denial in found]
    scores = model.sums("denial", "denial", bags)[:, 0]
    assert scores[0] > 0 > scores[1]
