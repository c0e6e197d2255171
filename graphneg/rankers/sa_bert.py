"""Rank responses with speaker-aware BERT, a cross-encoder that knows turns and speakers.

Gu et al. (2020), "Speaker-Aware BERT for Multi-Turn Response Selection in Retrieval-Based Chatbots", CIKM,
sections 3.1 and 3.2. The paper adds a speaker embedding to each token, in addition to the segment embedding.
Here, the encoder's own segment table gets one row for each pair of segment and speaker instead. The sum of
two tables is again a table, and the model can be loaded by transformers without extra code.

Example:
    The context ["Hi!", "Do you like tea?"] and the response "Yes." become ``[CLS] hi ! [EOU] [EOT] do you
    like tea ? [EOU] [EOT] [SEP] yes . [SEP]``. The tokens of "Hi!" have type 0, those of the second turn type
    2, and those of the response type 1.
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
"""The special tokens after each utterance and after each turn."""
SPEAKERS = 2
SEGMENTS = 2
_TABLE = "token_type_embeddings"
# A token type is segment + 2 * speaker.
_TYPES = SEGMENTS * SPEAKERS
# Speaker vectors start small, so that they hardly disturb the pretrained encoder.
_FAINT = 0.1


@dataclass(frozen=True, slots=True)
class Row:
    """A tokenized pair.

    The type of a token is ``segment + 2 * speaker``. Segment 1 is the response. Speaker 0 is the responder,
    speaker 1 the other one.

    Attributes:
        tokens: Token ids.
        types: Token types.
    """

    tokens: list[int]
    types: list[int]


class SpeakerInputs:
    """Convert pairs to token ids and types.

    A context is the texts of its turns, oldest first; the speakers alternate. Each line of a turn is an
    utterance. ``[EOU]`` follows each utterance and ``[EOT]`` each turn of the context (Gu et al. 2020,
    section 3.1). If a pair is too long, the oldest turns are dropped as a whole. A last turn that is too long
    by itself is truncated at its beginning, and a response that is too long by itself at its end.

    Attributes:
        special: Ids of tokens that stand for no text: the markers, and those that the tokenizer adds.
    """

    def __init__(self, tokenizer: Any, max_tokens: int) -> None:
        """Initialize the conversion.

        Args:
            tokenizer: A tokenizer that knows the markers.
            max_tokens: Maximum length of a pair in tokens.
        """
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._utterance, self._turn = (tokenizer.convert_tokens_to_ids(item) for item in MARKERS)
        # Tokenize a pair of markers to find the special tokens before, between and after the texts.
        pair: list[int] = tokenizer(*MARKERS)["input_ids"]
        first, second = pair.index(self._utterance), pair.index(self._turn)
        self._start, self._between, self._end = pair[:first], pair[first + 1 : second], pair[second + 1 :]
        around = (*self._start, *self._between, *self._end)
        self.special = frozenset((*around, self._utterance, self._turn))

    def rows(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[Row]:
        """Tokenize pairs.

        Args:
            contexts: The contexts.
            responses: One response per context.

        Returns:
            One row per pair.
        """
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
        """Pad rows to tensors.

        Args:
            rows: The rows.

        Returns:
            Tensors of shape (rows, tokens) by name, padded to the longest row.
        """
        names = {"input_ids": [row.tokens for row in rows], "token_type_ids": [row.types for row in rows]}
        return self._tokenizer.pad(names, padding=True, return_attention_mask=True, return_tensors="pt")

    def _row(self, turns: Sequence[list[int]], response: list[int]) -> Row:
        """Join the tokens of turns and response, truncated to the maximum length."""
        room = self._max_tokens - len(self._start) - len(self._between) - len(self._end)
        response = response[:room]
        kept = last_turns(turns, room - len(response))
        tokens, types = list(self._start), [0] * len(self._start)
        for back, turn in zip(range(len(kept), 0, -1), kept, strict=True):
            tokens += turn
            # Counted from the end, odd turns are those of the other speaker: the last turn has back = 1.
            types += [SEGMENTS * (back % SPEAKERS)] * len(turn)
        tokens += self._between
        types += [0] * len(self._between)
        tokens += [*response, *self._end]
        types += [1] * (len(response) + len(self._end))
        return Row(tokens, types)

    def _tokens(self, texts: Iterable[str]) -> dict[str, list[int]]:
        """Tokenize each distinct text once."""
        different = list(dict.fromkeys(texts))
        if not different:
            return {}
        tokens = self._tokenizer(different, add_special_tokens=False, verbose=False)["input_ids"]
        return dict(zip(different, tokens, strict=True))


def last_turns(turns: Sequence[list[int]], room: int) -> list[list[int]]:
    """Return the last turns that fit into a number of tokens.

    Args:
        turns: The token ids of each turn.
        room: Maximum number of tokens.

    Returns:
        The turns. If the last turn alone is too long, its end.

    Example:
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
    """A sequence classifier over context and response with markers of turns and speaker types.

    `SpeakerInputs` describes the input. The last turn of the context belongs to the speaker who does not
    respond. A new ranker gets speaker types, markers and a head. An encoder that has speaker types already,
    such as one from `graphneg.training.domain_adaptation.adapt`, keeps them. Speaker types are new
    parameters, so they are trained even if ``frozen`` has ``embeddings``. To freeze them, add
    ``token_type_embeddings`` to ``frozen``.
    """

    kind: ClassVar[str] = SA_BERT
    reads_first: ClassVar[First] = "context"

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, **options: Any) -> None:
        """Initialize a ranker with a loaded model.

        Args:
            model: The encoder with its head.
            tokenizer: The tokenizer.
            **options: Options of `CrossEncoder`.
        """
        super().__init__(model, tokenizer, **options)
        self._inputs = SpeakerInputs(tokenizer, self.max_tokens)

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> BatchEncoding:
        """Tokenize pairs of a context and a response.

        Args:
            contexts: The contexts.
            responses: One response per context.

        Returns:
            Tensors of shape (pairs, tokens) by name, token types included, padded to the longest pair.
        """
        return self._inputs.batch(self._inputs.rows(contexts, responses))

    @classmethod
    def _prepare(cls, network: Any, tokenizer: Any, seed: int, frozen: Collection[str]) -> None:
        """Add speaker types and markers to a new classifier, and freeze parameters."""
        add_speakers(network, tokenizer, seed)
        super()._prepare(network, tokenizer, seed, frozen)
        if _TABLE not in frozen:
            _table(network)[2].weight.requires_grad_(True)


def add_speakers(network: Any, tokenizer: Any, seed: int) -> None:
    """Add speaker types to an encoder and markers to its tokenizer.

    A new type starts as the row of its segment plus a small random speaker vector. A marker starts near the
    separator. Existing types and markers are kept. An encoder without a segment table raises `ModelError`.

    Args:
        network: The encoder, changed in place.
        tokenizer: The tokenizer, changed in place.
        seed: Seed of the new parameters.
    """
    import torch

    generator = torch.Generator().manual_seed(number(seed, "speakers") >> 1)
    _add_markers(network, tokenizer, generator)
    parent, name, table = _table(network)
    if table.num_embeddings == _TYPES:
        return
    rows = table.weight.detach()
    # RoBERTa has a single segment: both segments start from it.
    segments = rows if len(rows) == SEGMENTS else rows.expand(SEGMENTS, -1)
    speakers = _FAINT * _drawn(network, (SPEAKERS, 1, rows.shape[1]), generator)
    wider = torch.nn.Embedding(_TYPES, rows.shape[1])
    with torch.no_grad():
        # The sum has the shape (speakers, segments, size); flattened, row segment + 2 * speaker is the
        # type's.
        wider.weight.copy_((speakers + segments).flatten(0, 1))
    setattr(parent, name, wider)
    network.config.type_vocab_size = _TYPES


def _table(network: Any) -> tuple[Any, str, Any]:
    """Return the module with the segment table, the name of the table in it, and the table."""
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
    """Add the markers to the tokenizer and their embeddings to the network."""
    import torch

    known = tokenizer.get_vocab()
    new = [marker for marker in MARKERS if marker not in known]
    if not new:
        return
    tokenizer.add_special_tokens({"extra_special_tokens": new}, replace_extra_special_tokens=False)
    old = network.get_input_embeddings().num_embeddings
    # Many encoders have spare rows in their embedding table, which may be enough for the markers.
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
    """Draw parameters with the standard deviation that the architecture uses for initialization."""
    import torch

    return torch.randn(*shape, generator=generator) * getattr(network.config, "initializer_range", 0.02)
