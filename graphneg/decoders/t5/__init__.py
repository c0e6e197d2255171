"""Decoding with a sequence-to-sequence model: the edited graph goes in, a text comes out.

AMR leaves out tense, articles and style, so the text may differ from the original in more
than the edit; the ``surface`` decoder keeps them. torch, transformers and ctranslate2 are
imported when a decoder is made.
"""

from __future__ import annotations

from graphneg.decoders.t5.decoder import T5Decoder
from graphneg.decoders.t5.sampling import Sampling
from graphneg.decoders.t5.serialise import one_line

__all__ = ["Sampling", "T5Decoder", "one_line"]
