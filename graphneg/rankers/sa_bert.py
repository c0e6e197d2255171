"""Speaker-aware BERT: a cross-encoder that knows where turns end and who says them.

Gu et al. 2020, Speaker-Aware BERT for Multi-Turn Response Selection in Retrieval-Based Chatbots, CIKM,
sections 3.1 and 3.2. Their model adds an embedding of the speaker to each token beside that of the
segment. A sum of two tables is one table: here the encoder's own table of segments gets a row for each
segment and speaker, so that the model is one that transformers loads as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from graphneg.errors import ModelError
from graphneg.hashing import number
from graphneg.rankers.base import SA_BERT
from graphneg.rankers.cross_encoder import CrossEncoder, First

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

END_OF_UTTERANCE = "[EOU]"
END_OF_TURN = "[EOT]"
MARKERS = (END_OF_UTTERANCE, END_OF_TURN)
SPEAKERS = 2
SEGMENTS = 2
_TABLE = "token_type_embeddings"
_TYPES = SEGMENTS * SPEAKERS
_FAINT = 0.1  # speakers begin faint: a trained encoder goes on reading as it did


@dataclass(frozen=True, slots=True)
class Row:
    """One pair as tokens. A token's type is ``segment + 2 * speaker``.

    Segment 1 is the response. Speaker 0 is the one who responds, 1 the one who said the last turn.
    """

    tokens: list[int]
    types: list[int]


class SpeakerInputs:
    """Makes rows of pairs, of at most ``max_tokens`` tokens.

    A context is the texts of its turns, oldest first, and the speakers take turns. A line of a turn's
    text is one utterance. As Gu et al. 2020 (Speaker-Aware BERT, section 3.1) have it, ``[EOU]`` stands
    behind each utterance and ``[EOT]`` behind each turn of the context. What is too long loses its
    oldest turns, each as a whole; a last turn that is too long alone, its beginning; and
    a response that is too long alone, its end. ``special`` tokens stand for no text: those around context and
    response, and the markers.
    """

    def __init__(self, tokenizer: Any, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._utterance, self._turn = (tokenizer.convert_tokens_to_ids(item) for item in MARKERS)
        pair: list[int] = tokenizer(*MARKERS)["input_ids"]
        first, second = pair.index(self._utterance), pair.index(self._turn)
        self._start, self._between, self._end = pair[:first], pair[first + 1 : second], pair[second + 1 :]
        around = (*self._start, *self._between, *self._end)
        self.special = frozenset((*around, self._utterance, self._turn))

    def rows(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[Row]:
        """A row of each pair."""
        lines = {turn: turn.splitlines() or [""] for context in contexts for turn in context}
        tokens = self._tokens(line for some in lines.values() for line in some)
        turns = {
            text: [token for line in some for token in (*tokens[line], self._utterance)] + [self._turn]
            for text, some in lines.items()
        }
        answers = self._tokens(responses)
        return [
            self._row([turns[turn] for turn in context], answers[response])
            for context, response in zip(contexts, responses, strict=True)
        ]

    def batch(self, rows: Sequence[Row]) -> Any:
        """Rows as tensors of shape (rows, tokens), padded to the longest."""
        names = {"input_ids": [row.tokens for row in rows], "token_type_ids": [row.types for row in rows]}
        return self._tokenizer.pad(names, padding=True, return_attention_mask=True, return_tensors="pt")

    def _row(self, turns: Sequence[list[int]], response: list[int]) -> Row:
        room = self._max_tokens - len(self._start) - len(self._between) - len(self._end)
        response = response[:room]
        kept = last_turns(turns, room - len(response))
        tokens, types = list(self._start), [0] * len(self._start)
        for back, turn in zip(range(len(kept), 0, -1), kept, strict=True):
            tokens += turn
            types += [SEGMENTS * (back % SPEAKERS)] * len(turn)
        tokens += self._between
        types += [0] * len(self._between)
        tokens += [*response, *self._end]
        types += [1] * (len(response) + len(self._end))
        return Row(tokens, types)

    def _tokens(self, texts: Iterable[str]) -> dict[str, list[int]]:
        """The tokens of each text, which is read once however often it comes up."""
        different = list(dict.fromkeys(texts))
        if not different:
            return {}
        tokens = self._tokenizer(different, add_special_tokens=False, verbose=False)["input_ids"]
        return dict(zip(different, tokens, strict=True))


def last_turns(turns: Sequence[list[int]], room: int) -> list[list[int]]:
    """The last turns that fit into ``room`` tokens together; of a last one too long alone, its end.

    >>> last_turns([[1, 1], [2, 2], [3]], 4), last_turns([[1], [2, 3, 4]], 2)
    ([[2, 2], [3]], [[3, 4]])
    """
    kept: list[list[int]] = []
    for turn in reversed(turns):
        if len(turn) > room:
            break
        kept.append(turn)
        room -= len(turn)
    if not kept and turns and room > 0:
        kept.append(turns[-1][-room:])
    return kept[::-1]


class SpeakerAwareBert(CrossEncoder):
    """A sequence classifier over context and response that is told speakers and ends of turns.

    How a pair is read, and what is cut of a long one: `SpeakerInputs`. The context's last turn is said by
    the one who does not respond. A new one gets speakers, markers and a head; an encoder that has speakers
    already, from `graphneg.training.domain_adaptation.adapt` say, keeps them. Speakers learn where
    ``frozen`` names ``embeddings``, too: they are new. To freeze them, name ``token_type_embeddings``.
    """

    kind: ClassVar[str] = SA_BERT
    reads_first: ClassVar[First] = "context"

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self._inputs = SpeakerInputs(tokenizer, self.max_tokens)

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> BatchEncoding:
        """Tokens of the pairs and their types, shape (pairs, tokens), padded to the longest."""
        return self._inputs.batch(self._inputs.rows(contexts, responses))

    @classmethod
    def _prepare(cls, network: Any, tokenizer: Any, seed: int, frozen: Collection[str]) -> None:
        add_speakers(network, tokenizer, seed)
        super()._prepare(network, tokenizer, seed, frozen)
        if _TABLE not in frozen:
            _table(network)[2].weight.requires_grad_(True)


def add_speakers(network: Any, tokenizer: Any, seed: int) -> None:
    """Give an encoder a row of types for each segment and speaker, and its tokenizer the markers.

    A new row is the segment's row and a small speaker's row; a marker starts near the separator. What
    is there already stays.

    Raises `ModelError`: the encoder has no table of segments, or one of another size.
    """
    import torch

    generator = torch.Generator().manual_seed(number(seed, "speakers") >> 1)
    _add_markers(network, tokenizer, generator)
    parent, name, table = _table(network)
    if table.num_embeddings == _TYPES:
        return
    rows = table.weight.detach()
    segments = rows if len(rows) == SEGMENTS else rows.expand(SEGMENTS, -1)
    speakers = _FAINT * _drawn(network, (SPEAKERS, 1, rows.shape[1]), generator)
    wider = torch.nn.Embedding(_TYPES, rows.shape[1])
    with torch.no_grad():
        wider.weight.copy_((speakers + segments).flatten(0, 1))
    setattr(parent, name, wider)
    network.config.type_vocab_size = _TYPES


def _table(network: Any) -> tuple[Any, str, Any]:
    """The module that has the table of segments, the table's name in it, and the table."""
    for path, module in network.named_modules():
        if path.rpartition(".")[2] == _TABLE and module.num_embeddings in (1, SEGMENTS, _TYPES):
            above, _, name = path.rpartition(".")
            return network.get_submodule(above), name, module
    name, kind = network.config.name_or_path, network.config.model_type
    raise ModelError(
        f"{name}: {kind} has no table of one or two segments, which speakers would go into; "
        "start from BERT, ELECTRA, ALBERT or RoBERTa, or train another kind of ranker"
    )


def _add_markers(network: Any, tokenizer: Any, generator: Any) -> None:
    import torch

    known = tokenizer.get_vocab()
    new = [marker for marker in MARKERS if marker not in known]
    if not new:
        return
    tokenizer.add_special_tokens({"extra_special_tokens": new}, replace_extra_special_tokens=False)
    old = network.get_input_embeddings().num_embeddings
    if len(tokenizer) > old:
        network.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    rows = network.get_input_embeddings().weight
    separator = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    near = rows.detach()[separator] if separator is not None else rows.detach().mean(0)
    with torch.no_grad():
        for marker in new:
            at = tokenizer.convert_tokens_to_ids(marker)
            rows[at] = near + _drawn(network, near.shape, generator)


def _drawn(network: Any, shape: Sequence[int], generator: Any) -> Any:
    """Weights as the architecture draws its own at their start."""
    import torch

    return torch.randn(*shape, generator=generator) * getattr(network.config, "initializer_range", 0.02)
