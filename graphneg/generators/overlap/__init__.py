"""Retrieve sentences that share words with a context but are about a different situation.

The package contains the generators ``overlap`` and ``hard``.
"""

from __future__ import annotations

from graphneg.generators.overlap.generator import Denoiser, OverlapGenerator
from graphneg.generators.overlap.target_profile import OverlapOptions

__all__ = ["Denoiser", "OverlapGenerator", "OverlapOptions"]
