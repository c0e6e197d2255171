"""The rules that write drafts: one module a phenomenon."""

from graphneg.parsers.dependency.rules.writer import write_draft

__all__ = ["write_draft"]
