"""``overlap``: sentences that share words with the context and are set in another scene."""

from __future__ import annotations

from graphneg.generators.overlap.generator import Denoiser, OverlapGenerator
from graphneg.generators.overlap.target_profile import Conditions

__all__ = ["Conditions", "Denoiser", "OverlapGenerator"]
