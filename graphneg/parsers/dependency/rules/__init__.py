"""The rules that write drafts: one module a phenomenon."""

from graphneg.parsers.dependency.rules.writer import write_draft, write_word

__all__ = ["write_draft", "write_word"]
