"""Trains the networks of the dependency parser."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphneg.english.propbank import Roleset
from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.arcs import denial_features, denials
from graphneg.parsers.dependency.learned.concepts import Candidate, candidates, context_features, open_words
from graphneg.parsers.dependency.learned.features import kind_of
from graphneg.parsers.dependency.learned.tables import (
    TABLES,
    Meanings,
    Model,
    Sense,
    marked,
    read_fragment,
    read_model,
    word_key,
    write_fragment,
)
from graphneg.parsers.dependency.text import Word
from tools.parser_lessons import GoldGraph, PairSentence, all_roles

# The files of what was learned.

LEVELS = 127


def write_model(model: Model) -> bytes:
    """The model as a compressed ``.npz``; large tables are rounded to 8 bits a weight."""
    files: dict[str, Array] = {}
    for name, array in model.arrays.items():
        if name in TABLES:
            scale = np.float32((np.abs(array).max(initial=0) or 1) / LEVELS)
            files["a." + name] = np.rint(array / scale).astype(np.int8)
            files["s." + name] = scale
        else:
            files["a." + name] = array.astype(np.float32)
    for name, numbers in (*model.features.items(), ("classes", dict.fromkeys(model.classes))):
        files["t." + name] = np.frombuffer("\n".join(numbers).encode(), np.uint8)
    stream = io.BytesIO()
    np.savez_compressed(stream, **files)
    return stream.getvalue()


def write_meanings(meanings: Meanings) -> bytes:
    """The meanings as gzipped JSON."""
    data = {name: getattr(meanings, name) for name in ("senses", "roles", "clusters")}
    data["seen"] = {key: list(fragments.items()) for key, fragments in meanings.seen.items()}
    return gzip.compress(json.dumps(data, separators=(",", ":"), sort_keys=True).encode(), 9, mtime=0)


# Bags of features as arrays: the form in which the networks are trained.


def vocabulary(bags: Iterable[Sequence[str]], at_least: int) -> dict[str, int]:
    """Numbers for the features that are frequent enough, from 0, the most frequent first."""
    counts: Counter[str] = Counter()
    for bag in bags:
        counts.update(set(bag))
    frequent = (feature for feature, n in counts.items() if n >= at_least and "\n" not in feature)
    kept = sorted(frequent, key=lambda f: (-counts[f], f))
    return {feature: i for i, feature in enumerate(kept)}


@dataclass(frozen=True, slots=True)
class Bags:
    """``ids[starts[i]:starts[i + 1]]`` are the features of bag ``i``."""

    ids: Any
    starts: Any

    @classmethod
    def of(cls, bags: Iterable[Sequence[str]], known: dict[str, int]) -> Bags:
        """The bags with their features numbered; unknown features are left out."""
        ids: list[int] = []
        starts = [0]
        for bag in bags:
            ids.extend(known[feature] for feature in bag if feature in known)
            starts.append(len(ids))
        return cls(np.array(ids, np.int32), np.array(starts, np.int64))

    def take(self, rows: Any) -> tuple[Any, Any]:
        """The features of some bags, one after the other, and where each bag begins."""
        sizes = self.starts[rows + 1] - self.starts[rows]
        begins = np.zeros(len(rows), np.int64)
        np.cumsum(sizes[:-1], out=begins[1:])
        places = np.arange(int(sizes.sum())) - np.repeat(begins - self.starts[rows], sizes)
        return self.ids[places], begins


def summed(
    table: Any, bags: tuple[Any, Any], dropped: float, rng: Any, doubted: Any = None, doubt: float = 0.0
) -> Any:
    """Sums of a table's rows, one for each bag; each feature is left out with probability ``dropped``.

    The features that ``doubted`` marks are left out of a bag all at once, with probability ``doubt``.
    """
    import torch
    from torch.nn import functional

    ids, starts = bags
    kept = (rng.random(len(ids)) >= dropped).astype(np.float32) / (1 - dropped)
    if doubted is not None:
        sizes = np.diff(np.append(starts, len(ids)))
        out = np.repeat(rng.random(len(starts)) < doubt, sizes)
        kept = np.where(doubted[ids], np.where(out, 0, kept / (1 - doubt)), kept).astype(np.float32)
    return functional.embedding_bag(
        torch.from_numpy(ids).long(),
        table,
        torch.from_numpy(starts),
        mode="sum",
        per_sample_weights=torch.from_numpy(kept),
    )


def stored(model: Model) -> Model:
    """The model as it is when it comes back from its file."""
    return read_model(write_model(model))


# Trains the chooser: which fragment a word stands for, among its candidates.


AT_LEAST = 2
FREQUENT, SELDOM = 12, 0.15
START, BIAS_START = 0.005, 0.1
BAG_DROPPED, DROPPED, RATE, DECAY, BATCH = 0.15, 0.2, 4e-3, 1e-3, 512


@dataclass(slots=True)
class Choice:
    """One word: its context, its candidates, and the number of the right one."""

    context: list[str]
    found: list[Candidate]
    right: int
    weight: float
    sentence: int = -1


def gold_fragments(gold: GoldGraph) -> dict[int, str]:
    """The fragment of each word that has nodes."""
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
    """What the words of each corpus stood for, with PropBank's senses by alias."""
    counts: defaultdict[str, dict[str, list[int]]] = defaultdict(dict)
    for which, corpus in enumerate(corpora):
        for gold, words in corpus:
            fragments = gold_fragments(gold)
            for word in words:
                text = fragments.get(word.i, "")
                counts[word_key(word)].setdefault(text, [0, 0])[which] += 1
    seen = {
        key: {text: (n[0], n[1]) for text, n in sorted(found.items()) if not _is_slip(key, text, found)}
        for key, found in sorted(counts.items())
    }
    senses: defaultdict[str, list[Sense]] = defaultdict(list)
    for one in sorted(rolesets, key=lambda one: one.id or ""):
        if one.in_amr and not one.id.endswith("-91"):
            for alias, letter in dict.fromkeys(one.aliases):
                senses[alias.lower()].append(Sense(one.id, letter, len(one.examples)))
    roles = {
        one.id or "": [f"ARG{role.number}={role.function}" for role in one.roles]
        for one in rolesets
        if one.in_amr
    }
    return Meanings(seen, dict(sorted(senses.items())), dict(sorted(roles.items())), clusters)


def _is_slip(key: str, text: str, found: Mapping[str, Sequence[int]]) -> bool:
    """Whether a frequent word stood for what is not called like it, and seldom: an aligner's error."""
    labels = read_fragment(text).labels
    if not labels or any(label.lstrip("=").startswith(key[:3]) for label in labels):
        return False
    total, mine = sum(map(sum, found.values())), sum(found[text])
    is_other = key.endswith("/n") and len(labels) == 1 and kind_of(labels[0]) == "frame"
    return total >= FREQUENT and (mine == 1 or (is_other and mine < SELDOM * total))


def sentence_counts(
    gold: GoldGraph, words: Sequence[Word], which: int
) -> dict[str, dict[str, tuple[int, int]]]:
    """What one sentence added to the meanings."""
    fragments = gold_fragments(gold)
    counts: Counter[tuple[str, str]] = Counter((word_key(word), fragments.get(word.i, "")) for word in words)
    found: defaultdict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for (key, text), n in counts.items():
        found[key][text] = (n, 0) if which == 0 else (0, n)
    return found


def choices(
    meanings: Meanings, draft: Draft, gold: GoldGraph, which: int, weight: float, sentence: int
) -> list[Choice]:
    """The choices that a sentence teaches."""
    right = gold_fragments(gold)
    own = sentence_counts(gold, draft.words, which)
    found: list[Choice] = []
    for word, mine, _ in open_words(draft):
        options = candidates(meanings, draft.words, word.i, mine, own[word_key(word)])
        best = max(range(len(options)), key=lambda i: (_fit(options[i].fragment, right.get(word.i, "")), -i))
        if len(options) > 1 and _fit(options[best].fragment, right.get(word.i, "")) > 0:
            found.append(
                Choice(context_features(meanings, draft.words, word.i), options, best, weight, sentence)
            )
    return found


def _fit(text: str, right: str) -> float:
    """How well a fragment matches: 1 for the same text, else the F1 of the labels, below 1."""
    if text == right:
        return 1.0
    a, b = Counter(read_fragment(text).labels), Counter(read_fragment(right).labels)
    return 0.9 * 2 * (a & b).total() / max(a.total() + b.total(), 1)


class _Data:
    """All choices as arrays; candidates are numbered through."""

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
    """Fits ``v·relu(context + candidate) + w·candidate`` by the softmax over each word's candidates."""
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
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE, weight_decay=DECAY)
    steps = epochs * (len(data) // BATCH + 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(1 - step / steps, 0.02))
    for _ in range(epochs):
        order = rng.permutation(len(data))
        for begin in range(0, len(order), BATCH):
            loss = _loss(weights, known, order[begin : begin + BATCH], rng)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    arrays = {name: one.detach().numpy() for name, one in weights.items()}
    return stored(Model({"context": known.of_contexts, "candidate": known.of_candidates}, arrays))


def _loss(weights: dict[str, Any], known: _Data, rows: Any, rng: Any) -> Any:
    """The mean loss of some words' choices."""
    import torch
    from torch.nn import functional

    sizes = known.first[rows + 1] - known.first[rows]
    flat = np.concatenate([np.arange(known.first[row], known.first[row + 1]) for row in rows])
    segment = torch.from_numpy(np.repeat(np.arange(len(rows)), sizes))
    around = summed(weights["context"], known.contexts.take(rows), BAG_DROPPED, rng)
    options = summed(weights["candidate"], known.candidates.take(flat), BAG_DROPPED, rng)
    hidden = functional.dropout(torch.relu(around[segment] + options[:, :-1] + weights["bias"]), DROPPED)
    scores = hidden @ weights["out"] + options[:, -1]
    top = torch.full((len(rows),), -1e9).scatter_reduce(0, segment, scores, "amax").detach()
    total = torch.zeros(len(rows)).index_add(0, segment, torch.exp(scores - top[segment]))
    places = torch.from_numpy(np.cumsum(np.concatenate([[0], sizes[:-1]])) + known.right[rows])
    return ((torch.log(total) + top - scores[places]) * torch.from_numpy(known.weight[rows])).mean()


# Trains the arc scorer: the role between two nodes, or none; and which node is the top.


Array = Any
Tensor = Any
AT_LEAST_SCORING, ROLE_AT_LEAST = 5, 4
"""Features begin near nothing, so that rare ones are no noise; biases are spread, so that all units learn."""
DROPPED_SCORING, RATE_SCORING, DECAY_SCORING, BATCH_SCORING = 0.3, 3e-3, 1e-3, 64
DOUBT = 0.3
"""How often a pair is learned without the rules: they were written with these sentences at hand."""
_OF_RULES = ("R=", "B=", "RR=", "RK=", "RH=", "RD=", "BH=", "O=", "W=", "WH=", "PR=", "PK=")


@dataclass(frozen=True, slots=True)
class _Batch:
    """Some sentences: rows of nodes and pairs in the data, and each pair's ends among these nodes."""

    sentences: list[PairSentence]
    nodes: Array
    pairs: Array
    heads: Array
    deps: Array


class _ScoringData:
    """All sentences as arrays."""

    def __init__(self, data: list[PairSentence]) -> None:
        self.sentences = data
        self.of_nodes = vocabulary((bag for one in data for bag in one.nodes), AT_LEAST_SCORING)
        self.of_pairs = vocabulary((bag for one in data for bag in one.pairs), AT_LEAST_SCORING)
        self.roles = list(all_roles(data, ROLE_AT_LEAST))
        number = {role: i for i, role in enumerate(self.roles)}
        self.of_rules = np.array([feature.startswith(_OF_RULES) for feature in self.of_pairs])
        self.nodes = Bags.of((bag for one in data for bag in one.nodes), self.of_nodes)
        self.pairs = Bags.of((bag for one in data for bag in one.pairs), self.of_pairs)
        self._first_node: Array = np.cumsum([0] + [len(one.nodes) for one in data])
        self._first_pair: Array = np.cumsum([0] + [len(one.pairs) for one in data])
        self.right = np.array([number.get(role, 0) for one in data for role in one.roles])
        self.weight = np.concatenate([np.full(len(one.pairs), one.weight, np.float32) for one in data])

    def batch(self, rows: Array) -> _Batch:
        sentences = [self.sentences[row] for row in rows]
        begins = np.cumsum([0] + [len(one.nodes) for one in sentences])
        heads = [np.array(one.heads, np.int64) + n for one, n in zip(sentences, begins, strict=False)]
        deps = [np.array(one.deps, np.int64) + n for one, n in zip(sentences, begins, strict=False)]
        return _Batch(
            sentences,
            np.concatenate([np.arange(self._first_node[r], self._first_node[r + 1]) for r in rows]),
            np.concatenate([np.arange(self._first_pair[r], self._first_pair[r + 1]) for r in rows]),
            np.concatenate(heads),
            np.concatenate(deps),
        )


def train_arcs(sentences: list[PairSentence], size: int, epochs: int, seeds: Sequence[int]) -> Model:
    """Fits ``W·relu(head(a) + argument(b) + pair(a, b))``, the softmax over roles and none.

    A node's state is ``relu(sum of its features)``; the top is the softmax of a product with the states.
    One network is fitted for each seed; they are joined to one that gives the mean of their scores.
    """
    data = _ScoringData(sentences)
    arrays = joined([_fitted(data, size, epochs, seed) for seed in seeds])
    return stored(Model({"node": data.of_nodes, "pair": data.of_pairs}, arrays, data.roles))


def joined(networks: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """One network with the hidden units of all, whose scores are the mean of theirs."""
    found = {
        name: np.concatenate([one[name] for one in networks], axis=-1)
        for name in ("node", "pair", "bias", "node_bias")
    }
    for name in ("head", "dep"):
        found[name] = _block_diagonal([one[name] for one in networks])
    for name in ("top", "out"):
        found[name] = np.concatenate([one[name] for one in networks]) / len(networks)
    found["out_bias"] = np.mean([one["out_bias"] for one in networks], axis=0)
    return found


def _block_diagonal(blocks: Sequence[Array]) -> Array:
    size = sum(len(block) for block in blocks)
    whole = np.zeros((size, size), np.float32)
    begin = 0
    for block in blocks:
        end = begin + len(block)
        whole[begin:end, begin:end] = block
        begin = end
    return whole


def _fitted(data: _ScoringData, size: int, epochs: int, seed: int) -> dict[str, Array]:
    import torch

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    sentences = data.sentences
    weights = _weights(len(data.of_nodes), len(data.of_pairs), len(data.roles), size)
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE_SCORING, weight_decay=DECAY_SCORING)
    steps = epochs * (len(sentences) // BATCH_SCORING + 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(1 - step / steps, 0.02))
    for _ in range(epochs):
        order = rng.permutation(len(sentences))
        for begin in range(0, len(order), BATCH_SCORING):
            batch = data.batch(order[begin : begin + BATCH_SCORING])
            if len(batch.pairs):
                loss = _loss_scoring(weights, data, batch, rng)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            schedule.step()
    return {name: one.detach().numpy() for name, one in weights.items()}


def _weights(nodes: int, pairs: int, roles: int, size: int) -> dict[str, Tensor]:
    import torch

    def drawn(*shape: int, scale: float) -> Tensor:
        return torch.nn.Parameter(torch.randn(*shape) * scale)

    return {
        "node": drawn(nodes, size, scale=START),
        "head": drawn(size, size, scale=size**-0.5),
        "dep": drawn(size, size, scale=size**-0.5),
        "pair": drawn(pairs, size, scale=START),
        "bias": drawn(size, scale=BIAS_START),
        "node_bias": drawn(size, scale=BIAS_START),
        "top": drawn(size, scale=0),
        "out": drawn(size, roles, scale=size**-0.5),
        "out_bias": drawn(roles, scale=0),
    }


def _loss_scoring(weights: dict[str, Tensor], data: _ScoringData, batch: _Batch, rng: Any) -> Tensor:
    """Of the pairs' roles and of the tops, by sentence."""
    import torch
    from torch.nn import functional

    states = torch.relu(
        summed(weights["node"], data.nodes.take(batch.nodes), DROPPED_SCORING, rng) + weights["node_bias"]
    )
    states = functional.dropout(states, DROPPED_SCORING)
    heads, deps = states @ weights["head"], states @ weights["dep"]
    between = summed(
        weights["pair"], data.pairs.take(batch.pairs), DROPPED_SCORING, rng, data.of_rules, DOUBT
    )
    hidden = heads[torch.from_numpy(batch.heads)] + deps[torch.from_numpy(batch.deps)] + between
    hidden = functional.dropout(torch.relu(hidden + weights["bias"]), DROPPED_SCORING)
    logits = hidden @ weights["out"] + weights["out_bias"]
    right = torch.from_numpy(data.right[batch.pairs])
    each = functional.cross_entropy(logits, right, reduction="none")
    total = (each * torch.from_numpy(data.weight[batch.pairs])).sum()
    return (total + _top_loss(states @ weights["top"], batch.sentences)) / len(batch.sentences)


def _top_loss(scores: Tensor, sentences: list[PairSentence]) -> Tensor:
    """The softmax over each sentence's nodes, of those sentences whose top is among them."""
    import torch

    total = scores.new_zeros(())
    begin = 0
    for one in sentences:
        end = begin + len(one.nodes)
        if one.top >= 0:
            total = total + one.weight * (torch.logsumexp(scores[begin:end], 0) - scores[begin + one.top])
        begin = end
    return total


# Trains where the polarity of *no* stands: on the noun, or on what the noun does.


STEPS, PENALTY, LEAST = 12, 1.5, 1e-4
_NO = re.compile(r"\bno\b", re.IGNORECASE)


def has_no(text: str) -> bool:
    """Whether a sentence has the word *no*."""
    return _NO.search(text) is not None


def lessons(draft: Draft, gold: GoldGraph) -> Iterator[tuple[list[str], bool]]:
    """Each *no* that stands beside a subject: its features, and whether the verb is denied."""
    denied = {gold.nodes[head].token for head, role, _ in gold.arcs if role == "polarity"}
    for found in denials(draft.words):
        if (found.verb.i in denied) != (found.noun.i in denied):
            yield denial_features(found), found.verb.i in denied


def train_denial(drafts: Sequence[Draft], golds: Sequence[GoldGraph]) -> Model:
    """Fits a logistic regression with an L2 penalty, by Newton's steps on the weights of the lessons."""
    found = [one for draft, gold in zip(drafts, golds, strict=True) for one in lessons(draft, gold)]
    known = vocabulary((bag for bag, _ in found), 1)
    rows = np.zeros((len(found), len(known)), np.float64)
    for row, (bag, _) in enumerate(found):
        rows[row, [known[feature] for feature in bag]] = 1
    right = np.array([verb for _, verb in found], np.float64)
    alike = rows @ rows.T
    shares = np.zeros(len(found))
    for _ in range(STEPS if len(found) else 0):
        odds = alike @ shares
        guess = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        unsure = np.maximum(guess * (1 - guess), LEAST)
        shares = np.linalg.solve(alike + np.diag(PENALTY / unsure), odds + (right - guess) / unsure)
    weights = rows.T @ shares
    return stored(Model({"denial": known}, {"denial": weights[:, None].astype(np.float32)}))
