"""The rules that write drafts, a few phenomena a module."""
