"""A small corpus with a hand-written shift graph, and a function that writes both to a store.

An entry is a tuple of a text, its focus and its perspective; both are empty for the first turn of a dialogue.
A text that begins with ``+`` or ``-`` is not a turn, but a correct (``+``) or wrong (``-``) response to the
turn before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from neo4j import ManagedTransaction

from graphneg.ingest.loader import LoadReport
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.model import Dialogue, Opposite, Response, Utterance
from graphneg.store.connection import Store

Said = tuple[str, str, str]

DIALOGUES: dict[str, tuple[Said, ...]] = {
    "kitchen/train/1": (
        ("Is the coffee ready?", "", ""),
        ("Yes, and there is cake with it.", "coffee", "cake"),
        ("I only eat cake with cream.", "cake", "cream"),
        ("+ The cake has no sugar in it.", "cake", "sugar"),
    ),
    "kitchen/train/2": (
        ("The coffee smells good.", "", ""),
        ("I baked a cake to go with it.", "coffee", "cake"),
        ("+ I would rather have tea.", "coffee", "tea"),
        ("- The train to the coast was late.", "", ""),
    ),
    "kitchen/train/10": (
        ("Who wants coffee?", "", ""),
        ("Tea for me, please.", "coffee", "tea"),
        ("We have no tea, only coffee.", "tea", "coffee"),
        ("Then I take the coffee.", "coffee", "coffee"),
    ),
    "kitchen/train/11": (
        ("This tea is cold.", "", ""),
        ("I can make you a coffee.", "tea", "coffee"),
        ("Is there cake as well?", "coffee", "cake"),
    ),
    "kitchen/train/12": (
        ("Would you like some tea?", "", ""),
        ("With a piece of cake, yes.", "tea", "cake"),
        ("The cake needs more cream.", "cake", "cream"),
    ),
    "travel/train/1": (
        ("How is the weather in Lisbon?", "", ""),
        ("It is hot.", "weather", "hot"),
        ("Cold drinks for everyone, then.", "hot", "cold"),
    ),
    "travel/train/2": (
        ("What is the weather like today?", "", ""),
        ("Too cold to walk.", "weather", "cold"),
        ("Cold? Yesterday was hot.", "cold", "hot"),
        ("+ Take an umbrella against the cold.", "cold", "umbrella"),
    ),
    "travel/train/3": (
        ("Did you look at the weather?", "", ""),
        ("Hot, they say.", "weather", "hot"),
        ("I would like a coffee on the train.", "hot", "coffee"),
        ("The coffee there has a high price.", "coffee", "price"),
    ),
    "travel/train/4": (
        ("The train leaves at nine.", "", ""),
        ("Have you got a ticket?", "train", "ticket"),
        ("The ticket had a good price.", "ticket", "price"),
    ),
    "travel/train/5": (
        ("Which train do you take?", "", ""),
        ("The one on my ticket.", "train", "ticket"),
        ("Show me the ticket: that is a night train.", "ticket", "train"),
    ),
    "travel/train/6": (
        ("The station has good coffee.", "", ""),
        ("And its café is cheap.", "coffee", "café"),
    ),
    "travel/train/7": (
        ("This coffee was on the train's menu.", "", ""),
        ("The price was on it too.", "coffee", "price"),
    ),
    "pets/train/1": (
        ("I like my dog.", "", ""),
        ("Where does your dog sleep?", "", ""),
        ("Why do you ask?", "", ""),
        ("I love dogs.", "", ""),
        ("I don't have a dog.", "", ""),
    ),
}
GRAPHS = {
    "kitchen/train/1#2": "(e / eat-01 :ARG0 (i / i) :ARG1 (c / cake :mod (o / only)))",
    "pets/train/1#0": "(l / like-01 :ARG0 (i / i) :ARG1 (d / dog :poss i))",
    "pets/train/1#1": "(s / sleep-01 :ARG0 (d / dog :poss (y / you)) :location (a / amr-unknown))",
    "pets/train/1#2": "(c / cause-01 :ARG0 (a / amr-unknown) :ARG1 (a2 / ask-01 :ARG0 (y / you)))",
    "pets/train/1#3": "(l / love-01 :ARG0 (i / i) :ARG1 (d / dog))",
    "pets/train/1#4": "(h / have-03 :polarity - :ARG0 (i / i) :ARG1 (d / dog))",
}
"""The graphs of some utterances. The turns of the dialogue about pets have no focus and no perspective."""
OPPOSITES = (
    Opposite("cold", "hot", "Antonym", 2.0, "test"),
    Opposite("hot", "cold", "Antonym", 1.0, "test"),
    Opposite("coffee", "tea", "DistinctFrom", 1.0, "test"),
)

WRITE_TERMS = "UNWIND $terms AS text MERGE (t:Term {text: text})"
WRITE_UTTERANCES = """
UNWIND $replies AS row
MATCH (r:Utterance {id: row[0]}) MATCH (f:Term {text: row[1]}) MATCH (p:Term {text: row[2]})
MERGE (r)-[:FOCUS]->(f) MERGE (r)-[:PERSPECTIVE]->(p)
"""
WRITE_RESPONSES = WRITE_UTTERANCES.replace("(r:Utterance", "(r:Response")
WRITE_MENTIONS = """
UNWIND $mentions AS row
MATCH (u:Utterance {id: row[0]}) MATCH (t:Term {text: row[1]})
MERGE (u)-[m:MENTIONS]->(t) SET m.score = 0.5
"""
WRITE_SHIFTS = """
UNWIND $shifts AS row
MATCH (f:Term {text: row[0]}) MATCH (p:Term {text: row[1]})
MERGE (f)-[s:SHIFTS_TO]->(p) SET s.count = row[2]
"""


def write_samples(store: Store) -> None:
    """Write the corpus and its shift graph."""
    records = [*dialogues(), *OPPOSITES]
    write_records(store, records, LoadReport("samples"), GraphDialogues("samples", "all", 8))
    replies = [list(reply) for reply in pairs()]
    counts = Counter((focus, perspective) for _, focus, perspective in pairs())
    shifts = [[*ends, count] for ends, count in sorted(counts.items())]
    terms = sorted({term for ends in counts for term in ends})

    def work(transaction: ManagedTransaction) -> None:
        transaction.run(WRITE_TERMS, terms=terms).consume()
        transaction.run(WRITE_UTTERANCES, replies=replies).consume()
        transaction.run(WRITE_RESPONSES, replies=replies).consume()
        transaction.run(WRITE_MENTIONS, mentions=[list(one) for one in mentions()]).consume()
        transaction.run(WRITE_SHIFTS, shifts=shifts).consume()

    store.write(work)


def dialogues() -> Iterator[Dialogue]:
    for id, said in DIALOGUES.items():
        corpus, split, _ = id.split("/")
        utterances: list[Utterance] = []
        responses: list[Response] = []
        for text, _, _ in said:
            if text[0] in "+-":
                fits = text[0] == "+"
                source = "reference" if fits else "adversarial"
                responses.append(Response(len(utterances) - 1, text[2:], int(fits), source))
            else:
                turn = len(utterances)
                utterances.append(Utterance(turn, "AB"[turn % 2], text, GRAPHS.get(f"{id}#{turn}")))
        yield Dialogue(id, corpus, split, tuple(utterances), tuple(responses))


def pairs() -> Iterator[tuple[str, str, str]]:
    """Yield the id, the focus and the perspective of each reply that has a focus."""
    for id, said in DIALOGUES.items():
        turns = responses = 0
        for text, focus, perspective in said:
            if text[0] in "+-":
                reply = f"{id}#{turns - 1}/r{responses}"
                responses += 1
            else:
                reply = f"{id}#{turns}"
                turns += 1
            if focus:
                yield reply, focus, perspective


def mentions() -> Iterator[tuple[str, str]]:
    """Yield pairs of an utterance id and a keyword: the focus of the post, the perspective of the reply."""
    for reply, focus, perspective in pairs():
        if "/r" in reply.partition("#")[2]:
            yield reply.partition("/r")[0], focus
            continue
        dialogue, _, turn = reply.partition("#")
        yield f"{dialogue}#{int(turn) - 1}", focus
        yield reply, perspective
