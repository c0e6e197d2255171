"""Retrieve sentences that share words with a context but describe another scene (``overlap``, ``hard``)."""

from __future__ import annotations

from graphneg.generators.overlap.generator import Denoiser, OverlapGenerator
from graphneg.generators.overlap.target_profile import OverlapOptions

__all__ = ["Denoiser", "OverlapGenerator", "OverlapOptions"]
