"""The rules that write drafts; each module covers a few phenomena."""
