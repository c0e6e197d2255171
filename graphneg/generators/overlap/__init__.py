"""``overlap``: sentences that share words with the context and are set in another scene."""

from __future__ import annotations

from graphneg.generators.overlap.conditions import Conditions
from graphneg.generators.overlap.denoising import Denoiser
from graphneg.generators.overlap.generator import OverlapGenerator

__all__ = ["Conditions", "Denoiser", "OverlapGenerator"]
