"""The ``amrlib`` parser: sequence-to-sequence models that amrlib's users trained and released.

torch, transformers and amrlib are imported when a parser is made.
"""

from graphneg.parsers.amrlib.parser import AmrlibParser

__all__ = ["AmrlibParser"]
