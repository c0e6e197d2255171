"""Test that the corpus bundled with graphneg is complete, consistent and well formed."""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import penman
import pytest
from penman.layout import interpret

ROOT = Path(__file__).parent.parent
EVERYDAY = ROOT / "graphneg" / "data" / "everyday"
PROPBANK = ROOT.parent / "shared" / "data" / "propbank"
FRAME = re.compile(r".+-\d{2,}$")
LEMMA = re.compile(r"[a-z]+(?:[ -][a-z]+)*$")


def read_table(name: str) -> tuple[list[str], list[list[str]]]:
    header, *rows = [line.split("\t") for line in (EVERYDAY / name).read_text("utf-8").splitlines()]
    return header, rows


def roles_in_use(graph: penman.Graph) -> list[tuple[str, str]]:
    """Return a pair (frame, ARGn) for each numbered role. ``:ARG0-of`` counts as ARG0 of its target."""
    concepts = {instance.source: instance.target for instance in graph.instances()}
    branches = [*graph.edges(), *graph.attributes()]
    return [
        (concepts[source], role[1:])
        for source, role, _ in branches
        if re.fullmatch(r":ARG\d", role) and FRAME.match(concepts[source] or "")
    ]


@pytest.fixture(scope="module")
def dialogues() -> list[dict[str, Any]]:
    lines = (EVERYDAY / "dialogues.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def texts(dialogues: list[dict[str, Any]]) -> dict[str, str]:
    return {
        f"everyday/{dialogue['split']}/{dialogue['id']}#{turn}": said["text"]
        for dialogue in dialogues
        for turn, said in enumerate(dialogue["turns"])
    }


@pytest.fixture(scope="module")
def trees() -> list[penman.Tree]:
    return list(penman.iterparse((EVERYDAY / "graphs.amr").read_text("utf-8")))


@pytest.fixture(scope="module")
def graphs(trees: list[penman.Tree]) -> list[penman.Graph]:
    return [interpret(tree) for tree in trees]


@pytest.fixture(scope="module")
def frames() -> dict[str, list[str]]:
    return {row[0]: row[2].split(",") for row in read_table("frames.tsv")[1]}


@pytest.fixture(scope="module")
def opposites() -> list[list[str]]:
    return read_table("opposites.tsv")[1]


# Dialogues


def test_there_are_enough_dialogues_of_six_to_ten_turns(dialogues: list[dict[str, Any]]) -> None:
    assert len(dialogues) >= 48
    assert all(6 <= len(dialogue["turns"]) <= 10 for dialogue in dialogues)


def test_dialogues_are_numbered_in_order_and_split_in_train_and_test(dialogues: list[dict[str, Any]]) -> None:
    assert [dialogue["id"] for dialogue in dialogues] == [str(n + 1) for n in range(len(dialogues))]
    sizes = Counter(dialogue["split"] for dialogue in dialogues)
    assert set(sizes) == {"train", "test"}
    assert sizes["train"] > sizes["test"] >= 10


def test_two_speakers_take_turns(dialogues: list[dict[str, Any]]) -> None:
    for dialogue in dialogues:
        speakers = [turn["speaker"] for turn in dialogue["turns"]]
        assert speakers == ["AB"[k % 2] for k in range(len(speakers))], dialogue["id"]


def test_every_turn_is_written_with_normal_punctuation(texts: dict[str, str]) -> None:
    for place, text in texts.items():
        assert re.fullmatch(r"[A-Z].*[.!?]", text), place
        assert text == " ".join(text.split()), place


def test_no_turn_is_said_twice(texts: dict[str, str]) -> None:
    assert [text for text, count in Counter(texts.values()).items() if count > 1] == []


def test_responses_answer_a_turn_that_exists_and_are_right_or_wrong(dialogues: list[dict[str, Any]]) -> None:
    answered = [dialogue for dialogue in dialogues if "responses" in dialogue]
    assert len(answered) >= 15
    for dialogue in answered:
        assert 1 <= len(dialogue["responses"]) <= 3
        for response in dialogue["responses"]:
            assert 0 <= response["turn"] < len(dialogue["turns"])
            assert {0: "adversarial", 1: "reference"}[response["label"]] == response["source"]
            assert re.fullmatch(r"[A-Z].*[.!?]", response["text"])


# Graphs


def test_each_graph_belongs_to_a_turn_and_repeats_its_text(
    trees: list[penman.Tree], texts: dict[str, str]
) -> None:
    ids = [tree.metadata["id"] for tree in trees]
    assert len(ids) == len(set(ids)) >= 130
    assert [tree.metadata["snt"] for tree in trees] == [texts[place] for place in ids]


def test_a_dialogue_with_graphs_has_one_for_every_turn(
    trees: list[penman.Tree], texts: dict[str, str]
) -> None:
    graphed = {tree.metadata["id"] for tree in trees}
    started = {place.split("#")[0] for place in graphed}
    assert len(started) >= 18
    assert {place for place in texts if place.split("#")[0] in started} == graphed


def test_every_graph_is_one_connected_whole(graphs: list[penman.Graph]) -> None:
    for graph in graphs:
        neighbours: defaultdict[str, set[str]] = defaultdict(set)
        for source, _, target in graph.edges():
            neighbours[source].add(target)
            neighbours[target].add(source)
        reached, frontier = {graph.top}, [graph.top]
        while frontier:
            fresh = neighbours[frontier.pop()] - reached
            reached |= fresh
            frontier += fresh
        assert reached == graph.variables(), graph.metadata["id"]


def test_no_variable_is_introduced_twice_and_all_mentions_are_introduced(trees: list[penman.Tree]) -> None:
    for tree in trees:
        introduced = [variable for variable, _ in tree.nodes()]
        assert len(introduced) == len(set(introduced)), tree.metadata["id"]
        targets = {
            target
            for _, branches in tree.nodes()
            for role, target in branches
            if role != "/" and isinstance(target, str) and re.fullmatch(r"[a-z]\d*", target)
        }
        assert targets <= set(introduced), tree.metadata["id"]


def test_the_file_is_in_standard_layout(trees: list[penman.Tree]) -> None:
    text = (EVERYDAY / "graphs.amr").read_text("utf-8")
    assert text == "\n\n".join(penman.format(tree) for tree in trees) + "\n"


def test_every_frame_in_the_graphs_is_listed_with_the_roles_in_use(
    graphs: list[penman.Graph], frames: dict[str, list[str]]
) -> None:
    concepts = {instance.target for graph in graphs for instance in graph.instances()}
    assert {concept for concept in concepts if FRAME.match(concept or "")} <= set(frames)
    unlisted = {use for graph in graphs for use in roles_in_use(graph) if use[1] not in frames[use[0]]}
    assert unlisted == set()


@pytest.mark.parametrize(
    ("feature", "pattern", "least"),
    [
        ("negation", r":polarity -", 15),
        ("a question of yes or no", r":polarity \(a\d* / amr-unknown\)", 20),
        ("a question with a question word", r":(?!polarity)[\w-]+ \(a\d* / amr-unknown\)", 15),
        ("what can, must or should be", r"/ (possible|obligate|recommend|permit)-01", 25),
        ("an order", r":mode imperative", 15),
        ("an exclamation", r":mode expressive", 2),
        ("a person's name", r"/ person\s+:name", 8),
        ("a time", r"/ date-entity", 12),
        ("a duration", r"/ temporal-quantity", 6),
        ("an amount of money", r"/ monetary-quantity", 2),
        ("a relative", r"/ have-rel-role-91", 5),
        ("a comparison", r"/ have-degree-91", 8),
        ("a contrast", r"/ contrast-01", 8),
        ("several sentences", r"/ multi-sentence", 30),
        ("the speaker", r"\(i / i\)", 30),
        ("the listener", r"\(y\d* / you\)", 20),
    ],
)
def test_the_graphs_show(feature: str, pattern: str, least: int) -> None:
    found = len(re.findall(pattern, (EVERYDAY / "graphs.amr").read_text("utf-8")))
    assert found >= least, feature


def test_a_third_of_the_graphs_have_reentrancies(graphs: list[penman.Graph]) -> None:
    assert 3 * sum(bool(graph.reentrancies()) for graph in graphs) >= len(graphs)


# Opposites and frames


def test_opposites_are_antonym_pairs_of_lemmas(opposites: list[list[str]]) -> None:
    assert read_table("opposites.tsv")[0] == ["start", "end", "relation"]
    assert len(opposites) >= 400
    assert {relation for _, _, relation in opposites} == {"Antonym"}
    terms = [term for start, end, _ in opposites for term in (start, end)]
    assert [term for term in terms if not LEMMA.match(term)] == []


def test_no_pair_of_opposites_stands_twice_and_nothing_is_its_own_opposite(
    opposites: list[list[str]],
) -> None:
    pairs = Counter(frozenset((start, end)) for start, end, _ in opposites)
    assert [set(pair) for pair, count in pairs.items() if count > 1 or len(pair) < 2] == []


def test_frames_have_one_description_a_role(frames: dict[str, list[str]]) -> None:
    header, rows = read_table("frames.tsv")
    assert header == ["id", "lemma", "roles", "descriptions"]
    assert len(frames) == len(rows)
    for frame, lemma, roles, descriptions in rows:
        assert frame.rsplit("-", 1)[0] == lemma.replace(" ", "-")
        assert len(roles.split(",")) == len([text for text in descriptions.split("|") if text]), frame


def test_frames_are_those_of_propbank(frames: dict[str, list[str]]) -> None:
    if not PROPBANK.is_dir():
        pytest.skip(f"no PropBank frames at {PROPBANK}")
    documents = [(PROPBANK / "AMR-UMR-91-rolesets.xml").read_text("utf-8")]
    with tarfile.open(PROPBANK / "propbank-frames-3.4.tar.gz") as archive:
        members = [archive.extractfile(member) for member in archive if member.name.endswith(".xml")]
        documents += [member.read().decode("utf-8") for member in members if member]
    # Two of the files are not well-formed XML, so regular expressions find the rolesets.
    known = {
        re.sub(r"[._]", "-", frame): {
            f"ARG{number}" for number in re.findall(r'<role\b[^>]*\bn="(\d)"', body)
        }
        for document in documents
        for frame, body in re.findall(r'<roleset id="([^"]+)"(.*?)</roleset>', document, re.DOTALL)
    }
    wrong = {
        frame: (roles, known.get(frame)) for frame, roles in frames.items() if set(roles) != known.get(frame)
    }
    assert wrong == {}
