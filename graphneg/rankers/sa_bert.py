"""Rank responses with speaker-aware BERT, a cross-encoder whose input shows turns and speakers.

The model is described in sections 3.1 and 3.2 of Gu et al. (2020), "Speaker-Aware BERT for Multi-Turn
Response Selection in Retrieval-Based Chatbots", CIKM. In the paper, the embedding of a token is the sum of
several embeddings, of which one is for its segment and one for its speaker. Here, a single embedding is used
for both: the encoder's table of segment embeddings is extended, so that it has one row for each combination
of segment and speaker. The result is equivalent, and transformers can load the model without extra code.

Example:
    The context ["Hi!", "Do you like tea?"] and the response "Yes." become ``[CLS] hi ! [EOU] [EOT] do you
    like tea ? [EOU] [EOT] [SEP] yes . [SEP]``. The token type is 0 in the first turn (by the responder), 2 in
    the second turn (by the other speaker), and 1 in the response.
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
"""The special tokens that mark the end of an utterance and the end of a turn."""
SPEAKERS = 2
SEGMENTS = 2
_TABLE = "token_type_embeddings"
# Number of token types. A type stands for a segment s and a speaker p, and is s + 2 * p.
_TYPES = SEGMENTS * SPEAKERS
# Factor for the initial speaker vectors. It is small, so that the new vectors hardly change the output of the
# pretrained encoder at first.
_SPEAKER_SCALE = 0.1


@dataclass(frozen=True, slots=True)
class Row:
    """A tokenized pair of a context and a response.

    The type of a token is ``segment + 2 * speaker``. The segment is 0 for the context and 1 for the response.
    The speaker is 0 for the speaker of the response and 1 for the other speaker.

    Attributes:
        tokens: Token ids.
        types: The type of each token, from 0 to 3.
    """

    tokens: list[int]
    types: list[int]


class SpeakerInputs:
    """Converts pairs of a context and a response into token ids and token types.

    Two speakers are assumed to take turns in a context. Each line of a turn is an utterance. The marker
    ``[EOU]`` is put after each utterance, and ``[EOT]`` after each turn of the context (Gu et al. 2020,
    section 3.1). If a pair is too long, the oldest turns are left out as a whole. If even the last turn is
    too long, it is truncated at its beginning. If the response alone is too long, the response is truncated
    at its end.

    Attributes:
        special: Ids of all tokens that do not belong to a text: ``[EOU]``, ``[EOT]`` and the special tokens
            of the tokenizer, such as ``[SEP]``.
    """

    def __init__(self, tokenizer: Any, max_tokens: int) -> None:
        """Initialize the converter.

        Args:
            tokenizer: A tokenizer whose vocabulary contains the markers ``[EOU]`` and ``[EOT]``.
            max_tokens: Maximum length in tokens of a pair of a context and a response.
        """
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._utterance, self._turn = (tokenizer.convert_tokens_to_ids(item) for item in MARKERS)
        # To find out which special tokens the tokenizer adds to a pair of texts, tokenize the two markers
        # [EOU] and [EOT] as if they were texts. All other tokens in the result are special tokens before,
        # between or after the texts.
        pair: list[int] = tokenizer(*MARKERS)["input_ids"]
        first, second = pair.index(self._utterance), pair.index(self._turn)
        self._start, self._between, self._end = pair[:first], pair[first + 1 : second], pair[second + 1 :]
        around = (*self._start, *self._between, *self._end)
        self.special = frozenset((*around, self._utterance, self._turn))

    def rows(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[Row]:
        """Tokenize pairs of a context and a response.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            The token ids and types of each pair, without padding.
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
        """Convert tokenized pairs of a context and a response into padded tensors.

        Args:
            rows: The tokenized pairs.

        Returns:
            The tensors ``input_ids``, ``token_type_ids`` and ``attention_mask`` by name, all of shape (rows,
            tokens). Shorter rows are padded to the length of the longest.
        """
        names = {"input_ids": [row.tokens for row in rows], "token_type_ids": [row.types for row in rows]}
        return self._tokenizer.pad(names, padding=True, return_attention_mask=True, return_tensors="pt")

    def _row(self, turns: Sequence[list[int]], response: list[int]) -> Row:
        """Join the tokens of a context and a response. Leave out the oldest turns if they do not fit."""
        room = self._max_tokens - len(self._start) - len(self._between) - len(self._end)
        response = response[:room]
        kept = last_turns(turns, room - len(response))
        tokens, types = list(self._start), [0] * len(self._start)
        for back, turn in zip(range(len(kept), 0, -1), kept, strict=True):
            tokens += turn
            # The turns are numbered from the end, so the last turn has the number 1. Since speakers
            # alternate, turns with odd numbers belong to the other speaker, and turns with even numbers to
            # the speaker of the response.
            types += [SEGMENTS * (back % SPEAKERS)] * len(turn)
        tokens += self._between
        types += [0] * len(self._between)
        tokens += [*response, *self._end]
        types += [1] * (len(response) + len(self._end))
        return Row(tokens, types)

    def _tokens(self, texts: Iterable[str]) -> dict[str, list[int]]:
        """Return the token ids of each distinct text."""
        different = list(dict.fromkeys(texts))
        if not different:
            return {}
        tokens = self._tokenizer(different, add_special_tokens=False, verbose=False)["input_ids"]
        return dict(zip(different, tokens, strict=True))


def last_turns(turns: Sequence[list[int]], room: int) -> list[list[int]]:
    """Return the last turns that together have at most ``room`` tokens.

    Args:
        turns: The token ids of each turn.
        room: Maximum number of tokens.

    Returns:
        The last turns that fit as a whole. If not even one turn fits, the last ``room`` tokens of the last
        turn.

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
    """A cross-encoder whose input shows where each turn ends (markers) and who speaks (token types).

    `SpeakerInputs` describes the input. The last turn of the context is assumed to be by the other speaker,
    not by the speaker of the response. `new` adds the markers, the token types for the speakers and a head to
    an encoder. If an encoder already has these token types, for example because
    `graphneg.training.domain_adaptation.adapt` added them, they are kept. The embeddings of token types are
    trained even if ``frozen`` contains ``embeddings``, because they are new. To freeze them, too, add
    ``token_type_embeddings`` to ``frozen``.
    """

    kind: ClassVar[str] = SA_BERT
    reads_first: ClassVar[First] = "context"

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, **options: Any) -> None:
        """Initialize a ranker with a loaded model.

        Args:
            model: The encoder with its classification head.
            tokenizer: The tokenizer of the encoder, to which `add_speakers` has added the markers.
            **options: Further arguments of `CrossEncoder`, such as ``max_tokens``.
        """
        super().__init__(model, tokenizer, **options)
        self._inputs = SpeakerInputs(tokenizer, self.max_tokens)

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> BatchEncoding:
        """Tokenize pairs of a context and a response.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            The tensors that `SpeakerInputs.batch` returns, of shape (pairs, tokens).
        """
        return self._inputs.batch(self._inputs.rows(contexts, responses))

    @classmethod
    def _prepare(cls, network: Any, tokenizer: Any, seed: int, frozen: Collection[str]) -> None:
        """Add token types and markers to a new classifier.

        Parameters whose names begin with a prefix in ``frozen`` are excluded from training.
        """
        add_speakers(network, tokenizer, seed)
        super()._prepare(network, tokenizer, seed, frozen)
        if _TABLE not in frozen:
            _segment_table(network)[2].weight.requires_grad_(True)


def add_speakers(network: Any, tokenizer: Any, seed: int) -> None:
    """Add token types for the speakers to an encoder, and ``[EOU]`` and ``[EOT]`` to its tokenizer.

    The initial embedding of a new token type is the sum of its segment's embedding and a small random vector
    for its speaker. The initial embedding of a marker is close to the embedding of the separator token.
    Existing token types and markers are kept. Raises `ModelError` if the encoder has no segment embeddings.

    Args:
        network: The encoder, to which the embeddings are added in place.
        tokenizer: The tokenizer, to which the markers are added in place.
        seed: Seed for the new random parameters.
    """
    import torch

    generator = torch.Generator().manual_seed(number(seed, "speakers") >> 1)
    _add_markers(network, tokenizer, generator)
    parent, name, table = _segment_table(network)
    if table.num_embeddings == _TYPES:
        return
    rows = table.weight.detach()
    # RoBERTa has only one segment embedding. Both segments start with copies of it.
    segments = rows if len(rows) == SEGMENTS else rows.expand(SEGMENTS, -1)
    speakers = _SPEAKER_SCALE * _random_parameters(network, (SPEAKERS, 1, rows.shape[1]), generator)
    wider = torch.nn.Embedding(_TYPES, rows.shape[1])
    with torch.no_grad():
        # `speakers + segments` has a vector for each speaker and segment, in the shape (speakers, segments,
        # size). In the flattened table, row s + 2 * p belongs to the segment s and the speaker p.
        wider.weight.copy_((speakers + segments).flatten(0, 1))
    setattr(parent, name, wider)
    network.config.type_vocab_size = _TYPES


def _segment_table(network: Any) -> tuple[Any, str, Any]:
    """Return the table of segment embeddings, preceded by its parent module and its attribute name."""
    for path, module in network.named_modules():
        if path.rpartition(".")[2] == _TABLE and module.num_embeddings in (1, SEGMENTS, _TYPES):
            above, _, name = path.rpartition(".")
            return network.get_submodule(above), name, module
    name, kind = network.config.name_or_path, network.config.model_type
    raise ModelError(
        f"{name}: {kind} has no segment embeddings that could be extended by speakers; "
        "start from BERT, ELECTRA, ALBERT or RoBERTa, or train another kind of ranker"
    )


def _add_markers(network: Any, tokenizer: Any, generator: Any) -> None:
    """Add ``[EOU]`` and ``[EOT]`` to the tokenizer, and initialize their embeddings in the network."""
    import torch

    known = tokenizer.get_vocab()
    new = [marker for marker in MARKERS if marker not in known]
    if not new:
        return
    tokenizer.add_special_tokens({"extra_special_tokens": new}, replace_extra_special_tokens=False)
    old = network.get_input_embeddings().num_embeddings
    # Many encoders have an embedding table with unused rows. Add rows to the table only if it has fewer rows
    # than the tokenizer has tokens.
    if len(tokenizer) > old:
        network.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    rows = network.get_input_embeddings().weight
    separator = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    near = rows.detach()[separator] if separator is not None else rows.detach().mean(0)
    with torch.no_grad():
        for marker in new:
            at = tokenizer.convert_tokens_to_ids(marker)
            rows[at] = near + _random_parameters(network, near.shape, generator)


def _random_parameters(network: Any, shape: Sequence[int], generator: Any) -> Any:
    """Draw random parameters with the standard deviation that the encoder uses for initialization."""
    import torch

    return torch.randn(*shape, generator=generator) * getattr(network.config, "initializer_range", 0.02)
