"""Train the chooser of the dependency parser, which selects a fragment of AMR for each word.

A fragment is the part of a graph that one word stands for: *teacher* stands for ``person`` and ``teach-01``
with the role ``ARG0`` between them. The candidates of a word come from annotated graphs, PropBank and the
rules.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphneg.english.propbank import Roleset
from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.learned.concepts import (
    FragmentOption,
    candidates,
    context_features,
    words_to_choose,
)
from graphneg.parsers.dependency.learned.features import kind_of
from graphneg.parsers.dependency.learned.tables import (
    Meanings,
    Model,
    Sense,
    marked,
    read_fragment,
    word_key,
    write_fragment,
)
from graphneg.parsers.dependency.text import Word
from tools.parser_lessons import GoldGraph
from tools.parser_networks import Bags, descend, stored, summed, vocabulary

AT_LEAST = 2
"""Minimum count of a feature to be learned."""
FREQUENT, SELDOM = 12, 0.15
"""Minimum count of a frequent word. A fragment that has at most the given share of the counts of a frequent
word may be an alignment error."""
START, BIAS_START = 0.005, 0.1
"""Standard deviations of the initial weights of features and of biases."""
BAG_DROPPED, DROPPED, RATE, DECAY, BATCH = 0.15, 0.2, 4e-3, 1e-3, 512
"""Dropout probabilities of features and of hidden units, learning rate, weight decay, and words per batch."""


@dataclass(slots=True)
class Choice:
    """A training example: a word with the candidates for its fragment.

    Attributes:
        context: Features of the word's context.
        found: The candidate fragments.
        right: Index of the candidate that fits the gold graph best.
        weight: Weight of the example.
        sentence: Number of the fold or sentence; -1 if unknown.
    """

    context: list[str]
    found: list[FragmentOption]
    right: int
    weight: float
    sentence: int = -1


def gold_fragments(gold: GoldGraph) -> dict[int, str]:
    """Return the fragments of a gold graph.

    Args:
        gold: The graph.

    Returns:
        The fragments of the aligned words, keyed by the index of the word.
    """
    members: defaultdict[int, list[int]] = defaultdict(list)
    for i, node in enumerate(gold.nodes):
        if node.token is not None:
            members[node.token].append(i)
    found: dict[int, str] = {}
    for token, group in members.items():
        place = {i: n for n, i in enumerate(group)}
        arcs = [(place[h], role, place[d]) for h, role, d in gold.arcs if h in place and d in place]
        found[token] = write_fragment(
            [marked(gold.nodes[i].concept, gold.nodes[i].value) for i in group], arcs
        )
    return found


def build_meanings(
    corpora: Sequence[Sequence[tuple[GoldGraph, Sequence[Word]]]],
    rolesets: Sequence[Roleset],
    clusters: Mapping[str, tuple[int, int]],
) -> Meanings:
    """Count the fragments of all words, and collect PropBank's senses for each alias.

    Args:
        corpora: The gold corpus and the silver corpus, each as pairs of a graph and its words.
        rolesets: PropBank's rolesets.
        clusters: Pairs of a coarse and a fine word class, keyed by word.

    Returns:
        The tables of fragments, senses, roles and word classes.
    """
    counts: defaultdict[str, dict[str, list[int]]] = defaultdict(dict)
    for which, corpus in enumerate(corpora):
        for gold, words in corpus:
            fragments = gold_fragments(gold)
            for word in words:
                text = fragments.get(word.i, "")
                counts[word_key(word)].setdefault(text, [0, 0])[which] += 1
    seen = {
        key: {
            text: (n[0], n[1])
            for text, n in sorted(found.items())
            if not _is_alignment_error(key, text, found)
        }
        for key, found in sorted(counts.items())
    }
    senses: defaultdict[str, list[Sense]] = defaultdict(list)
    for one in sorted(rolesets, key=lambda one: one.id or ""):
        id = one.id
        if one.in_amr and id is not None and not id.endswith("-91"):
            for alias, letter in dict.fromkeys(one.aliases):
                senses[alias.lower()].append(Sense(id, letter, len(one.examples)))
    roles = {
        one.id or "": [f"ARG{role.number}={role.function}" for role in one.roles]
        for one in rolesets
        if one.in_amr
    }
    return Meanings(seen, dict(sorted(senses.items())), dict(sorted(roles.items())), clusters)


def _is_alignment_error(key: str, text: str, found: Mapping[str, Sequence[int]]) -> bool:
    """Return whether a fragment of a frequent word is probably an alignment error."""
    labels = read_fragment(text).labels
    # A concept that begins like the word is no error: teach-01 for "teacher".
    if not labels or any(label.lstrip("=").startswith(key[:3]) for label in labels):
        return False
    total, count = sum(map(sum, found.values())), sum(found[text])
    is_other = key.endswith("/n") and len(labels) == 1 and kind_of(labels[0]) == "frame"
    return total >= FREQUENT and (count == 1 or (is_other and count < SELDOM * total))


def sentence_counts(
    gold: GoldGraph, words: Sequence[Word], which: int
) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the counts that one sentence contributed to the table of fragments.

    Args:
        gold: The gold graph.
        words: The words of the sentence.
        which: Number of the corpus: 0 for gold, 1 for silver.

    Returns:
        Counts (gold, silver), keyed by word and then by fragment. They are subtracted from the table, so that
        the sentence is treated as unseen.
    """
    fragments = gold_fragments(gold)
    counts: Counter[tuple[str, str]] = Counter((word_key(word), fragments.get(word.i, "")) for word in words)
    found: defaultdict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for (key, text), n in counts.items():
        found[key][text] = (n, 0) if which == 0 else (0, n)
    return found


def choices(
    meanings: Meanings, draft: GraphDraft, gold: GoldGraph, which: int, weight: float, sentence: int
) -> list[Choice]:
    """Return the training examples of a sentence.

    Args:
        meanings: The tables that were made from all sentences.
        draft: The draft graph that the rules made.
        gold: The gold graph.
        which: Number of the corpus: 0 for gold, 1 for silver.
        weight: Weight of the examples.
        sentence: Number of the fold or sentence, which is stored with the examples.

    Returns:
        An example for each word that has several candidates, if a candidate fits the gold graph.
    """
    right = gold_fragments(gold)
    sentence_count = sentence_counts(gold, draft.words, which)
    found: list[Choice] = []
    for word, rule_fragment, _ in words_to_choose(draft):
        options = candidates(meanings, draft.words, word.i, rule_fragment, sentence_count[word_key(word)])
        best = max(
            range(len(options)), key=lambda i: (_match_score(options[i].fragment, right.get(word.i, "")), -i)
        )
        if len(options) > 1 and _match_score(options[best].fragment, right.get(word.i, "")) > 0:
            found.append(
                Choice(context_features(meanings, draft.words, word.i), options, best, weight, sentence)
            )
    return found


def _match_score(text: str, right: str) -> float:
    """Return how well a fragment matches a gold fragment: 1 if equal, else 0.9 times the F1 of the labels."""
    if text == right:
        return 1.0
    a, b = Counter(read_fragment(text).labels), Counter(read_fragment(right).labels)
    return 0.9 * 2 * (a & b).total() / max(a.total() + b.total(), 1)


class _Data:
    """All training examples as arrays, with the candidates of all words in one sequence."""

    def __init__(self, data: Sequence[Choice]) -> None:
        self.of_contexts = vocabulary((one.context for one in data), AT_LEAST)
        self.of_candidates = vocabulary((option.features for one in data for option in one.found), AT_LEAST)
        self.contexts = Bags.of((one.context for one in data), self.of_contexts)
        options = (option.features for one in data for option in one.found)
        self.candidates = Bags.of(options, self.of_candidates)
        self.first: Any = np.cumsum([0] + [len(one.found) for one in data])
        self.right = np.array([one.right for one in data])
        self.weight = np.array([one.weight for one in data], np.float32)


def train_chooser(data: Sequence[Choice], size: int, epochs: int, seed: int) -> Model:
    """Train the chooser.

    The score of a candidate fragment is ``v·relu(context + candidate) + w·candidate``, with a softmax over
    the candidates of a word.

    Args:
        data: The training examples.
        size: Number of hidden units.
        epochs: Number of epochs.
        seed: Seed for the initial weights, the order of the examples and the dropout.

    Returns:
        The model, with rounded weights as in its file.
    """
    import torch

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    known = _Data(data)
    weights = {
        "context": torch.nn.Parameter(torch.randn(len(known.of_contexts), size) * START),
        "candidate": torch.nn.Parameter(
            torch.cat(
                [
                    torch.randn(len(known.of_candidates), size) * START,
                    torch.zeros(len(known.of_candidates), 1),
                ],
                1,
            )
        ),
        "out": torch.nn.Parameter(torch.randn(size) * 0.1),
        "bias": torch.nn.Parameter(torch.randn(size) * BIAS_START),
    }
    arrays = descend(
        weights, len(data), epochs, BATCH, rng, lambda rows: _loss(weights, known, rows, rng),
        rate=RATE, decay=DECAY,
    )  # fmt: skip
    return stored(Model({"context": known.of_contexts, "candidate": known.of_candidates}, arrays))


def _loss(weights: dict[str, Any], known: _Data, rows: Any, rng: Any) -> Any:
    import torch
    from torch.nn import functional

    sizes = known.first[rows + 1] - known.first[rows]
    flat = np.concatenate([np.arange(known.first[row], known.first[row + 1]) for row in rows])
    segment = torch.from_numpy(np.repeat(np.arange(len(rows)), sizes))
    around = summed(weights["context"], known.contexts.take(rows), BAG_DROPPED, rng)
    options = summed(weights["candidate"], known.candidates.take(flat), BAG_DROPPED, rng)
    hidden = functional.dropout(torch.relu(around[segment] + options[:, :-1] + weights["bias"]), DROPPED)
    scores = hidden @ weights["out"] + options[:, -1]
    # The maximum of each word's scores is subtracted before the exponential, to avoid an overflow.
    top = torch.full((len(rows),), -1e9).scatter_reduce(0, segment, scores, "amax").detach()
    total = torch.zeros(len(rows)).index_add(0, segment, torch.exp(scores - top[segment]))
    places = torch.from_numpy(np.cumsum(np.concatenate([[0], sizes[:-1]])) + known.right[rows])
    return ((torch.log(total) + top - scores[places]) * torch.from_numpy(known.weight[rows])).mean()
