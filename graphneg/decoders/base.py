"""What a decoder is, and how one is found by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from graphneg.english.tokens import match_key
from graphneg.errors import DecoderError
from graphneg.model import Decoded, EditedUtterance
from graphneg.plugins import Plugins

PLUGINS = Plugins("decoder", "graphneg.decoders", DecoderError)


@runtime_checkable
class Decoder(Protocol):
    """Turns edited graphs back into text."""

    @property
    def name(self) -> str:
        """The name that negatives carry."""
        ...

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """One answer for each item, in order: a text, or a reason. Never the original text."""
        ...


class Guarded:
    """A decoder whose answers are checked: the original text, or nothing, is no answer."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    @property
    def name(self) -> str:
        """The name of the decoder that is guarded."""
        return self._decoder.name

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """The decoder's answers, one for each item; raises `DecoderError` where their number differs."""
        answers = self._decoder.decode(batch)
        if len(answers) != len(batch):
            raise DecoderError(
                f"decoder {self.name} answered {len(answers)} of {len(batch)} items; "
                "it must give one answer for each, in order"
            )
        return [refuse_original(item.text, answer) for item, answer in zip(batch, answers, strict=True)]


def guarded(decoder: Decoder) -> Decoder:
    """The decoder with its answers checked; one that is guarded already stays as it is."""
    return decoder if isinstance(decoder, Guarded) else Guarded(decoder)


def refuse_original(original: str, answer: Decoded) -> Decoded:
    """The answer, unless it says what the original says already, or nothing.

    >>> refuse_original("I saw it.", Decoded("I  saw it. ")).reason
    'unchanged: the decoded text is the original one'
    """
    if answer.text is None:
        return answer
    if not answer.text.strip():
        return Decoded(None, "empty: the decoded text has no words")
    if match_key(answer.text) == match_key(original):
        return Decoded(None, "unchanged: the decoded text is the original one")
    return answer


def decoder_names() -> list[str]:
    """Every decoder that ``get_decoder`` knows, installed ones included."""
    return PLUGINS.names()


def get_decoder(name: str, **options: Any) -> Decoder:
    """The decoder of that name, made with the options it takes.

    Packages add decoders by an entry point in the group ``graphneg.decoders``.

    Raises `DecoderError`: no such decoder, it does not take these options, or it can't be imported.
    """
    made: Decoder = PLUGINS.make(name, options)
    return guarded(made)
