"""Dialogues as a speaker-aware encoder reads them: markers behind utterances and turns, and who speaks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

END_OF_UTTERANCE = "[EOU]"
END_OF_TURN = "[EOT]"
MARKERS = (END_OF_UTTERANCE, END_OF_TURN)
SPEAKERS = 2
SEGMENTS = 2


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
    a response that is too long alone, its end.
    """

    def __init__(self, tokenizer: Any, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._utterance, self._turn = (tokenizer.convert_tokens_to_ids(one) for one in MARKERS)
        pair: list[int] = tokenizer(*MARKERS)["input_ids"]
        first, second = pair.index(self._utterance), pair.index(self._turn)
        self._start, self._between, self._end = pair[:first], pair[first + 1 : second], pair[second + 1 :]

    @property
    def special(self) -> frozenset[int]:
        """Tokens that stand for no text: those around context and response, and the markers."""
        around = (*self._start, *self._between, *self._end)
        return frozenset((*around, self._utterance, self._turn))

    def rows(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[Row]:
        """A row of each pair."""
        turns = self._turns(turn for context in contexts for turn in context)
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

    def _turns(self, texts: Iterable[str]) -> dict[str, list[int]]:
        lines = {text: text.splitlines() or [""] for text in texts}
        tokens = self._tokens([line for some in lines.values() for line in some])
        return {
            text: [token for line in some for token in (*tokens[line], self._utterance)] + [self._turn]
            for text, some in lines.items()
        }

    def _tokens(self, texts: Iterable[str]) -> dict[str, list[int]]:
        """The tokens of each text, which is read once however often it comes up."""
        different = list(dict.fromkeys(texts))
        if not different:
            return {}
        found = self._tokenizer(different, add_special_tokens=False, verbose=False)["input_ids"]
        return dict(zip(different, found, strict=True))


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
