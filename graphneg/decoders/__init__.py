"""Decoders turn edited AMR graphs back into text.

Three decoders are part of graphneg. ``surface`` applies the edits to the words of the original utterance and
needs no download. ``t5`` generates the text from the whole edited graph with a language model. ``rescored``
collects the texts of ``surface`` and ``t5``, and keeps the text that expresses the edited graph best. Other
packages can add decoders by declaring an entry point.

For the utterance "I saw it." with the graph ``(s / see-01 :ARG0 (i / i) :ARG1 (i2 / it))`` and an edit that
adds ``:polarity -`` to ``see-01``, ``surface`` returns "I did not see it."
"""

from __future__ import annotations

from graphneg.decoders.base import Decoder, decoder_names, get_decoder, guarded, refuse_original

__all__ = ["Decoder", "decoder_names", "get_decoder", "guarded", "refuse_original"]
