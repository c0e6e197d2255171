"""The interface of decoders, which turn edited AMR graphs into text, and the registry of decoders.

A decoder receives utterances with their graphs before and after the edits. For each utterance, it returns the
text of the edited graph, or the reason why it could not produce a text. `get_decoder` creates a decoder by
name and wraps it in a check, so that an edited graph never gets the original text of the utterance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast, runtime_checkable

from graphneg.english.tokens import match_key
from graphneg.errors import DecoderError
from graphneg.model import Decoded, EditedUtterance
from graphneg.plugins import Plugins, plugin_errors, require_object

PLUGINS = Plugins("decoder", "graphneg.decoders", DecoderError)
"""The registry of the decoders in graphneg and in other installed packages."""


@runtime_checkable
class Decoder(Protocol):
    """Interface of a decoder, which turns edited graphs into text."""

    @property
    def name(self) -> str:
        """The name of the decoder. Each negative whose text the decoder wrote is stored with this name."""
        ...

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """Decode a batch of edited utterances.

        Args:
            batch: Utterances with their graphs before and after the edits.

        Returns:
            One result for each utterance, in the order of the batch: a text for the edited graph, or the
            reason why there is no text. The text must differ from the original text of the utterance.
        """
        ...


class Guarded:
    """Wrapper that checks the results of a decoder.

    A result whose text is empty or equal to the original text is replaced by a result that gives the reason
    why the text cannot be used.

    Args:
        decoder: Decoder whose results are checked.
    """

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    @property
    def name(self) -> str:
        """The name of the wrapped decoder."""
        return self._decoder.name

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """Decode a batch with the wrapped decoder, and check each result.

        Args:
            batch: Utterances with their graphs before and after the edits.

        Returns:
            One result for each utterance, in the order of the batch: a text, or the reason why there is no
            usable text.

        Raises:
            DecoderError: The decoder returned no list, a list with an item that is not a `Decoded`, or fewer
                or more items than the batch has.
        """
        with plugin_errors("decoder", self.name, self._decoder, DecoderError):
            answers: Any = self._decoder.decode(batch)
        if not isinstance(answers, Sequence):
            raise DecoderError(
                f"decoder {self.name} returned a {type(answers).__name__}; "
                "decode(batch) must return one Decoded for each item, in order"
            )
        for answer in cast("Sequence[Any]", answers):
            if not isinstance(answer, Decoded):
                raise DecoderError(
                    f"decoder {self.name} answered with a {type(answer).__name__}; "
                    "an answer is a Decoded(text) or a Decoded(None, reason)"
                )
        if len(answers) != len(batch):
            raise DecoderError(
                f"decoder {self.name} answered {len(answers)} of {len(batch)} items; "
                "it must give one answer for each, in order"
            )
        return [refuse_original(item.text, answer) for item, answer in zip(batch, answers, strict=True)]


def guarded(decoder: Decoder) -> Decoder:
    """Wrap a decoder so that its results are checked.

    Args:
        decoder: Decoder to wrap in a `Guarded`.

    Returns:
        The wrapped decoder; ``decoder`` itself if it is already wrapped.
    """
    require_object("decoder", decoder, ("name", "decode(batch)"), DecoderError)
    return decoder if isinstance(decoder, Guarded) else Guarded(decoder)


def refuse_original(original: str, answer: Decoded) -> Decoded:
    """Reject the result of a decoder if its text is empty or equal to the original text.

    Args:
        original: Text of the utterance before the edits.
        answer: Result of a decoder for the edited utterance.

    Returns:
        A result without text if the text of ``answer`` is empty or equal to ``original``. Its reason starts
        with ``empty`` or ``unchanged``. In all other cases, ``answer`` itself.

    Example:
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
    """Return the names of the decoders in graphneg and in other installed packages."""
    return PLUGINS.names()


def get_decoder(name: str, **options: Any) -> Decoder:
    """Create a decoder by its name.

    Packages add decoders by entry points in the group ``graphneg.decoders``. A `DecoderError` is raised if no
    decoder has this name, if the decoder does not accept one of the options, or if it cannot be imported.

    Args:
        name: Name of the decoder, for example ``surface`` or ``t5``.
        **options: Keyword arguments with which the decoder is created.

    Returns:
        The decoder, wrapped by `guarded` so that its results are checked.
    """
    made: Decoder = PLUGINS.make(name, options)
    return guarded(made)
