"""Decoders turn edited graphs back into text.

``surface`` realises edits on the original words; ``t5`` generates from the whole graph.
"""

from __future__ import annotations

from graphneg.decoders.base import Decoder, decoder_names, get_decoder, guarded, refuse_original

__all__ = ["Decoder", "decoder_names", "get_decoder", "guarded", "refuse_original"]
