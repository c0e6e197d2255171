"""The ``dependency`` parser: spaCy's dependencies to AMR by rules, tables and small learned parts."""

from __future__ import annotations

from graphneg.parsers.dependency.draft import Draft, DraftArc, DraftNode
from graphneg.parsers.dependency.parser import DependencyParser

__all__ = ["DependencyParser", "Draft", "DraftArc", "DraftNode"]
