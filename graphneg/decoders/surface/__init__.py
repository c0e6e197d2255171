"""The ``surface`` decoder: realises edits on the words of the original utterance. English only."""

from __future__ import annotations

from graphneg.decoders.surface.decoder import SurfaceDecoder

__all__ = ["SurfaceDecoder"]
